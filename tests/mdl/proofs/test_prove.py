"""Verdicts on the committed networks, and on random changes of right ones."""

import json
import time
from fractions import Fraction

import pytest

from humboldt.errors import UsageError
from humboldt.languages.bliss import get
from humboldt.mdl.proofs import Proved, Refuted, Unknown, check, prove
from humboldt.mdl.proofs.described import described
from humboldt.mdl.proofs.network import Edge, Network, Unit, Weight
from humboldt.mdl.proofs.refute import Reader

from .examination import COUNT, QUICK_SIZES, SAMPLES, SEED, SIZES, examine
from .mutants import FOLDER, RIGHT, load, step_slow

RECORD = json.loads((FOLDER / "mutants.json").read_text())

WRONG = {  # the size of the first string that is wrong: n, or n + m
    "an_bn_cn_100_paper_seed_101": ("an_bn_cn", 15),
    "an_bn_cn_100_wide_seed_11": ("an_bn_cn", 15),
    "an_bn_cn_dn_100_wide_seed_1": ("an_bn_cn_dn", 16),
    "an_bn_cn_dn_100_paper_seed_101": ("an_bn_cn_dn", 20),
    "an_bn_cn_dn_100_paper_seed_100": ("an_bn_cn_dn", 27),
    "an_bm_cn_plus_m_100_paper_seed_100": ("an_bm_cn_plus_m", 23),
}
SECONDS = 5


@pytest.mark.parametrize("name", [name for names in RIGHT.values() for name in names])
def test_the_right_networks_are_proved(name: str):
    language = next(language for language, names in RIGHT.items() if name in names)
    begun = time.process_time()
    verdict = prove(load(name), language)
    assert time.process_time() - begun < SECONDS
    assert isinstance(verdict, Proved)
    claim = check(verdict.certificate, load(name))
    assert (claim["language"], claim["measure"]) == (f"bliss/{language}", get(language).measure.value)


@pytest.mark.parametrize("name", WRONG)
def test_the_wrong_networks_are_refuted_with_their_first_string(name: str):
    task, size = WRONG[name]
    language, network = get(task), load(name)
    begun = time.process_time()
    verdict = prove(network, task)
    assert time.process_time() - begun < SECONDS
    assert isinstance(verdict, Refuted)
    assert language.accepts(verdict.mistake.string)
    assert language.size(verdict.mistake.string) == size
    assert verdict.mistake.follow == tuple(sorted(language.valid_next(verdict.mistake.prefix)))
    values, chances = None, [0.0]
    for symbol in verdict.mistake.prefix:
        values, chances = step_slow(network, values, network.symbol_id(symbol))
    assert list(verdict.mistake.says.values()) == pytest.approx(chances)


def test_every_committed_network_of_a_described_language_is_known_here():
    known = {name for names in RIGHT.values() for name in names} | set(WRONG)
    committed = {str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.glob("*.json")}
    committed |= {str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.glob("hand_built/*.json")}
    records = {"results", "authors", "mutants", "table_2"}
    assert committed - known - records == {"dyck_2_1000_paper_seed_100", "dyck_2_100_paper_seed_100"}


def test_a_margin_is_decided_where_a_thousand_strings_do_not():
    # Its closing bracket has weight d, its opening one 1/2: 1/2 / (d + 1/2) falls below 0.005 at a depth of 100.
    network = load("dyck_1_100_paper_seed_100")
    assert isinstance(prove(network, "dyck_1", epsilon=0), Proved)
    verdict = prove(network, "dyck_1", epsilon=0.005)
    assert isinstance(verdict, Refuted)
    assert verdict.mistake.string == "(" * 100 + ")" * 100
    assert verdict.mistake.says["("] == pytest.approx(0.5 / 100.5)


