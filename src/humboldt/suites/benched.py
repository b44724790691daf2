"""The suites, families and results of the bench: answers of models are found by identity in any results."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from humboldt import references
from humboldt.core.identity import canonical
from humboldt.core.results import Scores
from humboldt.models import models as jax_models
from humboldt.storage.exports import scores_of
from humboldt.suites import catalogue, plans, resolving, suites
from humboldt.suites.answers import ModelAnswers
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bench import QUICK
from humboldt.suites.reading import upgrade

FAMILY = "family/"
REPORTED = "reported, not re-run"


@cache
def reference_scores() -> tuple[Scores, ...]:
    """Returns the results of all references that ship, in today's names."""
    return tuple(scores_of(entry, upgrade, where) for where, entry in references.entries())


def model_title(name: str) -> str:
    """Returns the title of a model as tables show it."""
    return getattr(jax_models.get(name), "title", name) if name in jax_models else name


def families() -> list[str]:
    """Returns the names of all families."""
    return [name.removeprefix(FAMILY) for name in jax_models.names(FAMILY)]


def benched_suites() -> list[str]:
    """Returns the names of the suites that answer a bench, sorted by `bench_position`: the quickest first."""
    benched = [
        suite for suite in map(suites.get, suites.names()) if suite.presentation.answers and QUICK in suite.presets
    ]
    return [suite.name for suite in sorted(benched, key=lambda suite: suite.bench_position)]


def answers_of(
    results: Sequence[Scores],
    preset: str,
    *,
    models: Sequence[str] = (),
    suite_names: Sequence[str] = (),
    source: str = "",
) -> list[ModelAnswers]:
    """Returns the answers in some results under a bench preset, for each suite and model.

    Only results with the settings of the preset and of the current versions count: they are found by identity. The
    sizes of models may differ.
    """
    answers = []
    for name in suite_names or benched_suites():
        suite = suites.get(name)
        of_suite = [scores for scores in results if scores.training.suite == name]
        named = dict.fromkeys(scores.training.model for scores in of_suite)
        for model in [model for model in models or named if model in named]:
            fitting = _under_preset(suite, model, preset, of_suite)
            if fitting and suite.presentation.answers is not None:
                tasks = tuple(suite.presentation.answers(fitting))
                answers.append(ModelAnswers(name, model, preset, tasks, tuple(fitting), source))
    return answers


def _under_preset(suite: AbstractSuite, model: str, preset: str, results: Sequence[Scores]) -> list[Scores]:
    """Returns the results of a model that have the settings of a bench preset, in the order of the preset."""
    if model not in catalogue.models(suite):
        return []
    chosen = catalogue.preset(suite, preset)
    expected = [
        canonical(_setting(resolved.training.setting, evaluation.name, evaluation.setting, task))
        for task in chosen.tasks or ()
        for resolved in plans.trainings(suite, task, model, chosen, {})
        for evaluation in suite.evaluations(resolved.protocol, task)
    ]
    places = {setting: place for place, setting in enumerate(expected)}
    fitting = []
    for scores in results:
        training, evaluation = scores.training, scores.evaluation
        if training.model != model or not resolving.is_current(suite, training, evaluation):
            continue
        setting = canonical(_setting(training.setting, evaluation.name, evaluation.setting, training.task))
        if setting in places:
            fitting.append((places[setting], scores))
    return [scores for _, scores in sorted(fitting, key=lambda pair: pair[0])]


def _setting(setting: Mapping[str, Any], evaluation: str, of_evaluation: Mapping[str, Any], task: str) -> list[Any]:
    """Returns everything that identifies a result, except its model."""
    of_all = {key: value for key, value in setting.items() if key != "model"}
    return [task, of_all, evaluation, dict(of_evaluation)]
