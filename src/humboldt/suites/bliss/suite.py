"""Benchmarking neural network generalization for grammar induction (Lan et al. 2023): how much from how little?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt.core.identity import Evaluation, Member
from humboldt.core.stepping import STATE_BYTES
from humboldt.errors import UsageError
from humboldt.languages import ProblemKind
from humboldt.languages.bliss.parts.own import OwnLanguage, bliss_task
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.measures.bliss import sizes
from humboldt.suites.base import AbstractSuite, distinct
from humboldt.suites.bench import demo_part
from humboldt.suites.bliss import answer, figures, files, interchange, scoring, tables
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.bliss.protocol import CONTENDERS, PRESETS, TASKS, Induction
from humboldt.suites.capabilities import ExampleRequest, OffersCheck, OffersData, OffersWrongStrings, Split, WrongString
from humboldt.suites.experiments import MemberScore, ReportedNumber, Request, Resolved, ScoringInput
from humboldt.suites.files import FileRequest, OffersFiles, OutsideInput
from humboldt.suites.presentation import Presentation
from humboldt.training.abilities import ReadsSymbols
from humboldt.training.base import Job, MemberRecipe, Recipe, warm_up


class Bliss(AbstractSuite, OffersData, OffersCheck, OffersFiles, OffersWrongStrings):
    """The suite of Lan et al. (2023)."""

    name = "bliss"
    paper = "Lan et al. 2023, Benchmarking neural network generalization for grammar induction"
    question = "How much is learnt from how little?"
    measure = "B-index"
    kind = ProblemKind.NEXT_SYMBOL
    protocol = Induction
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    position = 2
    bench_position = 60
    demo = (demo_part("an_bn"), Request(("an_bn",), ("mdlrnn",)))  # a network that is found by search counts
    data_options = ("after", "format")
    headline = "largest_n"
    evaluation = ("criteria", 1)
    needs = (ReadsSymbols,)
    presentation = Presentation(
        answers=answer.answers,
        records=tables.records,
        layout=tables.layout,
        measured=tables.measured,
        overview=figures.glance,
        figures=figures.figures,
        shown=("factor",),
    )

    def task_of_language(self, language: RegularLanguage | ContextFreeLanguage) -> type[OwnLanguage]:
        return bliss_task(language)

    def members(self, resolved: Resolved) -> list[Member]:
        return list(resolved.protocol.members())

    def member_settings(self, protocol: Induction, members: Sequence[Member]) -> dict[str, Any]:
        seeds, strengths = distinct(members, "seed"), [m for m in members if m.get("penalty") != "none"]
        of_seeds = {"seeds": len(seeds), "first_seed": min(seeds, default=protocol.first_seed)}
        penalised = {"strengths": distinct(strengths, "strength")} if strengths else {}
        return {**of_seeds, "penalties": distinct(members, "penalty"), **penalised}

    def check_plan(self, resolved: Resolved) -> None:
        resolved.task.check_prior(resolved.protocol.p)
        if hasattr(resolved.model, "state_bytes"):
            (factor,) = resolved.protocol.factors
            count = sizes(factor, resolved.protocol.order).test
            longest = int(resolved.task.test_set(after=0, count=count).lengths.max())
            size = resolved.model.state_bytes(longest)
            if size > STATE_BYTES:
                raise UsageError(
                    f"{resolved.contender.title} cannot be tested on {resolved.training.task}: the longest test string "
                    f"has at least {longest:,} symbols, for which its memory takes {size / 2**30:,.1f} GB. Leave out "
                    "this model, or use a smaller order."
                )

    def is_repetition(self, resolved: Resolved, sweep: Mapping[str, tuple[Any, ...]]) -> bool:
        """Returns whether a smaller stack of the sweep holds the corpus too."""
        smaller = [size for size in sweep.get("stack_size", ()) if size < resolved.model.stack_size]
        if not smaller:  # a corpus takes a while to draw
            return False
        return len(NextSymbol(resolved.task, resolved.protocol).corpus.last) + 1 < max(smaller)

    def work(self, resolved: Resolved) -> str:
        (factor,) = resolved.protocol.factors
        size = sizes(factor, resolved.protocol.order)
        generations = getattr(resolved.model, "generations", None)  # of a model that is searched for
        effort = f"at most {generations:,} generations on" if generations else f"{resolved.protocol.epochs:,} epochs of"
        return f"{effort} {size.train:,} strings, then {size.test:,} tests"

    def job(self, resolved: Resolved, members: Sequence[Member]) -> Job:
        protocol: Induction = resolved.protocol
        problem = NextSymbol(resolved.task, protocol, f"bliss/{resolved.training.task}")

        (rate,) = protocol.learning_rates

        def recipe(member: Member) -> MemberRecipe:
            strengths = {member["penalty"]: member["strength"]}
            return MemberRecipe(member["seed"], rate, strengths.get("l1", 0.0), strengths.get("l2", 0.0))

        return Job(
            model=resolved.model,
            problem=problem,
            recipe=Recipe(
                steps=protocol.epochs * problem.steps_per_epoch,
                optimiser=protocol.optimiser,
                gradient_clip=protocol.gradient_clip,
                schedule=warm_up(protocol.warm_up),
            ),
            members=tuple(map(recipe, members)),
        )

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> NextSymbol:
        del members
        return NextSymbol(resolved.task, resolved.protocol, f"bliss/{resolved.training.task}")

    def score(self, scoring_input: ScoringInput) -> list[MemberScore]:
        return scoring.score(scoring_input)

    def readings(
        self, resolved: Resolved, evaluation: Evaluation, scores: Sequence[MemberScore]
    ) -> list[ReportedNumber]:
        del evaluation
        return scoring.readings(resolved, scores)

    def first_wrong(self, resolved: Resolved, predictor: Any, detail: Mapping[str, Any]) -> WrongString | None:
        del resolved, predictor
        return scoring.first_wrong(detail)

    def shared_splits(self, task: str) -> list[Split]:
        return [Split(part, part, {"factors": 1}) for part in ("train", "test")]

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(self, request)

    def file_input(self, request: FileRequest) -> OutsideInput:
        return files.file_input(self, request)
