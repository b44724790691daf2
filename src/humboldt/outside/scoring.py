"""Scores models from outside: `humboldt.score`, with the test strings and the code that score Humboldt's members."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from humboldt.arguments import (
    checked_arguments,
    file,
    folder,
    function,
    mapping,
    optional,
    shown,
    text,
    texts,
    whole,
)
from humboldt.core.environment import environment
from humboldt.core.events import AbstractSink, Event, Silent
from humboldt.core.identity import canonical
from humboldt.core.results import Result, ScoredMember, Scores, State, TrainedMember
from humboldt.errors import OtherStrings, UsageError, unknown_name
from humboldt.languages import ProblemKind
from humboldt.outside.predictor import NextSymbols, OrderedPredictions, OutsidePredictor
from humboldt.plugins import load_installed
from humboldt.report.tables import Table, as_text
from humboldt.settings import words
from humboldt.storage.files import ENDINGS
from humboldt.storage.store import Store
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Cell, sort_results
from humboldt.suites.experiments import MemberScore, ReportedNumber, Resolved, ScoringInput
from humboldt.suites.files import FileRequest, OffersFiles, OutsideInput, trained_elsewhere
from humboldt.suites.own_tasks import register_language
from humboldt.suites.reading import published_beside, records, tables, upgrade


@dataclass(frozen=True)
class EvaluationScores:
    """The scores of an outside model's members under one evaluation of one task. `file_details`: further data of their
    files."""

    task: str
    resolved: Resolved
    scores: Scores
    file_details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scorecard:
    """The scores of a model from outside. `print` shows all; `records()` are those of `humboldt show --json`."""

    suite: AbstractSuite
    name: str
    scored: tuple[EvaluationScores, ...]

    def records(self) -> list[dict[str, Any]]:
        """Returns flat records, as in `humboldt show --json`."""
        return [asdict(record) for record in records(self.suite, self._scores)]

    def table(self) -> str:
        """Returns the results in the paper's layout, as text."""
        return as_text(tables(self.suite, self._scores))

    @checked_arguments(task=optional(text), evaluation=optional(text), member=whole(0))
    def measures(self, task: str | None = None, evaluation: str | None = None, member: int = 0) -> dict[str, float]:
        """Returns all measures of one member; name task and evaluation if there are several."""
        return dict(self._result(task, evaluation, member).measures)

    @checked_arguments(task=optional(text), evaluation=optional(text), member=whole(0))
    def details(self, task: str | None = None, evaluation: str | None = None, member: int = 0) -> dict[str, Any]:
        """Returns the details of one member: curves, breakdowns."""
        return dict(self._result(task, evaluation, member).detail)

    def readings(self) -> list[dict[str, Any]]:
        """Returns every number with `n`, interval, chance level, breakdown and the paper's numbers."""
        return [
            {
                "suite": self.suite.name,
                "task": entry.task,
                "evaluation": entry.scores.evaluation.name,
                "model": self.name,
            }
            | asdict(reading)
            | {"published": self._published(entry, reading.measure)}
            for entry in self.scored
            for reading in self._readings(entry)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON of `humboldt score`, with the same keys for every suite. Data of a single suite are under
        `details`: of the file, and of each member."""
        members = [
            {"evaluation": entry.scores.evaluation.name, "member": dict(result.member), **result.detail}
            for entry in self.scored
            for result in entry.scores.results
        ]
        of_files = {key: value for entry in self.scored for key, value in entry.file_details.items()}
        return {
            "suite": self.suite.name,
            "task": ", ".join(dict.fromkeys(entry.task for entry in self.scored)),
            "model": self.name,
            "readings": self.readings(),
            "details": {**of_files, "members": members},
        }

    def __str__(self) -> str:
        lines = []
        for entry in self.scored:
            numbers = [_line(reading, self._published(entry, reading.measure)) for reading in self._readings(entry)]
            lines += [f"{self.suite.name}/{entry.task}, {entry.scores.evaluation.name}, {self.name}:", *numbers]
        return "\n".join([self.table(), "", *lines])

    def short(self) -> str:
        """Returns a table with a row for each number: interval, strings, chance level, and the paper's best model."""
        rows = []
        for entry in self.scored:
            for reading in self._readings(entry):
                papers = [each for each in self._published(entry, reading.measure) if each["value"] is not None]
                best = max(papers, key=lambda each: each["value"], default=None)
                interval = (
                    "" if reading.low is None or reading.high is None else f"{reading.low:.3f} to {reading.high:.3f}"
                )
                rows.append(
                    (
                        entry.task,
                        reading.measure,
                        f"{reading.value:.3f}",
                        interval,
                        "" if reading.n is None else f"{reading.n:,}",
                        "" if reading.chance is None else f"{reading.chance:.3g}",
                        "" if best is None else f"{best['model']} {words(best['value'])}",
                    )
                )
        columns = ("Task", "Measure", "Value", "95%", "n", "Chance", "Paper's best")
        return as_text([Table(f"{self.suite.name}: {self.name}", columns, tuple(rows))])

    @property
    def _scores(self) -> list[Scores]:
        return [entry.scores for entry in self.scored]

    def _one(self, task: str | None, evaluation: str | None) -> EvaluationScores:
        fitting = [
            one for one in self.scored if task in (None, one.task) and evaluation in (None, one.scores.evaluation.name)
        ]
        if not fitting:
            known = [f"{one.task}, {one.scores.evaluation.name}" for one in self.scored]
            raise unknown_name("score", f"{task}, {evaluation}", known)
        return fitting[0]

    def _result(self, task: str | None, evaluation: str | None, member: int) -> Result:
        results = self._one(task, evaluation).scores.results
        if member >= len(results):
            raise UsageError(f"member={member}: there are {len(results)} members, counted from 0.")
        return results[member]

    def _readings(self, entry: EvaluationScores) -> list[ReportedNumber]:
        scores = [MemberScore(result.measures, result.detail) for result in entry.scores.results]
        return self.suite.readings(entry.resolved, entry.scores.evaluation, scores)

    @cached_property
    def _papers(self) -> dict[str, list[dict[str, Any]]]:
        """The paper's numbers, for each training, of its own models in the same place of its tables."""
        published: dict[str, list[dict[str, Any]]] = {}
        for scores in self._scores:
            cells = [cell for of_heading in sort_results(self.suite, [scores]).cells.values() for cell in of_heading]
            published[scores.evaluation.key_for(scores.training)] = [
                entry for cell in cells for entry in self._printed(cell)
            ]
        return published

    def _printed(self, cell: Cell) -> Iterator[dict[str, Any]]:
        for title, record in published_beside(self.suite, cell):
            about = {"model": title, "measure": record.measure, "statistic": record.statistic}
            yield {**about, "setting": record.setting, "value": record.published}

    def _published(self, scored: EvaluationScores, measure: str) -> list[dict[str, Any]]:
        beside = self._papers[scored.scores.evaluation.key_for(scored.scores.training)]
        first: dict[tuple[str, str], dict[str, Any]] = {}  # a model's number for the whole comes before those of parts
        for entry in beside:
            if entry["measure"] == measure:
                about = {key: entry[key] for key in ("model", "statistic", "value")}
                first.setdefault((entry["model"], entry["statistic"]), about)
        return list(first.values())


def _line(reading: ReportedNumber, published: Sequence[Mapping[str, Any]]) -> str:
    company = [] if reading.low is None or reading.high is None else [f"95% {reading.low:.4f} to {reading.high:.4f}"]
    company += [] if reading.n is None else [f"n {reading.n:,}"]
    company += [] if reading.chance is None else [f"chance {reading.chance:.4g}"]
    company += [] if reading.floor is None else [f"floor {reading.floor:.4g}"]
    company += [reading.note] if reading.note else []
    beside = {}
    for entry in published:
        beside.setdefault(entry["model"], f"{entry['model']} {words(entry['value'])}")
    if beside:
        company.append(f"paper: {', '.join(beside.values())}")
    return f"  {reading.measure} {reading.value:.4f}" + (f" ({'; '.join(company)})" if company else "")


@checked_arguments(
    suite=text,
    tasks=texts,
    preset=text,
    settings=optional(mapping),
    evaluations=texts,
    seed=whole(0),
    twin=optional(file),
    split=optional(text),
    out=optional(folder),
    progress=optional(function),
)
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
    twin: str | Path | None = None,
    split: str | None = None,
    out: str | Path | None = None,
    progress: Callable[[str, Event], None] | None = None,
) -> Scorecard:
    """Scores a model that was trained outside Humboldt, on the same strings as Humboldt's members. Does not need JAX.

    **Arguments:**

    - `predict`: a function from a list of inputs, each a list of symbols, to a list of answers: symbols (chomsky,
      pcfg_set, bias) or a label (syntax). For bliss a `Stepper`, or a function from a list of prefixes to the
      distributions of the next symbol. `NextSymbols` fits bliss and syntax. A list of these is one member each; a
      dictionary has them by task. Or a `Path`: a file of predictions, or a list of files, one for each seed.
    - `tasks`: names, or one name. `name`: the name of the model in tables.
    - `preset`, `settings`: of the test strings; by default those of the paper.
    - `evaluations`: names, if the task has several (pcfg_set); by default all.
    - `seed`: the number of the first member. `out`: a folder whose store gets the results, for `humboldt show`.
    - `twin`: a second file of predictions, for tests that compare two outputs. `split`: the test set of a file.

    ```python
    card = humboldt.score("chomsky", lambda inputs: [["a"] for _ in inputs], tasks="parity_check", preset="quick")
    print(card)
    ```
    """
    load_installed()
    its_suite, by_task = suites.get(suite), _by_task(predict, tasks)
    _check_name(name)
    scored = []
    for given_task, models in by_task.items():
        task = register_language(its_suite, given_task)
        if any(isinstance(model, Path) for model in models):
            request = FileRequest(
                task=task,
                paths=_checked_paths(models),
                twin=None if twin is None else _checked_paths([Path(twin)])[0],
                split=split,
                settings=dict(settings or {}),
                preset=preset,
                name=name,
                seed=seed,
                for_table=out is not None,
            )
            given = read_files(its_suite, request)
            if out is not None and not given.has_table:
                raise UsageError(
                    f"--out {out}: a predictions file of {suite}/{task} cannot be put into a table. Leave --out out, "
                    "or score the model itself with `humboldt.score` in Python."
                )
        else:
            for option, value in (("twin", twin), ("split", split)):
                if value is not None:
                    raise UsageError(f"{option}={str(value)!r} is about a file of predictions. Leave it out.")
            given = _input_of(its_suite, task, models, name, preset, dict(settings or {}), seed)
        sink = _Told(f"{task} · {name}", progress) if progress else Silent()
        try:
            scored += _scored(its_suite, task, given, evaluations, sink)
        except OtherStrings as error:
            raise _other_strings(its_suite, preset, split, error) from error
    card = Scorecard(its_suite, name, tuple(scored))
    if out is not None:
        _keep(card, Path(out))
    return card


