"""Compositionality decomposed (Hupkes et al. 2020): is a model compositional?"""

from collections.abc import Iterator, Sequence
from typing import Any

from humboldt.core.identity import Evaluation, Member
from humboldt.languages import ProblemKind
from humboldt.measures.pcfg_set import VERSION
from humboldt.suites import catalogue
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bench import demo_part
from humboldt.suites.capabilities import ExampleRequest, OffersData, OffersWrongStrings, Split, WrongString
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.suites.files import FileRequest, OffersFiles, OutsideInput
from humboldt.suites.pcfg_set import answer, figures, files, interchange, records, scoring, tables
from humboldt.suites.pcfg_set.looks import look
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.suites.pcfg_set.protocol import CONTENDERS, PRESETS, TASKS, Compositionality
from humboldt.suites.presentation import Presentation
from humboldt.training.abilities import SearchesOutputs, WritesOutputs, lacks
from humboldt.training.base import Job, MemberRecipe, Recipe, Schedule

EVALUATIONS = {  # of each task's training
    "task_accuracy": ("accuracy", "localism", "functions", "string_lengths"),
    "systematicity": ("accuracy",),
    "productivity": ("accuracy",),
    "substitutivity_equally_distributed": ("substitutivity",),
    "substitutivity_primitive": ("substitutivity",),
    "overgeneralisation": ("overgeneralisation",),
}
SIZES = {"functions": "function_items", "string_lengths": "longer_items"}  # settings of one evaluation alone


class PcfgSet(AbstractSuite, OffersData, OffersFiles, OffersWrongStrings):
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
    position = 3
    bench_position = 50
    demo = (demo_part("task_accuracy"),)
    headline = "sequence_accuracy"
    evaluation = ("accuracy", VERSION)
    needs = (WritesOutputs,)
    presentation = Presentation(
        answers=answer.answers,
        records=records.records,
        layout=tables.layout,
        measured=records.measures_of,
        overview=figures.glance,
        figures=figures.figures,
        place=tables.place,
        shown=("rate",),
    )

    def trained_task(self, task: str) -> str:
        return "task_accuracy" if task == interchange.LOCALISM else task

    def evaluations(self, protocol: Compositionality, task: str) -> list[Evaluation]:
        evaluations = []
        for name in EVALUATIONS[task]:
            setting = {"longest_output": protocol.longest_output}
            if protocol.beam > 1:  # greedy outputs are what results had before there was this setting
                setting["beam"] = protocol.beam
            if name in SIZES:
                setting[SIZES[name]] = getattr(protocol, SIZES[name])
            if all(setting.values()):
                evaluations.append(Evaluation(name, setting, VERSION))
        return evaluations

    def check_plan(self, resolved: Resolved) -> None:
        engine = catalogue.engine_of(resolved.contender)
        if resolved.protocol.beam > 1 and SearchesOutputs not in engine.abilities:
            raise lacks(resolved.training.model, SearchesOutputs)

    def work(self, resolved: Resolved) -> str:
        return f"{resolved.protocol.epochs} epochs of a corpus of {resolved.task.size:,} expressions"

    def job(self, resolved: Resolved, members: Sequence[Member]) -> Job:
        protocol: Compositionality = resolved.protocol
        problem = scoring.problem_of(resolved)
        (rate,), warm_up = protocol.learning_rates, protocol.warm_up
        return Job(
            model=resolved.model,
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
                schedule=None if warm_up is None else Schedule(warm_up, decay=protocol.decay),
                shrink=protocol.shrink,
                kept=protocol.kept_epoch,
            ),
            members=tuple(MemberRecipe(member["seed"], rate) for member in members),
            milestone=look(problem),
        )

    def score(self, scoring_input: ScoringInput) -> list[MemberScore]:
        return scoring.score(scoring_input)

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> Expressions:
        del members
        return scoring.problem_of(resolved)

    def readings(
        self, resolved: Resolved, evaluation: Evaluation, scores: Sequence[MemberScore]
    ) -> list[ReportedNumber]:
        del resolved
        return scoring.readings(evaluation.name, scores)

    def probe(self, resolved: Resolved, evaluation: Evaluation) -> Probe:
        return scoring.probe(resolved, evaluation.name)

    def first_wrong(self, resolved: Resolved, predictor: Any, detail: Any) -> WrongString:
        del detail
        return scoring.first_wrong(resolved, predictor)

    def tasks_with_examples(self) -> list[str]:
        return [*catalogue.tasks(self), interchange.LOCALISM]

    def shared_splits(self, task: str) -> list[Split]:
        return [Split(part, part) for part in ("train", "validation", "test")]

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(self, request)

    def file_input(self, request: FileRequest) -> OutsideInput:
        return files.file_input(self, request)
