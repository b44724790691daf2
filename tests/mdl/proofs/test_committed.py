"""The committed certificates prove what the committed verdicts say."""

import json
from pathlib import Path

import pytest

from humboldt.languages.bliss import get
from humboldt.mdl import published_networks
from humboldt.mdl.proofs import check, read_certificate

from .mutants import FOLDER, load, step_slow

VERDICTS = json.loads((FOLDER / "proofs" / "verdicts.json").read_text())
UNSEEN = FOLDER / "unseen"


def test_every_certificate_belongs_to_a_verdict():
    named = {row["certificate"] for row in VERDICTS if row["verdict"] == "Proved"}
    assert named == {path.name for path in (FOLDER / "proofs").glob("*.json")} - {"verdicts.json"}
    assert len(named) >= 30


@pytest.mark.parametrize(
    "row", [row for row in VERDICTS if row["verdict"] == "Proved"], ids=lambda row: row["certificate"]
)
def test_a_committed_certificate_is_valid(row: dict):
    network = load(row["network"].removeprefix("published/"))
    claim = check(read_certificate(FOLDER / "proofs" / row["certificate"]), network)
    assert claim["language"] == f"bliss/{row['task']}"
    assert claim["measure"] == row["measure"]
    assert claim["epsilon"] == {"0": "0", "0.005": "1/200"}[row["epsilon"]]


@pytest.mark.parametrize(
    "row",
    [r for r in VERDICTS if r["verdict"] == "Refuted"],
    ids=lambda r: f"{r['network']}.{r['measure']}_{r['epsilon']}",
)
def test_a_committed_mistake_is_one_in_floats_too(row: dict):
    language, network = get(row["task"]), load(row["network"])
    assert language.accepts(row["string"])
    assert ("#" + row["string"]).startswith(row["prefix"])
    assert set(row["follow"]) == language.valid_next(row["prefix"])
    values, chances = None, [0.0]
    for symbol in row["prefix"]:
        values, chances = step_slow(network, values, network.symbol_id(symbol))
    assert list(row["says"].values()) == pytest.approx(chances)
    right = [symbol in row["follow"] for symbol in network.symbols]
    if row["measure"] == "M_det":
        assert max(x for x, follows in zip(chances, right, strict=True) if not follows) >= chances[right.index(True)]
    else:
        assert [x > float(row["epsilon"]) for x in chances] != right


def test_every_committed_network_has_a_verdict_by_each_measure():
    files = [path for path in FOLDER.rglob("*.json") if path.read_text().startswith('{\n  "symbols"')]
    files = [path for path in files if "unseen" not in path.parts]
    names = {str(path.relative_to(FOLDER).with_suffix("")) for path in files if "dyck_2" not in path.name}
    names |= {f"published/{name}" for name in published_networks()}
    assert len(names) >= 25
    claims = {name: [] for name in names}
    for row in VERDICTS:
        claims[row["network"]].append((row["measure"], row["epsilon"]))
    for name, own in claims.items():
        assert own == [("M_det", "0")] * ("dyck_1" not in name) + [("M_cat", "0"), ("M_cat", "0.005")]
    unseen = json.loads((UNSEEN / "verdicts.json").read_text())
    assert set(unseen) == {path.stem for path in UNSEEN.glob("*_seed_???.json")}
    assert max(row["prove_cpu_seconds"] for row in unseen.values()) < 5


def test_each_verdict_took_less_than_five_seconds():
    assert max(row["cpu_seconds"] for row in VERDICTS) < 5
    assert not [row for row in VERDICTS if row["verdict"] == "Unknown"]


@pytest.mark.parametrize("path", sorted(UNSEEN.glob("*.certificate.json")), ids=lambda path: path.name)
def test_a_certificate_of_the_new_searches_is_valid(path: Path):
    claim = check(read_certificate(path), load(f"unseen/{path.name.removesuffix('.certificate.json')}"))
    assert claim["measure"] == "M_det"