def _other_strings(suite: AbstractSuite, preset: str, split: str | None, error: OtherStrings) -> UsageError:
    """Returns the error about strings that do not match, with the likely causes: strings of another preset, or of one
    test set of several."""
    text = str(error)
    others = [name for name in suite.presets if name != preset]
    if others:
        name = next((name for name in ("paper", "quick") if name in others), others[0])
        text += (
            f" These are the test strings of the preset {preset}. If the file has those of another one, that is the "
            f"likely cause: score it with --preset {name}."
        )
    if suite.test_sets and split is None:
        text += f" If it has those of one test set alone ({', '.join(suite.test_sets)}), name it with --split."
    return OtherStrings(text)


def _by_task(predict: Any, tasks: str | Sequence[str]) -> dict[str, list[Any]]:
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    if isinstance(predict, Mapping):
        predict = mapping("predict", predict)
        missing = [task for task in names if task not in predict]
        if missing:
            raise UsageError(f"tasks has {missing[0]!r}, but `predict` has no model for it: {', '.join(predict)}.")
        chosen = {task: predict[task] for task in names or predict}
    elif names:
        chosen = dict.fromkeys(names, predict)
    else:
        raise UsageError("No task is named. Write tasks=['parity_check'], or give a dictionary of models by task.")
    models = {
        task: [_path_or_model(model) for model in (one if isinstance(one, list | tuple) else [one])]
        for task, one in chosen.items()
    }
    if not all(models.values()):
        raise UsageError("There is no model to score: the list is empty. Give at least one function.")
    return models


