"""Results as rows: for each member, and for each point of a curve."""

import csv
import io
import json
from pathlib import Path

import pytest
from suite_support import TINY, result

import humboldt
from humboldt.core.results import Scores, State
from humboldt.errors import UsageError
from humboldt.report.tables import as_csv, write_records
from humboldt.suites.long_form import curve_rows, member_rows
from humboldt.suites.reading import chosen

CURVES = {
    "training": {"steps": [1, 2], "loss": [0.5, 0.25], "accuracy": [0.1, None]},
    "accuracy_per_length": {"lengths": [7, 8, 9], "accuracy": {"in": [1.0, 0.5, 0.25], "out": [0.0, 0.0, 0.0]}},
    "network": {"nodes": [1, 2]},
    "remark": "nothing",
}


@pytest.fixture
def results(tmp_path: Path) -> list[Scores]:
    tasks = ["parity_check", "even_pairs"]
    study = humboldt.plan("chomsky", tasks=tasks, models="rnn", seeds=2, settings=TINY, out=tmp_path)
    members = [
        result({"seed": 0, "learning_rate": 0.1}, {"score": 0.5}, detail=CURVES),
        result({"seed": 1, "learning_rate": 0.1}, state=State.DIVERGED),
    ]
    return [Scores(one.training, one.evaluations[0], tuple(members)) for one in study.experiments]


def test_a_row_for_each_member(results: list[Scores]):
    rows = member_rows(results)
    assert [(row["task"], row["seed"], row["state"], row["score"]) for row in rows] == [
        *(("even_pairs", 0, "finished", 0.5), ("even_pairs", 1, "diverged", None)),
        *(("parity_check", 0, "finished", 0.5), ("parity_check", 1, "diverged", None)),
    ]
    assert list(csv.DictReader(io.StringIO(as_csv(rows))))[1]["score"] == ""


def test_a_row_for_each_point_of_a_curve(results: list[Scores]):
    rows = [row for row in curve_rows(results) if row["task"] == "parity_check"]
    assert {json.loads(row["member"])["seed"] for row in rows} == {0}
    found: dict[str, list] = {}
    for row in rows:
        found.setdefault(row["curve"], []).append((row["x"], row["y"]))
    assert found == {
        "training.loss": [(1, 0.5), (2, 0.25)],
        "training.accuracy": [(1, 0.1), (2, None)],
        "accuracy_per_length.accuracy.in": [(7, 1.0), (8, 0.5), (9, 0.25)],
        "accuracy_per_length.accuracy.out": [(7, 0.0), (8, 0.0), (9, 0.0)],
    }


def test_results_of_a_task_a_model_and_a_preset(results: list[Scores]):
    assert [one.training.task for one in chosen(results, tasks=["parity_check"])] == ["parity_check"]
    assert len(chosen(results, models=["rnn"], preset="quick")) == 2 and chosen(results, preset="paper") == []
    with pytest.raises(UsageError, match=r"No task named 'parity'.*There are results of: even_pairs, parity_check"):
        chosen(results, tasks=["parity"])
    with pytest.raises(UsageError, match="No preset named 'papr'"):
        chosen(results, preset="papr")


def test_files_by_their_ending(results: list[Scores], tmp_path: Path):
    rows = curve_rows(results)
    write_records(tmp_path / "a.json", rows)
    assert json.loads((tmp_path / "a.json").read_text()) == rows
    write_records(tmp_path / "a.csv", rows)
    assert len(list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))) == len(rows)
    with pytest.raises(UsageError, match=r"use \.csv, \.json or \.parquet"):
        write_records(tmp_path / "a.xlsx", rows)
    parquet = pytest.importorskip("pyarrow.parquet")
    write_records(tmp_path / "a.parquet", rows)
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == rows
