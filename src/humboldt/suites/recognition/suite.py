"""Training neural networks as recognizers of formal languages (Butoi et al. 2025): in or out?"""

from collections.abc import Iterator, Sequence
from typing import Any

from humboldt.core.identity import Evaluation, Member
from humboldt.languages import ProblemKind
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import ExampleRequest, OffersData, OffersWrongStrings, WrongString
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Request, Resolved, ScoringInput
from humboldt.suites.presentation import Presentation
from humboldt.suites.recognition import figures, interchange, scoring, tables
from humboldt.suites.recognition.problem import Recognition as Problem
from humboldt.suites.recognition.protocol import CONTENDERS, PRESETS, SCORED, TASKS, Recognisers
from humboldt.training.abilities import CountsRight
from humboldt.training.base import Job, MemberRecipe, Recipe


class Recognition(AbstractSuite, OffersData, OffersWrongStrings):
    """The suite of Butoi et al. (2025)."""

    name = "recognition"
    paper = "Butoi et al. 2025, Training neural networks as recognizers of formal languages (FLaRe)"
    question = "In or out?"
    measure = "accuracy by length and by edit distance"
    kind = ProblemKind.CLASSIFICATION
    protocol = Recognisers
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    position = 7
    demo = (Request(("parity",), ("lstm",), settings={"epochs": 5}),)  # enough here
    headline = "test"
    evaluation = ("accuracy", scoring.VERSION)
    needs = (CountsRight,)
    presentation = Presentation(
        records=tables.records,
        layout=tables.layout,
        measured=tables.measured,
        overview=figures.glance,
        figures=figures.figures,
    )
    test_sets = SCORED

    def most_tokens(self, resolved: Resolved) -> int:
        return max(resolved.protocol.longest_validation, resolved.protocol.longest_test) + 1  # and the end mark

    def work(self, resolved: Resolved) -> str:
        return f"{resolved.protocol.epochs} epochs of {resolved.protocol.train:,} strings"

    def job(self, resolved: Resolved, members: Sequence[Member]) -> Job:
        protocol: Recognisers = resolved.protocol
        return Job(
            model=resolved.model,
            problem=self.problem(resolved, members),
            recipe=Recipe(steps=protocol.steps, gradient_clip=protocol.gradient_clip, precision=protocol.precision),
            members=tuple(MemberRecipe(**member) for member in members),
        )

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> Problem:
        del members
        return Problem(resolved.training.task, resolved.task, resolved.protocol)

    def score(self, scoring_input: ScoringInput) -> list[MemberScore]:
        return scoring.score(scoring_input)

    def readings(
        self, resolved: Resolved, evaluation: Evaluation, scores: Sequence[MemberScore]
    ) -> list[ReportedNumber]:
        del evaluation
        return scoring.readings(resolved, scores)

    def probe(self, resolved: Resolved, evaluation: Evaluation) -> Probe:
        del evaluation
        return scoring.probe(resolved)

    def first_wrong(self, resolved: Resolved, predictor: Any, detail: Any) -> WrongString:
        del detail
        return scoring.first_wrong(resolved, predictor)

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(self, request)
