"""Targeted syntactic evaluations with pseudo-languages: does a model see structure without words?"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.identity import Evaluation, Member, Training
from humboldt.languages import AbstractTask, ProblemKind
from humboldt.languages.syntax import draw_split
from humboldt.languages.syntax._splits import NAMES as SPLITS
from humboldt.measures.accuracy import VERSION, accuracy_per_length
from humboldt.measures.statistics import share
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import ExampleRequest, OffersData, OffersWrongStrings, WrongString
from humboldt.suites.cells import Cell, Glance, Heading, Measured
from humboldt.suites.experiments import Parts, Probe, Reading, Request, Scored, Scoring
from humboldt.suites.syntax import figures, tables
from humboldt.suites.syntax.problem import SCORED, TEST_ROWS, Classification, test_batches
from humboldt.suites.syntax.protocol import CONTENDERS, OF_DATA, PRESETS, TASKS, PseudoLanguages
from humboldt.training.base import Job, MemberRecipe, Recipe

EVERYTHING_SCORED = "scored"  # the splits that models are scored on, one after the other


class Syntax(AbstractSuite, OffersData, OffersWrongStrings):
    """The suite of Someya et al. (2024)."""

    name = "syntax"
    paper = "Targeted syntactic evaluations with pseudo-languages (anonymous ACL submission)"
    question = "Does it see structure without words?"
    measure = "in- and out-of-distribution accuracy"
    kind = ProblemKind.CLASSIFICATION
    protocol = PseudoLanguages
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    demo = Request(("nested_dependency",), ("lstm",))
    headline = "validation"
    evaluation = ("accuracy", VERSION)
    test_sets = tuple(SCORED)
    told = ("terminals", "distribution")

    def make_task(self, name: str, protocol: PseudoLanguages, options: Mapping[str, Any]) -> AbstractTask:
        (terminals,) = protocol.terminals
        words = {"distribution": protocol.distribution, "zipf_exponent": protocol.zipf_exponent}
        return super().make_task(name, protocol, {**options, "terminals": terminals, **words})

    def check_plan(self, parts: Parts) -> None:
        """Draws a few strings of each split, to see whether the language has any."""
        few = replace(parts.protocol.splits, **dict.fromkeys(SPLITS, 16))
        for name in SPLITS:
            draw_split(parts.task, name, parts.protocol.data_seed, few)

    def work(self, parts: Parts) -> str:
        protocol: PseudoLanguages = parts.protocol
        return f"{protocol.epochs} epochs of {2 * protocol.train:,} strings of {protocol.terminals[0]} terminals"

    def job(self, parts: Parts, members: Sequence[Member]) -> Job:
        protocol: PseudoLanguages = parts.protocol
        return Job(
            model=parts.model,
            problem=Classification(parts.training.task, parts.task, protocol),
            recipe=Recipe(
                steps=protocol.steps,
                optimiser=protocol.optimiser,
                gradient_clip=protocol.gradient_clip,
                precision=protocol.precision,
            ),
            members=tuple(MemberRecipe(**member) for member in members),
        )

    def problem(self, parts: Parts, members: Sequence[Member]) -> Classification:
        del members
        return Classification(parts.training.task, parts.task, parts.protocol)

    def score(self, scoring: Scoring) -> list[Scored]:
        parts, predictor = scoring.parts, scoring.predictor
        problem = Classification(parts.training.task, parts.task, parts.protocol)
        splits = {name: problem.split(name) for name in SCORED if predictor.covers is None or name in predictor.covers}
        tests = [name for name in ("test", "long") if name in splits]
        total, done = sum(map(len, splits.values())), 0
        correct: dict[str, np.ndarray] = {}
        for name, split in splits.items():
            rows = []
            for count, batch in test_batches(split):
                rows.append(predictor.correct(batch)[:, :count])
                done += count
                scoring.sink.scored(done, total)
            correct[name] = np.concatenate(rows, 1)
        lengths = np.concatenate([np.empty(0, int), *(splits[name].lengths for name in tests)])
        shared = {"shortcuts": problem.shortcuts(), "parameters": predictor.parameters()}

        def scored(member: int) -> Scored:
            measures = {SCORED[name]: float(right[member].mean()) for name, right in correct.items()}
            both = np.concatenate([np.empty(0), *(correct[name][member] for name in tests)])
            curve = accuracy_per_length(both, np.ones(len(both)), lengths)
            shares = [round(share, 6) for share in curve.accuracy]
            return measures, {"accuracy_per_length": {"lengths": list(curve.lengths), "accuracy": shares}, **shared}

        return [scored(member) for member in range(len(scoring.members))]

    def readings(self, parts: Parts, evaluation: Evaluation, scored: Sequence[Scored]) -> list[Reading]:
        del evaluation
        compares = getattr(parts.model, "asked", "answers") == "probabilities"
        found = []
        for measures, detail in scored:
            curve = detail["accuracy_per_length"]
            lengths = dict(zip(map(str, curve["lengths"]), curve["accuracy"], strict=True))
            for split, measure in SCORED.items():
                if measure not in measures:  # of a file that does not have it
                    continue
                pairs = getattr(parts.protocol, split)
                count = pairs if compares else 2 * pairs
                within = parts.protocol.splits.range_of(split)
                by_length = {
                    n: lengths[n] for n in lengths if split != "validation" and within[0] <= int(n) <= within[1]
                }
                part = share(round(measures[measure] * count), count)
                note = "the share of pairs whose grammatical string is more probable" if compares else ""
                company = {"chance": parts.task.chance, "breakdown": {"length": by_length} if by_length else {}}
                found.append(Reading(measure, measures[measure], count, part.low, part.high, **company, note=note))
        return found

    def probe(self, parts: Parts, evaluation: Evaluation) -> Probe:
        del evaluation
        problem = Classification(parts.training.task, parts.task, parts.protocol)
        _, batch = next(test_batches(problem.split("long")))
        strings = 2 * sum(getattr(parts.protocol, name) for name in SCORED)
        return Probe(lambda predictor: predictor.correct(batch), strings / TEST_ROWS, batch.tokens.size)

    def upgrade(self, setting: dict[str, Any], format: int, *, model: str) -> dict[str, Any]:
        if format == 1 and model.startswith("transformer"):  # whose optimiser was not a setting then
            setting["optimiser"] = "adamw"
        return setting

    def place(self, training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
        del evaluation
        return training.setting["terminals"], training.setting["distribution"]

    def cell_records(self, cell: Cell) -> list[Record]:
        return tables.records(cell)

    def layout(self, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
        return tables.layout(self, heading, cells)

    def measured(self, cell: Cell) -> list[Measured]:
        return tables.measured(cell)

    def glance(self, cells: Sequence[Cell]) -> Glance | None:
        return figures.glance(cells)

    def first_wrong(self, parts: Parts, predictor: Any, detail: Any) -> WrongString:
        del detail
        problem = Classification(parts.training.task, parts.task, parts.protocol)
        total = 0
        for name in ("test", "long"):
            split = problem.split(name)
            right = np.concatenate([predictor.correct(batch)[0, :count] for count, batch in test_batches(split)])
            wrong, total = np.flatnonzero(right == 0), total + len(split)
            if len(wrong):
                row = int(min(wrong, key=lambda row: split.lengths[row]))
                pairs = split.pairs().symbols(parts.task.input_alphabet, parts.task.output_alphabet)
                source, target = next(itertools.islice(pairs, row, None))
                other = tuple(symbol for symbol in parts.task.output_alphabet.symbols if (symbol,) != tuple(target))
                return WrongString(tuple(source), f"the split {name}", answer=other[:1], expected=tuple(target))
        return WrongString(None, f"all {total:,} test strings")

    def figures(self, heading: Heading, cells: Sequence[Cell]) -> list[AnyFigure]:
        del heading
        return figures.figures(self, cells)

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        settings, count = request.settings, request.count
        if request.length is not None:
            raise UsageError(
                f"--length {request.length}: a split has a range of lengths, not one. Leave --length out, or change "
                "the range with --set lengths=4,30 (--set long_lengths=31,100 for the split long)."
            )
        for key in settings:
            if key not in OF_DATA:
                raise unknown_name("setting of the data", key, OF_DATA)
        name = request.split or "train"
        if name not in (*SPLITS, EVERYTHING_SCORED):
            raise unknown_name("split", name, (*SPLITS, EVERYTHING_SCORED))
        changes = self.preset(request.preset).changes_for(request.task, "")
        protocol = settings_.changed(PseudoLanguages(terminals=(10,)), {**changes, **settings})
        if len(protocol.terminals) != 1:
            raise UsageError(f"--set terminals={settings['terminals']}: strings are drawn for one number of terminals.")
        language: Any = self.make_task(request.task, protocol, {})
        names = SCORED if name == EVERYTHING_SCORED else (name,)
        strings = 2 * sum(getattr(protocol, each) for each in names)
        if count is not None and count > strings:
            raise UsageError(
                f"--count {count}: the split {name} has {strings:,} strings. Use a smaller number, or a larger split: "
                f"--set {name}={-(-count // 2)} (positives, with as many negatives)."
            )
        drawn = (draw_split(language, each, request.seed, protocol.splits).pairs() for each in names)
        symbols = (pair for pairs in drawn for pair in pairs.symbols(language.input_alphabet, language.output_alphabet))
        yield from itertools.islice(symbols, count)


suites.register("syntax", version=1)(Syntax())
