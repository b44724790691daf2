"""Writes `bliss/members.jsonl`, whose searches were exported before `humboldt archive` existed.

python reproductions/members.py

From `bliss/mdlrnn/results.json` and `bliss/mdlrnn/table_2.json`: which training each entry is of is found by planning
its command again.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result, Scores, State
from humboldt.storage.exports import as_lines, exported
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.base import AbstractSuite

HERE = Path(__file__).parent


def training_of(suite: AbstractSuite, task: str, model: str, label: str) -> tuple[Training, Evaluation]:
    """The training that a heading (`paper, steps=10000`) and a place mean, and its evaluation."""
    preset, *parts = label.split(", ")
    changes: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        changes[key if equals else "distribution"] = value if equals else part
    (resolved,) = plans.trainings(suite, task, model, catalogue.preset(suite, preset), changes)
    return resolved.training, suite.evaluations(resolved.protocol, task)[0]


def searches() -> Iterator[dict[str, Any]]:
    """Searches for networks; each was exported by itself."""
    suite, folder = suites.get("bliss"), HERE / "bliss" / "mdlrnn"
    groups: dict[str, tuple[Training, Evaluation, list[Result]]] = {}
    for entry in json.loads((folder / "results.json").read_text(encoding="utf-8")):
        task = next(
            task for task in sorted(catalogue.tasks(suite), key=len, reverse=True) if entry["name"].startswith(task)
        )
        label = f"{entry['label']}, factors={entry['factor']}"
        training, evaluation = training_of(suite, task, "mdlrnn", label)
        assert {**training.versions, "measure": evaluation.version} == entry["versions"]
        network = json.loads((folder / f"{entry['name']}.json").read_text(encoding="utf-8"))
        known = entry["member"], State.FINISHED, entry["measures"], entry["seconds"], {"network": network}
        _, _, results = groups.setdefault(training.key, (training, evaluation, []))
        results.append(Result(*known, entry["environment"]))
    for search in json.loads((folder / "table_2.json").read_text(encoding="utf-8"))["searches"]:
        generations = search["search"]["generations"]
        label = (
            f"paper, factors={search['factor']}, generations={generations}, patience={generations}, keep_proved=true"
        )
        training, evaluation = training_of(suite, search["task"], "mdlrnn", label)
        member = {"penalty": "none", "seed": search["seed"], "strength": 0.0}
        _, _, results = groups.setdefault(training.key, (training, evaluation, []))
        known = member, State.FINISHED, search["measures"], search["seconds"], {}
        results.append(Result(*known, search["environment"]))
    for training, evaluation, results in groups.values():
        yield exported(Scores(training, evaluation, tuple(results)), format=suite.format, headline="largest_n")


def main() -> None:
    """Writes the file."""
    (HERE / "bliss" / "members.jsonl").write_text(as_lines(searches()), encoding="utf-8")


if __name__ == "__main__":
    main()
