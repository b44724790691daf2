"""The common part of suites that count right answers: from protocol to job, and from counts to reported numbers."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from humboldt.core.identity import Evaluation, Member
from humboldt.measures.statistics import share
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import OffersCheck, OffersData, OffersWrongStrings, WrongString
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.training.abilities import CountsRight
from humboldt.training.base import AbstractProblem, Job, MemberRecipe, Recipe, warm_up


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """The functions that score a suite whose evaluations differ only in settings, gathered as data."""

    score: Callable[[ScoringInput], list[MemberScore]]
    readings: Callable[[Resolved, Sequence[MemberScore]], list[ReportedNumber]]
    probe: Callable[[Resolved], Probe]
    first_wrong: Callable[[Resolved, Any], WrongString]


class AbstractCountingSuite(AbstractSuite, OffersData, OffersCheck, OffersWrongStrings):
    """A suite that counts right answers. Its members differ in seed and learning rate. Subclasses declare `scoring` and
    define `problem` and `examples`; those whose protocol has a further recipe override `recipe`."""

    needs = (CountsRight,)
    scoring: ClassVar[Scoring]

    @abstractmethod
    def problem(self, resolved: Resolved, members: Sequence[Member]) -> AbstractProblem:
        """Builds the data that members are trained on."""

    def recipe(self, resolved: Resolved) -> Recipe:
        """Returns the recipe of a protocol with steps, optimiser, gradient clipping, precision and warm-up."""
        protocol = resolved.protocol
        return Recipe(
            steps=protocol.steps,
            optimiser=protocol.optimiser,
            gradient_clip=protocol.gradient_clip,
            precision=protocol.precision,
            schedule=warm_up(protocol.warm_up),
        )

    def job(self, resolved: Resolved, members: Sequence[Member]) -> Job:
        return Job(
            model=resolved.model,
            problem=self.problem(resolved, members),
            recipe=self.recipe(resolved),
            members=tuple(MemberRecipe(**member) for member in members),
        )

    def score(self, scoring_input: ScoringInput) -> list[MemberScore]:
        return self.scoring.score(scoring_input)

    def readings(
        self, resolved: Resolved, evaluation: Evaluation, scores: Sequence[MemberScore]
    ) -> list[ReportedNumber]:
        del evaluation
        return self.scoring.readings(resolved, scores)

    def probe(self, resolved: Resolved, evaluation: Evaluation) -> Probe:
        del evaluation
        return self.scoring.probe(resolved)

    def first_wrong(self, resolved: Resolved, predictor: Any, detail: Mapping[str, Any]) -> WrongString:
        del detail
        return self.scoring.first_wrong(resolved, predictor)


def accuracy_number(measure: str, value: float, count: int, **further: Any) -> ReportedNumber:
    """Returns an accuracy over `count` independent answers with its Wilson interval. `further`: other fields of the
    reported number."""
    part = share(round(value * count), count)
    return ReportedNumber(measure=measure, value=value, n=count, low=part.low, high=part.high, **further)


def by_place(places: Iterable[int], values: Iterable[float]) -> dict[str, float]:
    """Returns the values of a curve by their place (a length, a distance), as breakdowns of reported numbers have
    them."""
    return dict(zip(map(str, places), values, strict=True))