def _path_or_model(model: Any) -> Any:
    """Returns the path if a text names a file of predictions; otherwise the model unchanged."""
    return Path(model) if isinstance(model, str) and Path(model).suffix.lower() in ENDINGS else model


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or "/" in name or not name.isprintable() or len(name) > 80:
        raise UsageError(
            f"name={shown(name)} is not a valid model name. Use a short text without '/', e.g. name='my_model'."
        )


def _checked_paths(models: Sequence[Any]) -> tuple[Path, ...]:
    for path in models:
        if not isinstance(path, Path):
            raise UsageError(f"Some of the models are files, and {path!r} is not. Score them one at a time.")
        if not path.is_file():
            raise UsageError(f"`{path}` cannot be read: it is not a file. Give a file of predictions.")
    return tuple(models)


def read_files(suite: AbstractSuite, request: FileRequest) -> OutsideInput:
    """Returns files of predictions as a problem and a predictor: read by the suite's own reader, or in the order of the
    test strings, one file for each member."""
    if isinstance(suite, OffersFiles):
        return suite.file_input(request)
    request.check_no_twin(suite)
    split, known = request.split, ("scored", *suite.test_sets) if suite.test_sets else ()
    if split is not None and split not in known:
        raise unknown_name(
            f"test set of {suite.name}", split, known, hint="" if known else "It has one. Leave --split out."
        )
    covers = None if split in (None, "scored") else (split,)
    if covers and request.for_table:
        raise UsageError(f"--split {split}: a table needs all splits. Score --split scored, or leave --out out.")
    models = [OrderedPredictions(path, covers) for path in request.paths]

    def check_finished() -> None:
        for model in models:
            model.check_finished()

    about = (request.name, request.preset, request.settings, request.seed)
    return replace(_input_of(suite, request.task, models, *about), check_finished=check_finished)


