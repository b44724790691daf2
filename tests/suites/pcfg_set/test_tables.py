"""Tables and records: members are averaged, the paper's values stand beside them, all from stored results."""

from typing import Any

import pytest
from suite_support import result, scores_of

from humboldt.results import Scores
from humboldt.suites import suites
from humboldt.suites.experiments import Request
from humboldt.suites.reading import records, tables

SUITE = suites.get("pcfg_set")


def stored(task: str, model: str, evaluation: str, *members: tuple[dict[str, float], dict[str, Any]]) -> Scores:
    """Results of the paper's setting; of exceptions, at the rate of Table 1."""
    experiments = SUITE.plan(Request((task,), (model,), "paper"))
    experiment = experiments[2] if task == "overgeneralisation" else experiments[0]
    chosen = next(one for one in experiment.evaluations if one.name == evaluation)
    found = [result({"seed": i}, measures, detail=detail) for i, (measures, detail) in enumerate(members)]
    return scores_of(experiment, found, chosen)


def accuracy(*values: float, pair: float = 0.25) -> list[tuple[dict[str, float], dict[str, Any]]]:
    shares = {"pair": {"swap repeat": {"value": pair, "n": 4}}, "num_functions": {"1": {"value": 1.0, "n": 2}}}
    detail = {"score": {"breakdowns": shares}, "cut_outputs": 1, "longer_targets": 2}
    measures = {"first_string": 0.06, "single_functions": 0.9, "stops_early": 0.5}
    return [({**measures, "sequence_accuracy": value}, detail) for value in values]


def epochs(*shares: float) -> dict[str, Any]:
    milestones = [{"epoch": i, "overgeneralised": {"all": s, "primitive": s / 2}} for i, s in enumerate(shares, 1)]
    return {"milestones": milestones, "in_the_end": {"overgeneralised": {"all": shares[-1]}, "memorised": {"all": 1.0}}}


FOUND = [
    stored("task_accuracy", "transformer", "accuracy", *accuracy(0.9, 0.92, 0.94)),
    stored("task_accuracy", "lstm_s2s", "accuracy", *accuracy(0.78, 0.8, 0.79)),
    stored("task_accuracy", "transformer", "localism", ({"consistency": 0.5, "first_string": 1.0}, {})),
    stored("systematicity", "transformer", "accuracy", *accuracy(0.7)),
    stored("productivity", "transformer", "accuracy", *accuracy(0.46)),
    stored(
        "substitutivity_primitive",
        "transformer",
        "substitutivity",
        (
            {
                **{"consistency": 0.9, "consistent_correct": 0.8, "consistency_of_incorrect": 0.3, "first_string": 1.0},
                **{"synonym_distance": 0.36, "other_distance": 0.77},
            },
            {},
        ),
    ),
    stored(
        "overgeneralisation",
        "transformer",
        "overgeneralisation",
        ({"overgeneralised": 0.1, "memorised": 0.9, "first_string": 0.0}, epochs(0.5, 0.8, 0.1)),
    ),
]


@pytest.fixture(scope="module")
def laid_out() -> dict[str, list[list[str]]]:
    return {table.title: [list(row) for row in table.rows] for table in tables(SUITE, FOUND)}


def test_table_1(laid_out: dict[str, list[list[str]]]):
    assert laid_out["pcfg_set, paper"] == [
        ["task_accuracy", "0.79 ± 0.01", "0.79", "0.92 ± 0.02", "0.92", "0.06"],
        ["systematicity", "–", "–", "0.70", "0.72", "0.06"],
        ["productivity", "–", "–", "0.46", "0.50", "0.06"],
        ["substitutivity_primitive", "–", "–", "0.90", "0.90", "1.00"],
        ["localism", "–", "–", "0.50", "0.54", "1.00"],
        ["overgeneralisation", "–", "–", "0.80", "0.88", "0.00"],  # the highest epoch, not the last
    ]


def test_what_stands_behind_it(laid_out: dict[str, list[list[str]]]):
    parts = {(row[0], row[1]): row[2:] for row in laid_out["pcfg_set, paper: parts"]}
    assert parts["substitutivity_primitive", "consistent correct"] == ["–", "–", "0.80", "0.84"]
    assert parts["substitutivity_primitive", "consistency of incorrect"] == ["–", "–", "0.30", "0.34"]
    assert parts["substitutivity_primitive", "cosine distance to the synonym"] == ["–", "–", "0.36", "0.37"]
    assert parts["substitutivity_primitive", "cosine distance to the other functions"] == ["–", "–", "0.77", "0.78"]
    assert parts["overgeneralisation", "primitive exceptions"] == ["–", "–", "0.40", "–"]
    assert parts["overgeneralisation", "memorised in the end"] == ["–", "–", "0.90", "–"]
    assert parts["task_accuracy", "items with one function"][0] == "0.90 ± 0.00"
    drop = parts["productivity", "relative drop from task accuracy"]
    assert drop == ["–", "–", "0.50", "0.46"]  # (0.92 - 0.46) / 0.92, and the paper's 46%


def test_table_2_and_significance(laid_out: dict[str, list[list[str]]]):
    rows = laid_out["pcfg_set, paper: systematicity by held-out pair"]
    assert rows[0] == ["swap repeat", "–", "–", "0.25", "0.53"] and rows[-1] == ["all", "–", "–", "0.70", "0.72"]
    assert laid_out["pcfg_set, paper: p of Welch's test"] == [["task_accuracy", "0.002"]]


def test_records_have_the_papers_numbers_beside_them():
    found = {(r.task, r.model, r.setting, r.measure, r.statistic): r for r in records(SUITE, FOUND)}
    mean = found["task_accuracy", "transformer", "paper", "sequence_accuracy", "mean"]
    assert (mean.value, mean.members, mean.published) == (pytest.approx(0.92), 3, 0.92)
    assert ("task_accuracy", "transformer", "paper", "sequence_accuracy", "std") in found
    assert found["localism", "transformer", "paper", "consistency", "mean"].published == 0.54
    peak = found["overgeneralisation", "transformer", "paper, rate=0.001", "overgeneralisation", "mean"]
    assert (peak.value, peak.published) == (0.8, 0.88)
    pair = found["systematicity", "transformer", "paper, pair=swap repeat", "sequence_accuracy", "mean"]
    assert (pair.value, pair.published) == (0.25, 0.53)
    part = found["substitutivity_primitive", "transformer", "paper", "consistency_of_incorrect", "mean"]
    assert (part.value, part.published) == (0.3, 0.34)


def test_notes_tell_of_cuts():
    notes = " ".join(tables(SUITE, FOUND)[0].notes)
    assert (
        "cut after 256 symbols. In the tests of accuracy 8 outputs of all members were cut, and 6 targets are" in notes
    )
    assert "greedy outputs (paper: beam search" in notes and "Means of 1 or 3 members" in notes