def test_m_det_at_a_margin_allows_a_share_of_the_steps_of_a_string():
    # It never says `#`: one mistake in each string, of n deterministic steps.
    network = load("an_bn_figure_4")
    edges = tuple(edge for edge in network.edges if edge.target != 3)
    deaf = Network(network.symbols, network.units, edges)
    verdict = prove(deaf, "an_bn", "M_det", 0.9)
    assert isinstance(verdict, Refuted)
    assert verdict.mistake.string == "ab"  # whose one deterministic step is wrong
    assert Reader(deaf, described("an_bn"), "M_det", Fraction("0.5")).read((1,)) is not None
    assert Reader(deaf, described("an_bn"), "M_det", Fraction("0.5")).read((2,)) is None
    assert Reader(deaf, described("an_bn"), "M_det", Fraction("0.49")).read((2,)) is not None


def test_a_unit_that_leaves_the_class_is_named():
    # Right, but a unit of period 2 takes from the preferred output what bounds alone would let it take.
    units = (*[Unit()] * 3, Unit(), Unit(bias=Weight(1, 1, 1)), Unit("tanh"), Unit("relu"), Unit("modulo_2"))
    edges = [
        Edge(2, 3, Weight(1, 1, 255)),
        Edge(2, 4, Weight(-1, 1, 1)),
        Edge(6, 5, Weight(1, 3, 1)),
        Edge(1, 6, Weight(1, 1, 1)),
        Edge(2, 6, Weight(-1, 1, 1)),
        Edge(6, 6, Weight(1, 1, 1), recurrent=True),
        Edge(0, 7, Weight(1, 1, 3)),
        Edge(7, 7, Weight(1, 2, 1), recurrent=True),
        Edge(7, 5, Weight(-1, 9, 5)),  # it never gets above 4/3, which only its form in n would show
    ]
    network = Network(("#", "a", "b"), units, tuple(edges))
    verdict = prove(network, "an_bn")
    assert isinstance(verdict, Unknown)
    assert (verdict.unit, verdict.block) == ("hidden 7", "a")
    assert verdict.examined >= 100
    assert "hidden 7" in str(verdict)


def test_wrong_requests_are_refused():
    network = load("an_bn_figure_4")
    with pytest.raises(UsageError, match="language with proofs named 'dyck_2'"):
        prove(network, "dyck_2")
    with pytest.raises(UsageError, match="4 "):
        prove(network, "an_bn_cn")
    with pytest.raises(UsageError, match="no deterministic steps"):
        prove(load("dyck_1"), "dyck_1", "M_det")
    with pytest.raises(UsageError, match=r"not in \[0, 1\)"):
        prove(network, "an_bn", epsilon=1)


@pytest.mark.parametrize("language", RIGHT)
def test_some_mutants_are_never_proved_when_wrong(language: str):
    counts = examine(language, 24, 7, QUICK_SIZES, [])
    assert counts["right"] >= 2
    assert counts["unknown"] <= 0.2 * counts["right"]


@pytest.mark.slow
@pytest.mark.parametrize("language", RIGHT)
def test_thousands_of_mutants_are_never_proved_when_wrong(language: str):
    counts = examine(language, COUNT, SEED, SIZES, SAMPLES.get(language, []))
    assert counts["right"] >= 40
    assert counts["unknown"] <= 0.2 * counts["right"]
    assert counts == RECORD["counts"][language]  # the record is that of this code


def test_the_record_of_thousands_of_mutants_says_what_is_asked_of_it():
    assert set(RECORD["counts"]) == set(RIGHT)
    assert (RECORD["seed"], RECORD["sizes"]) == (SEED, SIZES)
    page = (FOLDER.parents[2] / "docs" / "proofs.md").read_text()
    for name in ("mutants", "wrong", "right", "unknown"):
        assert f"{sum(counts[name] for counts in RECORD['counts'].values()):,} " in page
    assert sum(counts["mutants"] for counts in RECORD["counts"].values()) >= 2000
    for counts in RECORD["counts"].values():
        assert counts["right"] >= 40
        assert counts["unknown"] <= 0.2 * counts["right"]
        assert counts["right"] + counts["wrong"] + counts["undecided"] == counts["mutants"]
