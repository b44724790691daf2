"""Neural networks and the Chomsky hierarchy (Delétang et al. 2023): does a model run on longer inputs?"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.identity import Evaluation, Member, Training
from humboldt.languages import ProblemKind, tasks
from humboldt.languages.chomsky._base import AbstractTransduction
from humboldt.measures.accuracy import VERSION, accuracy_per_length, score
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite, Parts, Probe, Request, Scored, Scoring
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
from humboldt.training.base import Job, MemberRecipe, Recipe


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
    demo = Request(("parity_check", "reverse_string"), ("rnn", "stack_rnn"))
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

    def score(self, scoring: Scoring) -> list[Scored]:
        protocol: LengthGeneralisation = scoring.parts.protocol
        total = len(protocol.scored_lengths()) * protocol.strings_per_length
        correct, counted, lengths = [], [], []
        batches = Transduction(scoring.parts.task, protocol).test_batches()
        for number, (row_lengths, row_counts, batch) in enumerate(batches):
            real = row_lengths > 0
            correct.append(scoring.predictor.correct(batch, number=number)[:, real])
            counted.append(row_counts[real])
            lengths.append(row_lengths[real])
            scoring.sink.scored(sum(map(len, lengths)), total)
        symbols, of_rows = np.concatenate(counted), np.concatenate(lengths)
        scored = []
        for row in np.concatenate(correct, 1):
            curve = accuracy_per_length(row, symbols, of_rows, pooled=protocol.pooled_accuracy)
            detail = {"lengths": list(curve.lengths), "accuracy": list(curve.accuracy)}
            scored.append(({"score": score(curve, *protocol.test_lengths)}, {"accuracy_per_length": detail}))
        return scored

    def probe(self, parts: Parts, evaluation: Evaluation) -> Probe:
        del evaluation
        problem = Transduction(parts.task, parts.protocol)
        _, _, batch = next(problem.test_batches())
        longest = problem.lengths[1]
        per_symbol = problem.frame(parts.task.sample(np.random.default_rng(0), 1, longest)).time / longest
        steps = per_symbol * sum(parts.protocol.scored_lengths()) * parts.protocol.strings_per_length
        return Probe(lambda predictor: predictor.correct(batch), steps / batch.tokens.size)

    def upgrade(self, setting: dict[str, Any], format: int, *, model: str) -> dict[str, Any]:
        del model
        if (
            format == 1 and setting.get("loss") == "mean"
        ):  # a setting that there was; the other value is not known today
            del setting["loss"]
        return setting

    def place(self, training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
        del evaluation
        return training.setting["autoregressive"], tables.scale(training) or ()

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
        task, count, settings = request.task, request.count, request.settings
        if request.split is not None:
            raise UsageError(
                f"--split {request.split}: this suite has no splits, it draws fresh strings. Leave --split out."
            )
        options = {field.name: field for field in settings_.fields(tasks.get(f"chomsky/{task}"))}
        for key in settings:
            if key not in options:
                raise unknown_name("setting", key, options, hint=f"{task} has: {', '.join(options) or 'none'}.")
        typed = {key: settings_.typed_value(options[key], value) for key, value in settings.items()}
        language = self.make_task(task, None, typed)
        assert isinstance(language, AbstractTransduction)
        rng = np.random.default_rng(request.seed)
        if request.length is not None:
            lengths = [request.length] * count
        else:
            first, last = LengthGeneralisation().train_lengths
            lengths = rng.integers(max(first, language.shortest), last + 1, count).tolist()
        for length in lengths:
            yield from language.sample(rng, 1, length).symbols(language.input_alphabet, language.output_alphabet)

    def check(self, task: str, lines: Sequence[str]) -> Conformance:
        from humboldt.suites.chomsky.conformance.check import check_file

        if task not in self.tasks():
            raise unknown_name("task", task, self.tasks())
        return check_file(task, lines)


suites.register("chomsky", version=1)(Chomsky())
