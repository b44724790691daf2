"""Writes reference results of the bench."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from humboldt import references
from humboldt.core.results import Scores, end_of_training
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.running.budgets import size_of_settings
from humboldt.settings import from_json
from humboldt.storage.exports import exported, place, scores_of, union
from humboldt.storage.store import as_written
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.answers import ModelAnswers
from humboldt.suites.bench import BUDGETS, PREFIX

TOLERANCE = 0.1  # of the budget of parameters
LEFT_OUT = ("training", "accuracy_per_length", "outputs", "score", "scores", "exceptions", "in_the_end")  # of details


def as_references(results: Sequence[Scores]) -> dict[str, list[Mapping[str, Any]]]:
    """Returns results as lines of references, by suite: exported members without curves, outputs and breakdowns."""
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for scores in results:
        suite = suites.get(scores.training.suite)
        entry = exported(scores, format=suite.format, headline=suite.headline)
        for line, result in zip(entry["results"], scores.results, strict=True):
            ends = {key: float(f"{value:.6g}") for key, value in end_of_training(result).items()}
            detail = {key: value for key, value in line.get("detail", {}).items() if key not in LEFT_OUT}
            line["detail"] = detail | ({"end": ends} if "training" in result.detail else {})
        lines.setdefault(suite.name, []).append(entry)
    return lines


def missing_tasks(answers: ModelAnswers) -> list[str]:
    """Returns the tasks of the suite that are missing in a model's answers, or some of whose evaluations are. A mean
    over tasks needs all of them."""
    suite = suites.get(answers.suite)
    preset = catalogue.preset(suite, answers.preset)
    known = {(scores.training.task, scores.evaluation.name) for scores in answers.scores}
    missing = []
    for task in preset.tasks or ():
        first, *_ = plans.trainings(suite, task, answers.model, preset, {})
        if not {(task, evaluation.name) for evaluation in suite.evaluations(first.protocol, task)} <= known:
            missing.append(task)
    return missing


def check_size(scores: Scores, preset: str) -> None:
    """Raises a usage error if the network of a result is not within 10% of the budget of a bench preset."""
    model, budget = scores.training.model, BUDGETS[preset]
    body = size_of_settings(from_json(models.get(model), scores.training.setting["model"])).body
    if abs(body - budget) > TOLERANCE * budget:
        command = f"humboldt bench {model.rpartition('/')[2]} --preset {preset.removeprefix(PREFIX)}"
        raise UsageError(
            f"{scores.training.suite}/{scores.training.task}: {model} has {body:,} parameters in its body, and "
            f"references have {budget:,}, within {TOLERANCE:.0%}. Train it with `{command}`, which "
            "chooses the size."
        )


def add_references(results: Sequence[Scores], folder: Path) -> list[Path]:
    """Adds results to the references in a folder. A training that is there already gets the union of its members."""
    known: dict[str, dict[tuple[str, str], Any]] = {}
    for where, entry in references.entries(folder):
        scores_of(entry, as_written, where)  # raises if it is damaged
        known.setdefault(entry["training"]["suite"], {})[place(entry)] = entry
    for suite, lines in as_references(results).items():
        for line in lines:
            of_suite = known.setdefault(suite, {})
            before = of_suite.get(place(line))
            of_suite[place(line)] = line if before is None else union(before, line)
    return [
        references.write(folder, suite, [of_suite[place] for place in sorted(of_suite)])
        for suite, of_suite in known.items()
    ]
