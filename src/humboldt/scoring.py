"""Scoring anybody's model: `humboldt.score`. The test strings and the code are those that score our own members."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from humboldt.environment import environment
from humboldt.errors import UsageError, unknown_name
from humboldt.events import AbstractSink, Event, Silent
from humboldt.identity import Evaluation, Training, canonical
from humboldt.languages import ProblemKind
from humboldt.plugins import load_installed
from humboldt.report.tables import as_text
from humboldt.results import Result, ScoredMember, Scores, State, TrainedMember
from humboldt.settings import fields, words
from humboldt.store import Store
from humboldt.suites import suites
from humboldt.suites.base import OUTSIDE, AbstractSuite
from humboldt.suites.cells import Cell, sort_results
from humboldt.suites.experiments import Parts, Reading, Scoring
from humboldt.suites.outside import NextSymbols, OutsidePredictor, Recorded
from humboldt.suites.reading import published_beside, records, tables, upgrade


@dataclass(frozen=True)
class Scored:
    """What one evaluation of one task says of the members of an outside model."""

    task: str
    parts: Parts
    scores: Scores


@dataclass(frozen=True)
class Scorecard:
    """The scores of somebody's model. `print` shows all of it; `records()` are those of `humboldt show --json`."""

    suite: AbstractSuite
    name: str
    scored: tuple[Scored, ...]

    def records(self) -> list[dict[str, Any]]:
        """Flat records, as `humboldt show --json` has them."""
        return [asdict(record) for record in records(self.suite, self._scores)]

    def table(self) -> str:
        """The results in the paper's layout, as text."""
        return as_text(tables(self.suite, self._scores))

    def measures(self, task: str | None = None, evaluation: str | None = None, member: int = 0) -> dict[str, float]:
        """All measures of one member: of a task and evaluation, where there are several."""
        return dict(self._one(task, evaluation).scores.results[member].measures)

    def details(self, task: str | None = None, evaluation: str | None = None, member: int = 0) -> dict[str, Any]:
        """The same for details: curves, breakdowns."""
        return dict(self._one(task, evaluation).scores.results[member].detail)

    def readings(self) -> list[dict[str, Any]]:
        """Every number with its company: `n`, interval, chance level, breakdown, the paper's numbers beside it."""
        return [
            {"suite": self.suite.name, "task": one.task, "evaluation": one.scores.evaluation.name, "model": self.name}
            | asdict(reading)
            | {"published": self._published(one, reading.measure)}
            for one in self.scored
            for reading in self._readings(one)
        ]

    def __str__(self) -> str:
        lines = []
        for one in self.scored:
            told = [_line(reading, self._published(one, reading.measure)) for reading in self._readings(one)]
            lines += [f"{self.suite.name}/{one.task}, {one.scores.evaluation.name}, {self.name}:", *told]
        return "\n".join([self.table(), "", *lines])

    @property
    def _scores(self) -> list[Scores]:
        return [one.scores for one in self.scored]

    def _one(self, task: str | None, evaluation: str | None) -> Scored:
        fitting = [
            one for one in self.scored if task in (None, one.task) and evaluation in (None, one.scores.evaluation.name)
        ]
        if not fitting:
            known = [f"{one.task}, {one.scores.evaluation.name}" for one in self.scored]
            raise unknown_name("score", f"{task}, {evaluation}", known)
        return fitting[0]

    def _readings(self, one: Scored) -> list[Reading]:
        found = [(dict(result.measures), dict(result.detail)) for result in one.scores.results]
        return self.suite.readings(one.parts, one.scores.evaluation, found)

    @cached_property
    def _papers(self) -> dict[str, list[dict[str, Any]]]:
        """For each training, what the paper has of its own models in the same place of its tables."""
        found: dict[str, list[dict[str, Any]]] = {}
        for scores in self._scores:
            cells = [cell for of_heading in sort_results(self.suite, [scores]).cells.values() for cell in of_heading]
            found[scores.evaluation.key_for(scores.training)] = [
                entry for cell in cells for entry in self._printed(cell)
            ]
        return found

    def _printed(self, cell: Cell) -> Iterator[dict[str, Any]]:
        for title, record in published_beside(self.suite, cell):
            about = {"model": title, "measure": record.measure, "statistic": record.statistic}
            yield {**about, "setting": record.setting, "value": record.published}

    def _published(self, one: Scored, measure: str) -> list[dict[str, Any]]:
        beside = self._papers[one.scores.evaluation.key_for(one.scores.training)]
        first: dict[tuple[str, str], dict[str, Any]] = {}  # a model's number for the whole comes before those of parts
        for entry in beside:
            if entry["measure"] == measure:
                about = {key: entry[key] for key in ("model", "statistic", "value")}
                first.setdefault((entry["model"], entry["statistic"]), about)
        return list(first.values())


