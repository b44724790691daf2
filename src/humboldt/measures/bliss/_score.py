"""Scores of an evaluation, and the tally from which they are computed."""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.bliss.base import Measure
from humboldt.languages.bliss.parts.test_set import AbstractTestSet


class Scope(enum.Enum):
    """The steps to which M_det's margin applies. The paper has both definitions; see `Score`."""

    TEST_SET = "test set"
    STRING = "string"


@dataclass(frozen=True)
class Score:
    """One measure at one margin ε.

    **M_det**: a step is right if the model gives the only possible symbol a higher probability than any other symbol.
    Only deterministic steps count. Over the test set (section 5.3) the criterion is met if
    errors <= ε · steps for all strings together; per string (section 3.5) if that holds for each string separately.

    **M_cat**: a step is right if p(x) > ε for every symbol x that can follow and p(x) <= ε for every other. Every step
    counts and every one must be right; ε is used up as a threshold, so that both scopes agree.

    - `errors`, `steps`: the number of wrong steps among those taken, and their number, each string counted separately.
      They cover the whole test set only if the evaluation is `complete`.
    - `first_failure`: the first string, in test order, that is not accepted; `None` if all are.
    - `largest_accepted`: the size (n, n + m, or length) of the previous string; 0 if there is none.
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
        """The share of right steps among those taken."""
        return 1 - self.errors / self.steps

    def met(self, scope: Scope = Scope.TEST_SET) -> bool:
        """Returns whether the criterion is met."""
        return self.met_over_test_set if scope is Scope.TEST_SET else self.met_per_string


@dataclass(frozen=True)
class Assessment:
    """The results of one pass over a test set.

    - `scores`: every measure that applies, at every margin.
    - `complete`: whether all of the test set was read. If not, all criteria had certainly failed before.
    - `symbols`: number of steps, each string counted separately; `prefixes`: steps of the model, shared prefixes once.
    - `test_set_divergence`: the mean over those symbols of the Kullback-Leibler divergence, in bits, from the
      language's next-symbol distribution to the model's: Σ_x P(x | prefix) log2(P(x | prefix) / Q(x | prefix)). It is
      0 only for the language itself, and infinite if the model rules out a symbol that can follow. If the evaluation is
      not `complete` it is the mean over the steps that were taken. `excess_cross_entropy` is the same over the language
      instead of the test set; results store it as `excess_bits`.
    """

    scores: tuple[Score, ...]
    complete: bool
    symbols: int
    prefixes: int
    test_set_divergence: float

    def score(self, measure: Measure, epsilon: float) -> Score:
        """Returns the score of one measure at one margin."""
        for score in self.scores:
            if score.measure is measure and score.epsilon == epsilon:
                return score
        known = ", ".join(f"{score.measure.value} at {score.epsilon:g}" for score in self.scores)
        raise UsageError(
            f"{measure.value} at epsilon {epsilon:g} was not measured: a language without deterministic steps has no "
            f"M_det, and margins are those requested. Measured: {known}."
        )


class Tally:
    """Counts errors during an evaluation, and determines which criteria have certainly failed.

    `errors` has a *counter* for M_det, whose errors do not depend on ε, and one for M_cat at each ε. A *criterion* is a
    measure at one margin: a counter with its error budgets. M_det has none if no step is deterministic.
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
        # Floats such as 0.005 are read as exact decimals.
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
        """Returns whether an error at `place` or later could move the first failure of a criterion to an earlier
        string.
        """
        return bool((self.first_failure[self.counters == counter] > place).any())

    def fail(self, counter: int, places: np.ndarray) -> None:
        """Records strings with an error: those with a budget of 0 have failed, even if not read to the end."""
        for criterion in np.flatnonzero(self.counters == counter):
            failed = places[self.string_budgets[criterion, places] == 0]
            self.first_failure[criterion] = failed.min(initial=self.first_failure[criterion])

    def finish(self, places: np.ndarray, errors: np.ndarray) -> None:
        """Records strings that were read to the end, with their errors, shape `(counters, strings)`."""
        failed = errors[self.counters] > self.string_budgets[:, places]
        first = np.where(failed, places, len(self.test_set)).min(1)
        self.first_failure = np.minimum(self.first_failure, first)

    @property
    def settled(self) -> bool:
        """Whether every criterion has certainly failed, in both scopes."""
        over = self.errors[self.counters] > self.budgets
        return bool(over.all() and (self.first_failure < len(self.test_set)).all())

    @property
    def cutoff(self) -> int:
        """The place from which on strings cannot change the first failures."""
        return int(self.first_failure.max())

    def result(self, complete: bool) -> Assessment:
        """Returns the scores and the divergence."""
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
            # Rounding errors can put a perfect model slightly below 0, the lower bound of a divergence.
            test_set_divergence=max(bits, 0.0) if not math.isnan(bits) else math.inf,
        )
