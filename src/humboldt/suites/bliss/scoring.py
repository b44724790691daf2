"""How one trained member is scored."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from humboldt.languages.bliss import Measure
from humboldt.measures.bliss import Evaluation, Score, Stepper, evaluate, excess_cross_entropy
from humboldt.suites.bliss.problem import NextSymbol

STRICT, LENIENT = 0.0, 0.005  # section 5.3
SMALLEST_PREFIX = 1e-4  # that the cross-entropy is summed over: most of the language, in little time
MakeStepper = Callable[[int], tuple[Stepper, int]]


def name(kind: str, epsilon: float) -> str:
    """The name under which a verdict is stored: `met_0.005`, `met_per_string_0`."""
    return f"{kind}_{epsilon:g}"


class Scorer:
    """Scores members one after the other. A member that exceeds a budget of errors is read no further; one that keeps
    within it is read to the end, which may be 10^8 symbols."""

    def __init__(self, problem: NextSymbol) -> None:
        self.language, self.protocol = problem.language, problem.protocol
        self.test_set = self.language.test_set(after=problem.corpus, count=problem.sizes.test)

    @cached_property
    def longest(self) -> int:
        """Symbols of the longest test string."""
        return int(self.test_set.lengths.max())

    def score(self, make_stepper: MakeStepper) -> tuple[dict[str, float], dict[str, Any]]:
        """Measures and details of one member. `make_stepper` is given the length of the longest string."""
        stepper, rows = make_stepper(self.longest)
        measures: dict[str, float] = {}
        detail: dict[str, Any] = {"scores": []}

        def read(epsilon: float) -> None:
            found = evaluate(self.test_set, stepper, epsilons=(epsilon,), most_rows=rows)
            score = found.score(self.language.measure, epsilon)
            measures[name("met", epsilon)] = float(score.met_over_test_set)
            measures[name("met_per_string", epsilon)] = float(score.met_per_string)
            detail["scores"] += [_described(score, found) for score in found.scores]

        # One margin at a time: the strict one alone is decided by the first error.
        read(STRICT)
        if measures[name("met", STRICT)] and self.language.measure is Measure.DETERMINISTIC:
            for kind in ("met", "met_per_string"):  # no error at all is within any budget
                measures[name(kind, LENIENT)] = 1.0
        else:
            read(LENIENT)
        measures["largest_n"] = self._largest(make_stepper)
        excess = excess_cross_entropy(self.language, stepper, self.protocol.p, smallest=SMALLEST_PREFIX)
        if np.isfinite(excess.bits_per_symbol):
            measures["excess_bits"] = excess.bits_per_symbol
            detail["excess_coverage"] = excess.coverage
        return measures, detail

    def _largest(self, make_stepper: MakeStepper) -> int:
        """The size up to which every string is accepted, from the shortest on, 10^N strings at most (figure 3).

        At ε = 0, but a softmax rules nothing out: M_cat is taken at its own margin.
        """
        epsilon = STRICT if self.language.measure is Measure.DETERMINISTIC else LENIENT
        test_set = self.language.test_set(after=0, count=10**self.protocol.order)
        stepper, rows = make_stepper(int(test_set.lengths.max()))
        found = evaluate(test_set, stepper, epsilons=(epsilon,), most_rows=rows)
        return found.score(self.language.measure, epsilon).largest_accepted


def _described(score: Score, found: Evaluation) -> dict[str, Any]:
    return {
        "measure": score.measure.value,
        "epsilon": score.epsilon,
        "errors": score.errors,
        "steps": score.steps,
        "met_over_test_set": score.met_over_test_set,
        "met_per_string": score.met_per_string,
        "first_failure": score.first_failure,
        "largest_accepted": score.largest_accepted,
        "complete": found.complete,
    }