def _line(reading: Reading, published: Sequence[Mapping[str, Any]]) -> str:
    company = [] if reading.low is None or reading.high is None else [f"95% {reading.low:.4f} to {reading.high:.4f}"]
    company += [] if reading.n is None else [f"n {reading.n:,}"]
    company += [] if reading.chance is None else [f"chance {reading.chance:.4g}"]
    company += [reading.note] if reading.note else []
    beside = {}
    for entry in published:
        beside.setdefault(entry["model"], f"{entry['model']} {words(entry['value'])}")
    if beside:
        company.append(f"paper: {', '.join(beside.values())}")
    return f"  {reading.measure} {reading.value:.4f}" + (f" ({'; '.join(company)})" if company else "")


def score(
    suite: str,
    predict: Any,
    *,
    tasks: str | Sequence[str] = (),
    name: str = "my_model",
    preset: str = "paper",
    settings: Mapping[str, Any] | None = None,
    evaluations: Sequence[str] = (),
    seed: int = 0,
    out: str | Path | None = None,
    progress: Callable[[str, Event], None] | None = None,
) -> Scorecard:
    """Scores a model that was trained anywhere, on the strings that our own members are scored on. Needs no JAX.

    **Arguments:**

    - `predict`: a function from a list of inputs, each a list of symbols, to a list of answers: symbols (chomsky,
      pcfg_set, bias) or a label (syntax). For bliss a `Stepper`, or a function from a list of prefixes to the
      distributions of the next symbol. `NextSymbols` fits bliss and syntax. A list of these is one member each; a
      dictionary has them by task.
    - `tasks`: names, or one name. `name`: what the model is called in tables.
    - `preset`, `settings`: which strings; those of the paper unless you say so.
    - `evaluations`: which, of those that the task has (pcfg_set); all of them if none is named.
    - `seed`: the number of the first member. `out`: a folder whose store gets the results, for `humboldt show`.

    ```python
    card = humboldt.score("chomsky", lambda inputs: [["a"] for _ in inputs], tasks="parity_check", preset="quick")
    print(card)
    ```
    """
    load_installed()
    its_suite, by_task = suites.get(suite), _by_task(predict, tasks)
    _check_name(name)
    scored = []
    for task, models in by_task.items():
        for one in _scored(its_suite, task, models, name, preset, dict(settings or {}), evaluations, seed, progress):
            scored.append(one)
    card = Scorecard(its_suite, name, tuple(scored))
    if out is not None:
        _keep(card, Path(out))
    return card


def _by_task(predict: Any, tasks: str | Sequence[str]) -> dict[str, list[Any]]:
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    if isinstance(predict, Mapping):
        missing = [task for task in names if task not in predict]
        if missing:
            raise UsageError(f"tasks has {missing[0]!r}, but `predict` has no model for it: {', '.join(predict)}.")
        chosen = {task: predict[task] for task in names or predict}
    elif names:
        chosen = dict.fromkeys(names, predict)
    else:
        raise UsageError("No task is named. Write tasks=['parity_check'], or give a dictionary of models by task.")
    models = {task: list(one) if isinstance(one, list | tuple) else [one] for task, one in chosen.items()}
    if not all(models.values()):
        raise UsageError("There is no model to score: the list is empty. Give at least one function.")
    return models


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or "/" in name or not name.isprintable() or len(name) > 80:
        raise UsageError(f"name={name!r} is no name for a model. Use a short text without '/', e.g. name='my_model'.")


