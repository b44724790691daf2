"""Writes `members.jsonl` of the suites whose members were exported before `humboldt archive` existed.

python reproductions/members.py

From `chomsky/curves.json`, `syntax/curves.json`, `bliss/mdlrnn/results.json` and `bliss/mdlrnn/table_2.json`: which
training each entry is of is found by planning its command again. Tasks, models and measures had version 1 when the
first two were made.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
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


def curves(name: str) -> Iterator[dict[str, Any]]:
    """Entries of `curves.json`, whose scores are percent. The best member alone has details."""
    suite = suites.get(name)
    shortcuts = _shortcuts() if name == "syntax" else {}
    for entry in json.loads((HERE / name / "curves.json").read_text(encoding="utf-8")):
        training, evaluation = training_of(suite, entry["task"], entry["model"], entry["setting"])
        evaluation = replace(evaluation, version=1)
        training = replace(training, versions=dict.fromkeys(training.versions, 1))
        assert entry["states"] == {"finished": len(entry["scored"])}
        shared = shortcuts.get((entry["task"], training.setting.get("terminals", 0)), {})
        results = []
        for number, member in enumerate(entry["scored"]):
            measures = {measure: values[number] / 100 for measure, values in entry["scores"].items()}
            best = entry["best"] if member == entry["best"]["member"] else {}
            detail = {
                **{key: value for key, value in best.items() if key != "member"},
                **(shared if not number else {}),
            }
            seconds = entry["wall_seconds_all_members"] / len(entry["scored"])
            results.append(Result(member, State.FINISHED, measures, seconds, detail, entry["environment"]))
        scores = Scores(training, evaluation, tuple(results))
        yield exported(scores, format=suite.format, headline=next(iter(entry["scores"])))


def _shortcuts() -> Mapping[tuple[str, int], dict[str, Any]]:
    """Classifiers without structure, by task and terminals."""
    names = {"in_dist": "test", "out_of_dist": "long"}
    found = {}
    for entry in json.loads((HERE / "syntax" / "shortcuts.json").read_text(encoding="utf-8")):
        audit = {
            measure: {name: accuracy[split] / 100 for name, accuracy in entry["accuracy"].items()}
            for measure, split in names.items()
        }
        found[entry["task"], entry["terminals"]] = {"shortcuts": audit}
    return found


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
    """Writes the files."""
    for name in ("chomsky", "syntax"):
        (HERE / name / "members.jsonl").write_text(as_lines(curves(name)), encoding="utf-8")
    (HERE / "bliss" / "members.jsonl").write_text(as_lines(searches()), encoding="utf-8")


if __name__ == "__main__":
    main()
