"""Consistency: by hand, for models with known faults, and for the authors' own outputs."""

import csv
import gzip

import pytest
from pcfg_set_support import dislikes_synonyms, oracle, released

from humboldt.languages.pcfg_set import CorpusSettings, corpus, equally_distributed, primitive
from humboldt.measures.pcfg_set import Share, consistency


def test_by_hand():
    targets = ["A", "A", "A", "A", "A", "A"]
    outputs = ["A", "B", "A", "B", "", ""]
    twins = ["A", "B", "B", "C", "", "A"]
    score = consistency(targets, outputs, twins, by={"function": ["f", "f", "f", "g", "g", "g"]})
    assert score.flags == (True, True, False, False, True, False)
    assert score.share == Share(3, 6)
    assert score.parts == {
        "consistent_correct": Share(1, 6),
        "consistent_incorrect": Share(2, 6),
        "consistency_of_incorrect": Share(2, 5),
        "accuracy": Share(2, 6),
        "twin_accuracy": Share(2, 6),
    }
    assert score.breakdowns["function"] == {"f": Share(2, 3), "g": Share(1, 3)}


@pytest.mark.parametrize("condition", [equally_distributed, primitive])
def test_a_perfect_model_and_one_that_treats_synonyms_differently(condition):
    data = condition(corpus(3, CorpusSettings(size=2_000)))
    outputs = oracle(list(data.test.sources))
    perfect = consistency(data.test.targets, outputs, oracle(list(data.synonyms.sources)), by={"f": data.functions})
    assert perfect.value == 1 and perfect.n == len(data.test) > 100
    assert perfect.parts["consistent_correct"].value == 1
    assert perfect.parts["consistency_of_incorrect"] == Share(0, 0)
    # It says nothing wherever a synonym stands; right outputs are never empty, so no pair is consistent.
    faulty = consistency(data.test.targets, outputs, dislikes_synonyms(list(data.synonyms.sources)))
    assert faulty.value == 0 and faulty.parts["accuracy"].value == 1 and faulty.parts["twin_accuracy"].value == 0
    # One that says nothing at all is consistent, and never right.
    silent = consistency(data.test.targets, [""] * len(data.test), [""] * len(data.test))
    assert silent.value == 1 and silent.parts["consistent_incorrect"].value == 1


@pytest.mark.parametrize(
    ("name", "table_5"),
    [("transformer_primitive", (0.84, 0.05, 0.34)), ("lstms2s_equally_distributed", None)],
)
def test_the_authors_outputs(name, table_5):
    rows, twins = (_read(f"predictions/{name}{ending}.tsv.gz") for ending in ("", "_synonym"))
    score = consistency([row[1] for row in rows], [row[2] for row in rows], [row[2] for row in twins])
    expected = {
        row["file"].split(".")[0]: row
        for row in csv.DictReader(released("predictions/expected.csv").read_text().splitlines())
    }
    # A plain count, apart from everything above.
    counts = {"same": 0, "right": 0, "same_wrong": 0, "wrong": 0}
    for (_, target, output), (_, _, twin) in zip(rows, twins, strict=True):
        counts["same"] += output == twin
        counts["right"] += output == twin == target
        counts["same_wrong"] += output == twin != target
        counts["wrong"] += output != target or twin != target
    assert score.share == Share(counts["same"], 10_000)
    assert score.value == pytest.approx(float(expected[name]["value"]), abs=5e-7)
    assert score.parts["consistent_correct"].count == counts["right"]
    assert score.parts["consistent_incorrect"].count == counts["same_wrong"]
    assert score.parts["consistency_of_incorrect"] == Share(counts["same_wrong"], counts["wrong"])
    if table_5:
        parts = ("consistent_correct", "consistent_incorrect", "consistency_of_incorrect")
        printed = [score.parts[part].value for part in parts]
        assert printed == pytest.approx(table_5, abs=0.01)  # run 1 of the three that the paper averages


def _read(name: str) -> list[list[str]]:
    with gzip.open(released(name), "rt") as file:
        return [line.rstrip("\n").split("\t") for line in file][1:]
