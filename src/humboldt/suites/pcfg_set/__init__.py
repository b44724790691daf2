"""Compositionality decomposed (Hupkes et al. 2020): is a model compositional?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.identity import Evaluation, Member, Training
from humboldt.languages import ProblemKind, tasks
from humboldt.languages.pcfg_set import num_functions
from humboldt.measures.pcfg_set import TESTS, VERSION, File, score_predictions
from humboldt.measures.statistics import share
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import (
    ExampleRequest,
    FileRequest,
    OffersData,
    OffersScore,
    OffersWrongStrings,
    WrongString,
)
from humboldt.suites.cells import Cell, Glance, Heading, Measured
from humboldt.suites.experiments import Experiment, Parts, Probe, Reading, Request, Scored, Scoring
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
FIRST_STRING = "chance: who always answers with the first string argument"
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
        names = map(self.trained_task, request.tasks)
        return super().plan(replace(request, tasks=tuple(dict.fromkeys(names))))

    def trained_task(self, task: str) -> str:
        return "task_accuracy" if task == data.LOCALISM else task

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

    def problem(self, parts: Parts, members: Sequence[Member]) -> Expressions:
        del members
        return _problem(parts)

    def readings(self, parts: Parts, evaluation: Evaluation, scored: Sequence[Scored]) -> list[Reading]:
        main = {"accuracy": "sequence_accuracy", "overgeneralisation": "overgeneralised"}
        main |= {"localism": "consistency", "substitutivity": "consistency"}
        found = []
        for measures, detail in scored:
            score, name = detail.get("score", {}), main.get(evaluation.name)
            for measure, value in measures.items():
                if measure != name:
                    found.append(Reading(measure, value))
                    continue
                n = score.get("n", len(_problem(parts).splits.test))
                part = share(round(value * n), n)
                parts_of = {
                    by: {key: one["value"] for key, one in shares.items()}
                    for by, shares in score.get("breakdowns", {}).items()
                }
                chance = measures.get("first_string")
                found.append(Reading(measure, value, n, part.low, part.high, chance, parts_of, FIRST_STRING))
        return found

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
        return data.pairs(request.task, request.split, request.count, request.seed, _data_changes(self, request))

    def score_file(self, request: FileRequest) -> dict[str, Any]:
        """Any expressions may be in the file: what they mean is known."""
        if request.settings:
            raise UsageError(
                f"--set {next(iter(request.settings))}: predictions for pcfg_set are compared with what their sources "
                "mean, for every corpus. Leave --set out."
            )
        test, twin = request.task, request.twin
        general = "substitutivity" if test in TASKS and test.startswith("substitutivity") else test
        if general not in TESTS:
            raise unknown_name("test of pcfg_set", test, TESTS)
        return score_predictions(general, File.read(request.only()), None if twin is None else File.read(twin))


def _data_changes(suite: PcfgSet, request: ExampleRequest) -> dict[str, Any]:
    """What a preset changes about the corpus, and what the user changes."""
    task = suite.trained_task(request.task)
    of_task = settings_.names(tasks.get(f"pcfg_set/{task}"))
    changes = suite.preset(request.preset).changes_for(task, "")
    return {**{key: value for key, value in changes.items() if key in of_task}, **request.settings}


def _problem(parts: Parts) -> Expressions:
    return Expressions(parts.task, parts.protocol, parts.model)


suites.register("pcfg_set", version=1)(PcfgSet())