def _input_of(
    suite: AbstractSuite,
    task: str,
    models: Sequence[Any],
    name: str,
    preset: str,
    changes: Mapping[str, Any],
    seed: int,
) -> OutsideInput:
    """Returns models with the test strings of a suite, ready to be scored."""
    resolved, evaluations = trained_elsewhere(suite, task, name, preset, changes, compares=_compares(suite, models))
    members = tuple(suite.outside_member(seed + i) for i in range(len(models)))
    problem = suite.problem(resolved, members)
    return OutsideInput(
        resolved=resolved,
        evaluations=tuple(evaluations),
        problem=problem,
        predictor=OutsidePredictor(problem, resolved.task.output_alphabet, models),
        members=members,
    )


def _scored(
    suite: AbstractSuite, task: str, given: OutsideInput, wanted: Sequence[str], sink: AbstractSink
) -> Iterator[EvaluationScores]:
    """Yields the scores of a model from outside under each of its evaluations, or under the `wanted` ones."""
    names = [evaluation.name for evaluation in given.evaluations]
    for name in wanted:
        if name not in names:
            raise unknown_name("evaluation", name, names)
    for evaluation in given.evaluations:
        if wanted and evaluation.name not in wanted:
            continue
        begin = time.monotonic()
        scores = suite.score(
            ScoringInput(
                resolved=given.resolved,
                evaluation=evaluation,
                problem=given.problem,
                predictor=given.predictor,
                members=given.members,
                sink=sink,
            )
        )
        given.check_finished()
        seconds = (time.monotonic() - begin) / len(given.members)
        results = tuple(
            Result(member, State.FINISHED, dict(score.measures), seconds, dict(score.detail), {})
            for member, score in zip(given.members, scores, strict=True)
        )
        training = given.resolved.training
        yield EvaluationScores(task, given.resolved, Scores(training, evaluation, results), given.details)


def _compares(suite: AbstractSuite, models: Sequence[Any]) -> bool:
    """Returns whether models are scored by which of two strings is more probable."""
    kinds = {isinstance(model, NextSymbols) and suite.kind is ProblemKind.CLASSIFICATION for model in models}
    if len(kinds) > 1:
        raise UsageError("Some of the models answer and some give probabilities. Score them under two names.")
    return kinds == {True}


def _keep(card: Scorecard, out: Path) -> None:
    """Writes the results. A name belongs to one model: different numbers under the same name raise a usage error."""
    store = Store(out, upgrade)
    before = {
        (scores.evaluation.key_for(scores.training), canonical(result.member)): result
        for scores in store.scores(card.suite.name)
        for result in scores.results
    }
    for entry in card.scored:
        scores = entry.scores
        for result in scores.results:
            known = before.get((scores.evaluation.key_for(scores.training), canonical(result.member)))
            if known is not None and known.state is State.FINISHED and dict(known.measures) != dict(result.measures):
                raise UsageError(
                    f"`{out}` has other results of {card.name!r}, {canonical(result.member)}, on {entry.task}. Results "
                    "are never overwritten: give this model another name, or another seed."
                )
    for entry in card.scored:
        scores, made_with = entry.scores, environment(uses_jax=False)
        trained = [TrainedMember(result.member, State.FINISHED, environment=made_with) for result in scores.results]
        scored = [
            ScoredMember(result.member, State.FINISHED, result.measures, result.seconds, result.detail)
            for result in scores.results
        ]
        store.add(scores.training, trained, [(scores.evaluation, scored)], format=card.suite.format)


@dataclass(frozen=True)
class _Told(AbstractSink):
    """Passes progress to a function."""

    name: str
    progress: Callable[[str, Event], None]

    def send(self, event: Event) -> None:
        self.progress(self.name, event)

    def should_stop(self) -> bool:
        return False
