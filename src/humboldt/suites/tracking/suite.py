"""Word problems of groups: does a model keep state?"""

from collections.abc import Iterator, Sequence

from humboldt.core.identity import Member, Training
from humboldt.languages import ProblemKind
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.tracking.parts.own import OwnAutomaton, tracking_task
from humboldt.suites.bench import demo_part
from humboldt.suites.capabilities import ExampleRequest
from humboldt.suites.counting import AbstractCountingSuite, Scoring
from humboldt.suites.experiments import Resolved, Variation
from humboldt.suites.presentation import Presentation
from humboldt.suites.tracking import answer, figures, interchange, scoring, tables
from humboldt.suites.tracking.problem import States
from humboldt.suites.tracking.protocol import CONTENDERS, PRESETS, TASKS, StateTracking


class Tracking(AbstractCountingSuite):
    """The word problems of Merrill et al. (2024) and of the papers that followed them."""

    name = "tracking"
    paper = "Merrill et al. 2024, Grazzi et al. 2025, Siems et al. 2025, Terzić et al. 2025: word problems of groups"
    question = "Does it keep state?"
    measure = "right states, by symbol and by string"
    kind = ProblemKind.TRANSDUCTION
    protocol = StateTracking
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    position = 6
    bench_position = 30
    demo = (demo_part("s3"),)
    headline = "symbols"
    evaluation = ("states", scoring.VERSION)
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
        place=tables.place,
        shown=("inputs", "generators", "tokens_per_step", "supervision", "longest"),
    )

    def most_tokens(self, resolved: Resolved) -> int:
        protocol: StateTracking = resolved.protocol
        return max(protocol.longest[0], *protocol.scored_lengths()) * resolved.task.tokens_per_step

    def task_of_language(self, language: RegularLanguage | ContextFreeLanguage) -> type[OwnAutomaton]:
        return tracking_task(language)

    def work(self, resolved: Resolved) -> str:
        return f"{resolved.protocol.steps:,} steps of {resolved.protocol.batch_size} strings"

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> States:
        del members
        return States(resolved.task, resolved.protocol)

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(self, request)

    def variation(self, training: Training) -> Variation | None:
        return tables.variation(training)