def _scored(
    suite: AbstractSuite,
    task: str,
    models: Sequence[Any],
    name: str,
    preset: str,
    changes: dict[str, Any],
    wanted: Sequence[str],
    seed: int,
    progress: Callable[[str, Event], None] | None,
) -> Iterator[Scored]:
    training, evaluations = trained_elsewhere(suite, task, name, preset, changes, compares=_compares(suite, models))
    if wanted:
        for one in wanted:
            if one not in [evaluation.name for evaluation in evaluations]:
                raise unknown_name("evaluation", one, [evaluation.name for evaluation in evaluations])
        evaluations = [evaluation for evaluation in evaluations if evaluation.name in wanted]
    members = [suite.outside_member(seed + i) for i in range(len(models))]
    sink = _Told(f"{task} · {name}", progress) if progress else Silent()
    for evaluation in evaluations:
        parts = suite.restore(training, evaluation)
        suite.check_plan(parts)
        predictor = OutsidePredictor(suite.problem(parts, members), parts.task.output_alphabet, models)
        begin = time.monotonic()
        found = suite.score(Scoring(parts, evaluation, predictor, tuple(members), sink))
        for model in models:
            if isinstance(model, Recorded):
                model.check_finished()
        seconds = (time.monotonic() - begin) / len(members)
        results = [
            Result(member, State.FINISHED, measures, seconds, detail, {})
            for member, (measures, detail) in zip(members, found, strict=True)
        ]
        yield Scored(task, parts, Scores(training, evaluation, tuple(results)))


def _compares(suite: AbstractSuite, models: Sequence[Any]) -> bool:
    """Whether models are asked which of two strings is more probable."""
    kinds = {isinstance(model, NextSymbols) and suite.kind is ProblemKind.CLASSIFICATION for model in models}
    if len(kinds) > 1:
        raise UsageError("Some of the models answer and some give probabilities. Score them under two names.")
    return kinds == {True}


def trained_elsewhere(
    suite: AbstractSuite, task: str, name: str, preset: str, changes: Mapping[str, Any], *, compares: bool = False
) -> tuple[Training, list[Evaluation]]:
    """What a model that was trained elsewhere is scored as, and the evaluations that there are of it.

    A model is trained for one corpus: where the suite has several, one must be chosen.
    """
    trained_on = suite.trained_task(task)
    trainings = suite.outside_trainings(trained_on, name, preset, changes)
    if len(trainings) > 1:
        flat = [training.flat for training, _ in trainings]
        key = next(key for key in flat[0] if any(one[key] != flat[0][key] for one in flat))
        classes = suite.settings_classes(trained_on, f"{OUTSIDE}/{name}")
        each = {option.stored_name: option.name for cls in classes for option in fields(cls)}
        values = ", ".join(dict.fromkeys(words(one[key]) for one in flat))
        raise UsageError(
            f"{suite.name}/{task} has trainings with {key} = {values}, and a model is trained for one of them. Choose "
            f"it: settings={{'{each.get(key, key)}': {words(flat[0][key])}}}, or --set {each.get(key, key)}="
            f"{words(flat[0][key])}."
        )
    ((training, protocol),) = trainings
    if compares:
        training = replace(training, setting={**training.setting, "model": {"asked": "probabilities"}})
    evaluations = suite.evaluations(protocol, trained_on)
    if task != trained_on:  # a test of models that are trained for something else
        evaluations = [evaluation for evaluation in evaluations if evaluation.name == task]
    return training, evaluations


def _keep(card: Scorecard, out: Path) -> None:
    """Writes the results. A name stands for one model: other numbers under the same name are refused."""
    store = Store(out, upgrade)
    before = {
        (scores.evaluation.key_for(scores.training), canonical(result.member)): result
        for scores in store.scores(card.suite.name)
        for result in scores.results
    }
    for one in card.scored:
        scores = one.scores
        for result in scores.results:
            known = before.get((scores.evaluation.key_for(scores.training), canonical(result.member)))
            if known is not None and known.state is State.FINISHED and dict(known.measures) != dict(result.measures):
                raise UsageError(
                    f"`{out}` has other results of {card.name!r}, {canonical(result.member)}, on {one.task}. Results "
                    "are never overwritten: give this model another name, or another seed."
                )
    for one in card.scored:
        scores, made_with = one.scores, environment(uses_jax=False)
        trained = [TrainedMember(result.member, State.FINISHED, environment=made_with) for result in scores.results]
        found = [
            ScoredMember(result.member, State.FINISHED, result.measures, result.seconds, result.detail)
            for result in scores.results
        ]
        store.add(scores.training, trained, [(scores.evaluation, found)], format=card.suite.format)


@dataclass(frozen=True)
class _Told(AbstractSink):
    """Tells a function."""

    name: str
    progress: Callable[[str, Event], None]

    def send(self, event: Event) -> None:
        self.progress(self.name, event)

    def should_stop(self) -> bool:
        return False
