"""How an evaluation adds up."""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.bliss._base import Measure
from humboldt.languages.bliss._test_set import AbstractTestSet


class Scope(enum.Enum):
    """Over what M_det's margin is taken. The paper says both; see `Score`."""

    TEST_SET = "test set"
    STRING = "string"


@dataclass(frozen=True)
class Score:
    """One measure at one margin ε.

    **M_det**: a step is right if the model gives the one possible symbol a higher probability than any other symbol.
    Only deterministic steps count. Over the test set (section 5.3) the criterion is met if
    errors <= ε · steps, all strings taken together; per string (section 3.5) if that holds for each string by itself.

    **M_cat**: a step is right if p(x) > ε for every symbol x that can follow and p(x) <= ε for every other. Every step
    counts and every one must be right; ε is spent as a threshold, so that both scopes agree.

    - `errors`, `steps`: how many of the steps that were taken are wrong, each string counted by itself. All steps of
      the test set only if the evaluation is `complete`.
    - `first_failure`: the first string, in test order, that is not accepted by itself; `None` if all are.
    - `largest_accepted`: the size (n, n + m, or length) of the last string before it; 0 if there is none.
    """

    measure: Measure
    epsilon: float
    errors: int
    steps: int
    met_over_test_set: bool
    met_per_string: bool
    first_failure: str | None
    largest_accepted: int

    @property
    def accuracy(self) -> float:
        """Right steps among those taken."""
        return 1 - self.errors / self.steps

    def met(self, scope: Scope = Scope.TEST_SET) -> bool:
        """Whether the criterion is met."""
        return self.met_over_test_set if scope is Scope.TEST_SET else self.met_per_string


@dataclass(frozen=True)
class Assessment:
    """What one pass over a test set found.

    - `scores`: every measure that applies, at every margin.
    - `complete`: whether all of the test set was read. If not, every criterion had failed for certain before.
    - `symbols`: steps counted, each string by itself; `prefixes`: steps the model took, shared beginnings once.
    - `test_set_divergence`: the mean over those symbols of the Kullback-Leibler divergence, in bits, from the
      language's next-symbol distribution to the model's: Σ_x P(x | prefix) log2(P(x | prefix) / Q(x | prefix)). It is
      0 for the language itself alone, and infinite where the model rules out what can follow. Of an evaluation that is
      not `complete` it is the mean over the steps that were taken. Over the language instead of the test set:
      `excess_cross_entropy`, which is what results store as `excess_bits`.
    """

    scores: tuple[Score, ...]
    complete: bool
    symbols: int
    prefixes: int
    test_set_divergence: float

    def score(self, measure: Measure, epsilon: float) -> Score:
        """The score of one measure at one margin."""
        for score in self.scores:
            if score.measure is measure and score.epsilon == epsilon:
                return score
        known = ", ".join(f"{score.measure.value} at {score.epsilon:g}" for score in self.scores)
        raise UsageError(
            f"{measure.value} at epsilon {epsilon:g} was not measured: a language without deterministic steps has no "
            f"M_det, and margins are those asked for. Measured: {known}."
        )


class Tally:
    """Counts errors while an evaluation runs, and knows what is certain already.

    `errors` has a *counter* for M_det, whose errors do not depend on ε, and one for M_cat at each ε. A *criterion* is a
    measure at one margin: a counter with its error budgets. M_det has none where no step is deterministic.
    """

    def __init__(self, test_set: AbstractTestSet, epsilons: Sequence[float]) -> None:
        for epsilon in epsilons:
            if not 0 <= epsilon < 1:
                raise UsageError(f"Margin epsilon = {epsilon:g} is not in [0, 1). The paper uses 0.005 and 0.")
        if not epsilons:
            raise UsageError("No margin was given, so nothing would be measured. Give epsilons=(0.005, 0).")
        self.test_set = test_set
        self.margins = np.array(epsilons, np.float64)
        deterministic = test_set.deterministic_steps
        self.has_deterministic = bool(deterministic.any())
        self.num_counters = 1 + len(epsilons)
        self.errors = np.zeros(self.num_counters, np.int64)
        self.deterministic_seen = 0
        self.symbols = self.prefixes = 0
        self.divergence = 0.0
        self.criteria: list[tuple[Measure, float, int]] = []
        if self.has_deterministic:
            self.criteria += [(Measure.DETERMINISTIC, epsilon, 0) for epsilon in epsilons]
        self.criteria += [(Measure.CATEGORICAL, epsilon, 1 + i) for i, epsilon in enumerate(epsilons)]
        # Floats such as 0.005 are meant as the decimals they are written as.
        shares = [
            Fraction(str(epsilon)) if measure is Measure.DETERMINISTIC else Fraction(0)
            for measure, epsilon, _ in self.criteria
        ]
        total = int(deterministic.sum())
        self.budgets = np.array([int(share * total) for share in shares])
        self.string_budgets = np.array(
            [deterministic * share.numerator // share.denominator for share in shares]
        )  # (criteria, strings)
        self.counters = np.array([counter for *_, counter in self.criteria])
        self.first_failure = np.full(len(self.criteria), len(test_set))

    def may_fail_before(self, counter: int, place: int) -> bool:
        """Whether an error could make an earlier string than is known the first to fail, `place` being the earliest."""
        return bool((self.first_failure[self.counters == counter] > place).any())

    def fail(self, counter: int, places: np.ndarray) -> None:
        """Notes strings with an error: those with no budget for even one have failed, before they are at an end."""
        for criterion in np.flatnonzero(self.counters == counter):
            failed = places[self.string_budgets[criterion, places] == 0]
            self.first_failure[criterion] = failed.min(initial=self.first_failure[criterion])

    def finish(self, places: np.ndarray, errors: np.ndarray) -> None:
        """Notes strings that were read to the end, with their errors, shape `(counters, strings)`."""
        failed = errors[self.counters] > self.string_budgets[:, places]
        first = np.where(failed, places, len(self.test_set)).min(1)
        self.first_failure = np.minimum(self.first_failure, first)

    @property
    def settled(self) -> bool:
        """Whether every criterion has failed for certain, in both scopes."""
        over = self.errors[self.counters] > self.budgets
        return bool(over.all() and (self.first_failure < len(self.test_set)).all())

    @property
    def cutoff(self) -> int:
        """Strings from this place on cannot change which string fails first."""
        return int(self.first_failure.max())

    def result(self, complete: bool) -> Assessment:
        """The outcome."""
        scores = []
        for criterion, (measure, epsilon, counter) in enumerate(self.criteria):
            first = int(self.first_failure[criterion])
            scores.append(
                Score(
                    measure=measure,
                    epsilon=epsilon,
                    errors=int(self.errors[counter]),
                    steps=self.deterministic_seen if measure is Measure.DETERMINISTIC else self.symbols,
                    met_over_test_set=bool(self.errors[counter] <= self.budgets[criterion]),
                    met_per_string=first == len(self.test_set),
                    first_failure=None if first == len(self.test_set) else self.test_set[first],
                    largest_accepted=0 if first == 0 else self.test_set.language.size(self.test_set[first - 1]),
                )
            )
        bits = self.divergence / self.symbols
        return Assessment(
            scores=tuple(scores),
            complete=complete,
            symbols=self.symbols,
            prefixes=self.prefixes,
            # Rounding can leave a perfect model a hair below 0, which no divergence is.
            test_set_divergence=max(bits, 0.0) if not math.isnan(bits) else math.inf,
        )
