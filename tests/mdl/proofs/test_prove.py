"""Verdicts on the committed networks, and on random changes of right ones."""

import time
from fractions import Fraction

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.bliss import Measure, get
from humboldt.mdl.proofs import Proved, Refuted, Unknown, check, prove
from humboldt.mdl.proofs.described import described
from humboldt.mdl.proofs.network import Edge, Network, Unit, Weight
from humboldt.mdl.proofs.reals import Undecided
from humboldt.mdl.proofs.refute import Bound, Reader

from .mutants import FOLDER, RIGHT, load, mutant, step_slow

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
    assert committed - known == {"results", "authors", "dyck_2_1000_paper_seed_100", "dyck_2_100_paper_seed_100"}


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


SIZES = {"an_bn": 300, "an_bn_cn": 60, "an_bn_cn_dn": 60, "an_bm_cn_plus_m": 40, "dyck_1": 16}  # all strings
SAMPLES = {  # single strings beyond, by the lengths of their free blocks
    "an_bn_cn": [(75,), (100,), (150,), (211,), (300,)],
    "an_bn_cn_dn": [(75,), (100,), (150,), (211,), (300,)],
    "an_bm_cn_plus_m": [(1, 119), (119, 1), (60, 60), (40, 5), (5, 60), (30, 80)],
}
QUICK_SIZES = {"an_bn": 40, "an_bn_cn": 20, "an_bn_cn_dn": 15, "an_bm_cn_plus_m": 16, "dyck_1": 16}


def examine(language: str, count: int, seed: int, sizes: dict[str, int], samples: list[tuple[int, ...]]):
    """Holds verdicts on mutants to simulation; returns how many are right as far as it goes, and how many unknown."""
    rng = np.random.default_rng(seed)
    right = unknown = 0
    for index in range(count):
        network = mutant(load(RIGHT[language][index % len(RIGHT[language])]), rng)
        measure = Measure.CATEGORICAL.value if language == "dyck_1" or index % 3 == 0 else Measure.DETERMINISTIC.value
        epsilon = ("0", "0.005")[index % 2]
        verdict = prove(network, language, measure, epsilon)
        reader = Reader(network, described(language), measure, Fraction(epsilon))
        try:
            mistake = reader.shortest_mistake(Bound(sizes[language], 10**9))
            if mistake is not None:  # then it is the verdict too, down to the string and what is said there
                assert isinstance(verdict, Refuted), network.to_json()
                assert verdict.mistake == mistake, network.to_json()
                continue
            assert not isinstance(verdict, Refuted) or get(language).size(verdict.mistake.string) > sizes[language]
            if any(reader.read(free) for free in samples):
                assert not isinstance(verdict, Proved), network.to_json()
                continue
        except Undecided:  # numbers too close to tell apart, or too long
            continue
        right += 1
        unknown += isinstance(verdict, Unknown)
    return right, unknown


@pytest.mark.parametrize("language", RIGHT)
def test_some_mutants_are_never_proved_when_wrong(language: str):
    right, unknown = examine(language, 24, 7, QUICK_SIZES, [])
    assert right >= 2
    assert unknown <= 0.2 * right


@pytest.mark.slow
@pytest.mark.parametrize("language", RIGHT)
def test_thousands_of_mutants_are_never_proved_when_wrong(language: str):
    right, unknown = examine(language, 800, 11, SIZES, SAMPLES.get(language, []))
    print(f"{language}: {right} right as far as simulated, {unknown} of them unknown")
    assert right >= 40
    assert unknown <= 0.2 * right
