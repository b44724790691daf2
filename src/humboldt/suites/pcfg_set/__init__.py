"""Compositionality decomposed (Hupkes et al. 2020): is a model compositional?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from humboldt.errors import UsageError
from humboldt.identity import Evaluation, Member, Training
from humboldt.languages import ProblemKind
from humboldt.languages.pcfg_set import num_functions
from humboldt.measures.pcfg_set import VERSION, File, score_predictions
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite, Experiment, Parts, Probe, Request, Scored, Scoring
from humboldt.suites.capabilities import (
    ExampleRequest,
    OffersData,
    OffersScore,
    OffersWrongStrings,
    TextFile,
    WrongString,
)
from humboldt.suites.cells import Cell, Glance, Heading, Measured
from humboldt.suites.pcfg_set import data, figures, records, tables
from humboldt.suites.pcfg_set import scoring as scores
from humboldt.suites.pcfg_set.looks import look
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.suites.pcfg_set.protocol import CONTENDERS, PRESETS, TASKS, Compositionality
from humboldt.training.base import Job, MemberRecipe, Recipe, Schedule

SCORERS = {
    "accuracy": scores.accuracy,
    "localism": scores.localism,
    "substitutivity": scores.substitutivity,
    "overgeneralisation": scores.overgeneralisation,
    "functions": scores.functions,
    "string_lengths": scores.string_lengths,
}
EVALUATIONS = {  # of each task's training
    "task_accuracy": ("accuracy", "localism", "functions", "string_lengths"),
    "systematicity": ("accuracy",),
    "productivity": ("accuracy",),
    "substitutivity_equally_distributed": ("substitutivity",),
    "substitutivity_primitive": ("substitutivity",),
    "overgeneralisation": ("overgeneralisation",),
}
SIZES = {"functions": "function_items", "string_lengths": "longer_items"}  # settings of one evaluation alone
WRONG_TRIED = 500  # of the shortest test items, to find one that a member gets wrong
LENGTHS = 19  # of strings in the test of longer strings: 2 to 20
PROBED_SYMBOLS = 16  # of an output, in an estimate: about the mean of the targets


class PcfgSet(AbstractSuite, OffersData, OffersScore, OffersWrongStrings):
    """The suite of Hupkes et al. (2020)."""

    name = "pcfg_set"
    paper = "Hupkes et al. 2020, Compositionality decomposed: how do neural networks generalise?"
    question = "Is it compositional?"
    measure = "sequence accuracy, consistency"
    kind = ProblemKind.SEQUENCE_TO_SEQUENCE
    protocol = Compositionality
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    demo = Request(("task_accuracy",), ("conv_s2s",))
    headline = "sequence_accuracy"
    evaluation = ("accuracy", VERSION)
    told = ("rate",)

    def plan(self, request: Request) -> list[Experiment]:
        """Localism is asked of the models of task_accuracy: who asks for it means these."""
        names = ("task_accuracy" if name == data.LOCALISM else name for name in request.tasks)
        return super().plan(replace(request, tasks=tuple(dict.fromkeys(names))))

    def members(self, parts: Parts) -> list[Member]:
        return [{"seed": seed} for seed in range(parts.protocol.seeds)]

    def evaluations(self, protocol: Compositionality, task: str) -> list[Evaluation]:
        found = []
        for name in EVALUATIONS[task]:
            setting = {"longest_output": protocol.longest_output}
            if name in SIZES:
                setting[SIZES[name]] = getattr(protocol, SIZES[name])
            if all(setting.values()):
                found.append(Evaluation(name, setting, VERSION))
        return found

    def work(self, parts: Parts) -> str:
        return f"{parts.protocol.epochs} epochs of a corpus of {parts.task.size:,} expressions"

    def job(self, parts: Parts, members: Sequence[Member]) -> Job:
        protocol: Compositionality = parts.protocol
        problem = _problem(parts)
        warm_up = protocol.warm_up
        return Job(
            model=parts.model,
            problem=problem,
            recipe=Recipe(
                steps=problem.steps,
                optimiser=protocol.optimiser,
                betas=(0.9, protocol.second_beta),
                momentum=protocol.momentum,
                nesterov=protocol.momentum > 0,
                gradient_clip=protocol.gradient_clip,
                precision=protocol.precision,
                loss="sum" if protocol.loss_per == "item" else "pooled",
                schedule=None if warm_up is None else Schedule(warm_up),
                shrink=protocol.shrink,
            ),
            members=tuple(MemberRecipe(member["seed"], protocol.learning_rate) for member in members),
            milestone=look(problem),
        )

    def score(self, scoring: Scoring) -> list[Scored]:
        return SCORERS[scoring.evaluation.name](_problem(scoring.parts), scoring)

    def probe(self, parts: Parts, evaluation: Evaluation) -> Probe:
        problem, protocol, functions = _problem(parts), parts.protocol, parts.task.language.functions
        test = problem.splits.test.sources
        batches = [batch for _, batch in problem.asked_batches(problem.vocabulary.sources(test))]
        asked = {
            "localism": sum(map(num_functions, test)),
            "substitutivity": 2 * len(test),
            "functions": protocol.function_items * len(functions),
            "string_lengths": protocol.longer_items * LENGTHS * sum(function.arity for function in functions),
        }.get(evaluation.name, len(test))
        batch = batches[len(batches) // 2]
        return Probe(lambda predictor: predictor.outputs(batch, PROBED_SYMBOLS), asked / len(test) * len(batches))

    def place(self, training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
        del evaluation
        return (training.setting["task"]["rate"],) if training.task == "overgeneralisation" else ()

    def cell_records(self, cell: Cell) -> list[Record]:
        return records.records(cell)

    def layout(self, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
        return tables.layout(self, heading, cells)

    def measured(self, cell: Cell) -> list[Measured]:
        return records.measures_of(cell)

    def glance(self, cells: Sequence[Cell]) -> Glance | None:
        return figures.glance(cells)

    def first_wrong(self, parts: Parts, predictor: Any, detail: Any) -> WrongString:
        del detail
        problem = _problem(parts)
        test = problem.splits.test
        order = sorted(range(len(test)), key=lambda i: len(test.sources[i].split()))[:WRONG_TRIED]
        sources = [test.sources[i] for i in order]
        (outputs,) = problem.outputs(predictor, sources, lambda count: None)
        for place, source, output in zip(order, sources, outputs, strict=True):
            if output != test.targets[place]:
                words = tuple(source.split()), tuple(output.split()), tuple(test.targets[place].split())
                return WrongString(words[0], "the shortest test items", answer=words[1], expected=words[2])
        return WrongString(None, f"the {len(order):,} shortest test items")

    def figures(self, heading: Heading, cells: Sequence[Cell]) -> list[AnyFigure]:
        del heading
        return figures.figures(self, cells)

    def tasks_with_examples(self) -> list[str]:
        return [*self.tasks(), data.LOCALISM]

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        if request.length is not None:
            raise UsageError(
                f"--length {request.length}: a corpus has expressions of many lengths, distributed as in the paper. "
                "Leave --length out, or bound the nesting of functions with --set deepest=2."
            )
        return data.pairs(request.task, request.split, request.count, request.seed, request.settings)

    def score_file(self, test: str, predictions: TextFile, *, twin: TextFile | None) -> dict[str, Any]:
        general = "substitutivity" if test in TASKS and test.startswith("substitutivity") else test
        files = [None if file is None else File.tsv(file.name, file.lines) for file in (predictions, twin)]
        return score_predictions(general, files[0], files[1])  # pyright: ignore[reportArgumentType]


def _problem(parts: Parts) -> Expressions:
    return Expressions(parts.task, parts.protocol, parts.model)


suites.register("pcfg_set", version=1)(PcfgSet())
