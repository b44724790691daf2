"""One model on all suites that fit it, under one recipe, among the references: `humboldt.bench`.

It runs the same trainings as `humboldt.run` with the presets `bench_quick` and `bench_standard`, and keeps them in the
same store.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from humboldt.arguments import checked_arguments, folder, function, mapping, optional, text, texts, whole
from humboldt.errors import UsageError, unknown_name
from humboldt.models import models as jax_models
from humboldt.models.own import is_reference, known_name
from humboldt.plugins import load_installed
from humboldt.report.tables import as_text
from humboldt.running.budgets import size_for, size_of_settings
from humboldt.running.execution import AbstractExecutor, Keep
from humboldt.running.run import RUN_ARGUMENTS, run_study
from humboldt.running.study import Study, plan
from humboldt.suites import catalogue, plans, profile, resolving, suites
from humboldt.suites.answers import SELECTION_SEEDS, ModelAnswers, ModelCost
from humboldt.suites.bench import BUDGETS, PREFIX
from humboldt.suites.benched import (
    FAMILY,
    REPORTED,
    answers_of,
    benched_suites,
    families,
    model_title,
    reference_scores,
)
from humboldt.suites.experiments import Request
from humboldt.suites.reading import reported


@dataclass(frozen=True)
class Bench:
    """The studies of some models, one for each suite, and their answers."""

    models: tuple[str, ...]
    preset: str
    studies: tuple[Study, ...]
    out: Path
    left_out: Mapping[str, str]  # suites that do not fit, with the reason

    def answers(self) -> list[ModelAnswers]:
        """Returns the stored answers of the models, suite by suite."""
        found = []
        for study in self.studies:
            found += study_answers(study, self.preset)
        return found

    def table(self) -> str:
        """Returns the answers, and how they compare with the references, as text."""
        return as_text(profile.tables(self.answers(), self.references(), model_title, self.costs()))

    def costs(self) -> list[ModelCost]:
        """Returns the cost of each model: its size, and the time that its stored results took."""
        seconds = dict.fromkeys(self.models, 0.0)
        for each in self.answers():
            seconds[each.model] += each.seconds
        return [self._cost(model, seconds[model]) for model in self.models]

    def _cost(self, model: str, seconds: float) -> ModelCost:
        first = next(
            experiment
            for study in self.studies
            for experiment in study.experiments
            if experiment.training.model == model
        )
        objects = resolving.resolved(first)
        if model in jax_models:
            size = size_of_settings(objects.model, with_products=True)
            known = {"state_floats": size.state_floats, "multiply_adds": size.multiply_adds}
            return ModelCost(model=model, parameters=size.body, **known, seconds=seconds)
        job = suites.get(first.training.suite).job(objects, first.members[:1])
        count = catalogue.engine_of(objects.contender).parameters(job)
        return ModelCost(model=model, parameters=count, counts_all=True, seconds=seconds)

    def references(self) -> list[ModelAnswers]:
        """Returns the answers of the references to the same suites, and reported ones. A study with
        changed settings has no references."""
        same = [study.suite.name for study in self.studies if not study.request.settings]
        if not same:
            return []
        theirs = answers_of(reported(self.out), self.preset, suite_names=same, source=REPORTED)
        return [*answers_of(reference_scores(), self.preset, suite_names=same), *theirs]

    @property
    def suite_names(self) -> tuple[str, ...]:
        """The names of the suites, in the order in which they run."""
        return tuple(study.suite.name for study in self.studies)


@checked_arguments(
    models=texts,
    preset=text,
    suites=texts,
    seeds=optional(whole(1)),
    parameters=optional(whole(1)),
    settings=optional(mapping),
    out=folder,
)
def plan_bench(
    models: str | Sequence[str],
    *,
    preset: str = "quick",
    suites: str | Sequence[str] = (),
    seeds: int | None = None,
    parameters: int | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    out: str | Path = "results",
) -> Bench:
    """Plans a bench; see `bench`. `settings` are changes for single suites: `{"chomsky": {"steps": 100}}`."""
    load_installed()
    names = tuple(models)
    if not names:
        raise UsageError("No model was named. Name one, e.g. `lstm` or `my_file.py:MyGRU`.")
    known = benched_suites()
    for name in (*suites, *(settings or {})):
        if name not in known:
            raise unknown_name("suite of the bench", name, known)
    full = full_preset(preset)
    registered = tuple(dict.fromkeys(map(model_name, names)))
    sizes = {name: size_for(name, parameters or BUDGETS[full]) for name in registered if name.startswith(FAMILY)}
    planned, left_out = [], {}
    for name in [suite for suite in known if not suites or suite in suites]:
        reasons = {model: misfit(name, model, full, sizes.get(model)) for model in registered}
        left_out |= {f"{name}, {model}": reason for model, reason in reasons.items() if reason}
        fitting = [model for model in registered if not reasons[model]]
        if fitting:
            study = _plan(name, fitting, full, seeds, (settings or {}).get(name, {}), sizes, out)
            planned.append(study)
    if not planned:
        raise UsageError(f"No suite fits {', '.join(names)}. `humboldt check model` says why.")
    return Bench(registered, full, tuple(planned), Path(out), left_out)


def full_preset(preset: str) -> str:
    """Returns the name of a bench preset as suites have it; it may be given without its beginning."""
    full = preset if preset.startswith(PREFIX) else f"{PREFIX}{preset}"
    if full not in BUDGETS:
        raise unknown_name("bench preset", preset, [name.removeprefix(PREFIX) for name in BUDGETS])
    return full


def _plan(
    name: str,
    models: Sequence[str],
    preset: str,
    seeds: int | None,
    changes: Mapping[str, Any],
    sizes: Mapping[str, Mapping[str, Any]],
    out: str | Path,
) -> Study:
    """Plans the study of one suite. Where a learning rate is chosen, there are further seeds to choose it by; a rate
    changes which rule is preferred, so none is chosen for preferences."""
    suite = suites.get(name)
    rates = catalogue.preset(suite, preset).changes.get("learning_rates", ())
    if seeds is not None and len(rates) > 1 and not suite.asks_preferences:
        seeds += SELECTION_SEEDS
    study = plan(name, models=models, preset=preset, seeds=seeds, settings=changes, out=out)
    request = replace(study.request, of_models=sizes)
    resized = Study(suite, request, tuple(plans.plan(suite, request)), Path(out))
    resized.check_abilities()
    return resized


@checked_arguments(models=texts, answered=optional(function), **RUN_ARGUMENTS)
def bench(
    models: str | Sequence[str],
    *,
    progress: Callable[..., None] | bool = True,
    save_every: float = 30.0,
    keep: Keep = "best",
    executor: AbstractExecutor | None = None,
    announces: bool = False,
    answered: Callable[[ModelAnswers, float], None] | None = None,
    **options: Any,
) -> Bench:
    """Trains and scores models on every suite that fits, and returns the bench. Stored results are not computed again.

    **Arguments:**

    - `models`: names of families (`lstm`), of registered models, or of your own (`my_file.py:MyGRU`).
    - `preset`: `quick` or `standard`. `suites`: names; all that fit if there are none.
    - `seeds`: the number of reported seeds. `parameters`: the budget for the body of a family's network.
    - `out`: the folder of the results. `settings`: changes for single suites: `{"chomsky": {"steps": 100}}`.
    - `answered`: called with each model's answer to a suite as soon as it is known, and with the seconds it took.
    - `progress`, `save_every`, `keep`, `executor`: as in `humboldt.run`.

    ```
    bench = humboldt.bench("lstm", preset="quick", out="results")
    print(bench.table())
    ```
    """
    run_options = {"save_every": save_every, "keep": keep, "executor": executor, "announces": announces}
    return run_bench(plan_bench(models, **options), progress=progress, answered=answered, **run_options)


def run_bench(
    planned: Bench, *, answered: Callable[[ModelAnswers, float], None] | None = None, **options: Any
) -> Bench:
    """Runs the missing work of a bench; see `bench`. Options are those of `run_study`."""
    for study in planned.studies:
        begun = time.monotonic()
        run_study(study, **options)
        if answered is not None:
            for answers in study_answers(study, planned.preset):
                answered(answers, time.monotonic() - begun)
    return planned


def model_name(name: str) -> str:
    """Returns the registered name of a model: that of a family, if there is one of this name."""
    if known_name(name) != name or is_reference(name):
        return known_name(name)
    if f"{FAMILY}{name}" in jax_models:
        return f"{FAMILY}{name}"
    if any(name in catalogue.models(suites.get(suite)) for suite in benched_suites()):
        return name
    raise unknown_name("model", name, families())


def misfit(suite: str, model: str, preset: str, size: Mapping[str, Any] | None = None) -> str:
    """Returns why a model is left out of a suite; empty if it fits.

    A family of this size may be refused by the plan, e.g. because its memory of a test string is too large.
    """
    if model not in catalogue.models(suites.get(suite)):
        return "the model does not accept problems of this kind"
    if model.startswith(FAMILY):
        try:
            plans.plan(suites.get(suite), Request(models=(model,), preset=preset, of_models={model: size or {}}))
        except UsageError as error:
            return str(error).rstrip(".")
    return ""


def study_answers(study: Study, preset: str) -> list[ModelAnswers]:
    """Returns the answers of each model in a study, from what is stored."""
    answers, answered = study.suite.presentation.answers, []
    assert answers is not None, "a suite of the bench"
    results = study.scores()
    for model in dict.fromkeys(experiment.training.model for experiment in study.experiments):
        of_model = [scores for scores in results if scores.training.model == model]
        if of_model:
            answered.append(ModelAnswers(study.suite.name, model, preset, tuple(answers(of_model)), tuple(of_model)))
    return answered
