"""Neural networks and the Chomsky hierarchy (Delétang et al. 2023): does a model run on longer inputs?"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from humboldt.core.identity import Evaluation, Member
from humboldt.languages import ProblemKind
from humboldt.languages.chomsky.parts.own import WhichState, chomsky_task
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.measures.accuracy import VERSION
from humboldt.suites import catalogue, conformance
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bench import demo_part
from humboldt.suites.capabilities import (
    ExampleRequest,
    OffersCheck,
    OffersData,
    OffersWrongStrings,
    WrongString,
)
from humboldt.suites.chomsky import answer, figures, interchange, scoring, tables
from humboldt.suites.chomsky.problem import (
    Transduction,
    check_answers,
    check_framing,
    most_tokens,
    training_lengths,
)
from humboldt.suites.chomsky.protocol import CONTENDERS, PRESETS, TASKS, LengthGeneralisation
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.suites.own_tasks import register_language
from humboldt.suites.presentation import Presentation
from humboldt.training.abilities import CountsRight
from humboldt.training.base import Job, MemberRecipe


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
    position = 1
    demo = (demo_part("parity_check", "reverse_string"),)
    headline = "score"
    evaluation = ("score", VERSION)
    needs = (CountsRight,)
    presentation = Presentation(
        answers=answer.answers,
        records=tables.records,
        layout=tables.layout,
        measured=tables.measured,
        overview=figures.glance,
        figures=figures.figures,
        figures_across=figures.across,
        place=tables.place,
        shown=("autoregressive",),
        shown_of=tables.shown_of,
    )

    def check_plan(self, resolved: Resolved) -> None:
        training_lengths(resolved.task, resolved.protocol)
        check_answers(resolved.task, resolved.protocol)
        check_framing(resolved.task, resolved.protocol)

    def most_tokens(self, resolved: Resolved) -> int:
        return most_tokens(resolved.task, resolved.protocol)

    def is_repetition(self, resolved: Resolved, sweep: Mapping[str, tuple[Any, ...]]) -> bool:
        """Returns whether computation tokens, which come before the answers, have no place."""
        del sweep
        return resolved.task.answers_at_every_step and resolved.protocol.computation_tokens > 0

    def task_of_language(self, language: RegularLanguage | ContextFreeLanguage) -> type[WhichState]:
        return chomsky_task(language)

    def work(self, resolved: Resolved) -> str:
        return f"{resolved.protocol.steps:,} steps of {resolved.protocol.batch_size} strings"

    def job(self, resolved: Resolved, members: Sequence[Member]) -> Job:
        protocol: LengthGeneralisation = resolved.protocol
        return Job(
            model=resolved.model,
            problem=self.problem(resolved, members),
            recipe=protocol.recipe(),
            members=tuple(MemberRecipe(**member) for member in members),
        )

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> Transduction:
        del members
        return Transduction(resolved.task, resolved.protocol)

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

    def check(
        self, task: str, lines: Sequence[str], settings: Mapping[str, Any] = MappingProxyType({})
    ) -> conformance.Report:
        from humboldt.suites.chomsky.conformance.check import check_file

        task = register_language(self, task)
        catalogue.check_task(self, task)
        return check_file(task, lines, settings)
