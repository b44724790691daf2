"""Neural networks and the Chomsky hierarchy (Delétang et al. 2023): does a model run on longer inputs?"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from humboldt.core.identity import Member, Training
from humboldt.languages import ProblemKind
from humboldt.languages.chomsky.parts.own import WhichState, chomsky_task
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.measures.accuracy import VERSION
from humboldt.suites import catalogue, conformance
from humboldt.suites.bench import demo_part
from humboldt.suites.capabilities import (
    ExampleRequest,
)
from humboldt.suites.chomsky import answer, figures, interchange, scoring, tables
from humboldt.suites.chomsky.problem import (
    Transduction,
    check_answers,
    check_framing,
    most_tokens,
    training_lengths,
)
from humboldt.suites.chomsky.protocol import CONTENDERS, PRESETS, TABLE_B6, TASKS, LengthGeneralisation
from humboldt.suites.counting import AbstractCountingSuite, Scoring
from humboldt.suites.experiments import Resolved, Variation
from humboldt.suites.own_tasks import register_language
from humboldt.suites.presentation import Presentation
from humboldt.training.base import Recipe


class Chomsky(AbstractCountingSuite):
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
    bench_position = 70
    demo = (demo_part("parity_check", "reverse_string"),)
    headline = "score"
    evaluation = ("score", VERSION)
    scoring = Scoring(
        score=scoring.score,
        readings=scoring.readings,
        probe=scoring.probe,
        first_wrong=scoring.first_wrong,
    )
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
        """Returns whether answers leave no place for computation tokens, which would come before them."""
        del sweep
        return resolved.task.answers_at_every_step and resolved.protocol.computation_tokens > 0

    def variation(self, training: Training) -> Variation | None:
        """Returns the variation of Table B.6 for more than five layers, the number that Table 2 has, too."""
        names = (*TABLE_B6, "positions")
        own = {name: training.flat.get(name) for name in names}
        is_printed = training.model == "transformer_encoder" and own["positions"] == "relative"
        if not is_printed or own["num_layers"] == 5 or any(own[name] not in TABLE_B6[name] for name in TABLE_B6):
            return None
        return Variation(own, LengthGeneralisation().seeds)

    def task_of_language(self, language: RegularLanguage | ContextFreeLanguage) -> type[WhichState]:
        return chomsky_task(language)

    def work(self, resolved: Resolved) -> str:
        return f"{resolved.protocol.steps:,} steps of {resolved.protocol.batch_size} strings"

    def recipe(self, resolved: Resolved) -> Recipe:
        return resolved.protocol.recipe()

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> Transduction:
        del members
        return Transduction(resolved.task, resolved.protocol)

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(self, request)

    def check(
        self, task: str, lines: Sequence[str], settings: Mapping[str, Any] = MappingProxyType({})
    ) -> conformance.Report:
        from humboldt.suites.chomsky.conformance.check import check_file

        task = register_language(self, task)
        catalogue.check_task(self, task)
        return check_file(task, lines, settings)
