"""Neural networks and the Chomsky hierarchy (Delétang et al. 2023): does a model run on longer inputs?"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.identity import Evaluation, Member, Training
from humboldt.languages import Batch, ProblemKind, tasks
from humboldt.languages.chomsky._base import AbstractTransduction
from humboldt.measures.accuracy import VERSION, LengthTally, normal_interval, score
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import (
    Conformance,
    ExampleRequest,
    OffersCheck,
    OffersData,
    OffersWrongStrings,
    WrongString,
)
from humboldt.suites.cells import Cell, Glance, Heading, Measured
from humboldt.suites.chomsky import figures, tables
from humboldt.suites.chomsky.problem import Transduction, shortest_wrong, training_lengths
from humboldt.suites.chomsky.protocol import CONTENDERS, PRESETS, TASKS, LengthGeneralisation
from humboldt.suites.experiments import Parts, Probe, Reading, Request, Scored, Scoring
from humboldt.training.base import Job, MemberRecipe, Recipe

PROBED_ROWS = 8  # of a test batch, in an estimate of networks that are slow


class Chomsky(AbstractSuite, OffersData, OffersCheck, OffersWrongStrings):
    """The suite of Delétang et al. (2023)."""

    name = "chomsky"
    paper = "Delétang et al. 2023, Neural networks and the Chomsky hierarchy"
    question = "Does it run on longer inputs?"
    measure = "accuracy over unseen lengths"
    kind = ProblemKind.TRANSDUCTION
    protocol = LengthGeneralisation
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    demo = Request(
        ("parity_check", "reverse_string"), ("rnn", "stack_rnn"), settings={"steps": 2500}
    )  # enough for them
    headline = "score"
    evaluation = ("score", VERSION)
    told = ("autoregressive",)

    def check_plan(self, parts: Parts) -> None:
        training_lengths(parts.task, parts.protocol)

    def work(self, parts: Parts) -> str:
        return f"{parts.protocol.steps:,} steps of {parts.protocol.batch_size} strings"

    def job(self, parts: Parts, members: Sequence[Member]) -> Job:
        protocol: LengthGeneralisation = parts.protocol
        return Job(
            model=parts.model,
            problem=Transduction(parts.task, protocol),
            recipe=Recipe(steps=protocol.steps, gradient_clip=protocol.gradient_clip, precision=protocol.precision),
            members=tuple(MemberRecipe(**member) for member in members),
        )

    def problem(self, parts: Parts, members: Sequence[Member]) -> Transduction:
        del members
        return Transduction(parts.task, parts.protocol)

    def score(self, scoring: Scoring) -> list[Scored]:
        protocol: LengthGeneralisation = scoring.parts.protocol
        lengths, pooled = protocol.scored_lengths(), protocol.pooled_accuracy
        tally, done = LengthTally(lengths, len(scoring.members), pooled=pooled), 0
        for number, (of_rows, counted, batch) in enumerate(Transduction(scoring.parts.task, protocol).test_batches()):
            real = of_rows > 0
            tally.add(scoring.predictor.correct(batch, number=number)[:, real], counted[real], of_rows[real])
            done += int(real.sum())
            scoring.sink.scored(done, len(lengths) * protocol.strings_per_length)
        scored = []
        for curve, error in zip(tally.curves(), tally.standard_errors().tolist(), strict=True):
            detail = {"lengths": list(curve.lengths), "accuracy": list(curve.accuracy)}
            more: dict[str, Any] = {"accuracy_per_length": detail} | ({} if pooled else {"standard_error": error})
            scored.append(({"score": score(curve, *protocol.test_lengths)}, more))
        return scored

    def readings(self, parts: Parts, evaluation: Evaluation, scored: Sequence[Scored]) -> list[Reading]:
        del evaluation
        protocol: LengthGeneralisation = parts.protocol
        count = len(protocol.scored_lengths()) * protocol.strings_per_length
        found = []
        for measures, detail in scored:
            value, error = measures["score"], detail.get("standard_error")
            ends = {} if error is None else dict(zip(("low", "high"), normal_interval(value, error), strict=True))
            curve = detail["accuracy_per_length"]
            by_length = dict(zip(map(str, curve["lengths"]), curve["accuracy"], strict=True))
            chance, breakdown = parts.task.chance, {"length": by_length}
            found.append(Reading("score", value, count, chance=chance, breakdown=breakdown, **ends))
        return found

    def probe(self, parts: Parts, evaluation: Evaluation) -> Probe:
        del evaluation
        problem = Transduction(parts.task, parts.protocol)
        _, _, batch = next(problem.test_batches())
        longest = problem.lengths[1]
        per_symbol = problem.frame(parts.task.sample(np.random.default_rng(0), 1, longest)).time / longest
        steps = per_symbol * sum(parts.protocol.scored_lengths()) * parts.protocol.strings_per_length
        few = batch.take(np.linspace(0, len(batch.tokens) - 1, min(PROBED_ROWS, len(batch.tokens)), dtype=int))

        def probe(asked: Batch, small: Probe | None = None) -> Probe:
            return Probe(
                lambda predictor: predictor.correct(asked), steps / asked.tokens.size, asked.tokens.size, small
            )

        return probe(batch, small=probe(few))

    def upgrade(self, setting: dict[str, Any], format: int, *, model: str) -> dict[str, Any]:
        del model
        if (
            format == 1 and setting.get("loss") == "mean"
        ):  # a setting that there was; the other value is not known today
            del setting["loss"]
        return setting

    def place(self, training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
        del evaluation
        return training.setting.get("autoregressive", False), tables.scale(training) or ()

    def told_by(self, training: Training) -> tuple[str, ...]:
        return (*self.told, "num_layers", "steps", "positions") if tables.scale(training) else self.told

    def cell_records(self, cell: Cell) -> list[Record]:
        return tables.records(cell)

    def layout(self, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
        return tables.layout(self, heading, cells)

    def measured(self, cell: Cell) -> list[Measured]:
        return tables.measured(cell)

    def glance(self, cells: Sequence[Cell]) -> Glance | None:
        return figures.glance(cells)

    def figures(self, heading: Heading, cells: Sequence[Cell]) -> list[AnyFigure]:
        del heading
        return figures.figures(self, cells)

    def first_wrong(self, parts: Parts, predictor: Any, detail: Any) -> WrongString:
        del detail
        problem = Transduction(parts.task, parts.protocol)
        return shortest_wrong(problem, lambda batch: predictor.correct(batch)[0])

    def figures_across(self, cells: Sequence[Cell]) -> list[AnyFigure]:
        return figures.across(self, cells)

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        task, settings = request.task, request.settings
        if request.split == "test":
            yield from self._test_strings(request)
            return
        if request.split is not None:
            raise UsageError(
                f"--split {request.split}: this suite draws fresh strings for training, and has a split `test`. Use "
                "that, or leave --split out."
            )
        count = 10 if request.count is None else request.count
        options = {field.name: field for field in settings_.fields(tasks.get(f"chomsky/{task}"))}
        for key in settings:
            if key not in options:
                raise unknown_name("setting", key, options, hint=f"{task} has: {', '.join(options) or 'none'}.")
        typed = {key: settings_.typed_value(options[key], value) for key, value in settings.items()}
        language = self.make_task(task, None, typed)
        assert isinstance(language, AbstractTransduction)
        rng = np.random.default_rng(request.seed)
        first, last = LengthGeneralisation().train_lengths
        for _ in range(count):  # one after the other, so that more of them begin with the same ones
            length = request.length or int(rng.integers(max(first, language.shortest), last + 1))
            yield from language.sample(rng, 1, length).symbols(language.input_alphabet, language.output_alphabet)

    def _test_strings(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        """The strings that models are scored on, in that order."""
        if request.length is not None:
            raise UsageError(
                f"--length {request.length}: the test strings have many lengths. Leave --length out, or use --set "
                f"test_lengths={request.length},{request.length}."
            )
        ((training, protocol),) = self.outside_trainings(request.task, "any", request.preset, request.settings)
        parts = self.restore(training, self.evaluations(protocol, request.task)[0])
        alphabets = parts.task.input_alphabet, parts.task.output_alphabet
        strings = (pair for _, pairs in self.problem(parts, ()).test_pairs() for pair in pairs.symbols(*alphabets))
        yield from itertools.islice(strings, request.count)

    def check(self, task: str, lines: Sequence[str]) -> Conformance:
        from humboldt.suites.chomsky.conformance.check import check_file

        if task not in self.tasks():
            raise unknown_name("task", task, self.tasks())
        return check_file(task, lines)


suites.register("chomsky", version=1)(Chomsky())
