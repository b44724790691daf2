"""How one trained member is scored."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from humboldt.languages.bliss import AbstractDyck, Measure
from humboldt.measures.bliss import LONGEST, Assessment, Score, Stepper, evaluate, excess_cross_entropy, reach
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.training.base import AbstractPredictor

STRICT, LENIENT = 0.0, 0.005  # section 5.3
SMALLEST_PREFIX = 1e-4  # that the cross-entropy is summed over: most of the language, in little time
MakeStepper = Callable[[int], tuple[Stepper, int]]


def name(kind: str, epsilon: float) -> str:
    """The name under which a verdict is stored: `met_0.005`, `met_per_string_0`."""
    return f"{kind}_{epsilon:g}"


def proofs(
    predictor: AbstractPredictor, member: int, task: str, measure: Measure
) -> tuple[dict[str, float], dict[str, Any]]:
    """Whether a member is right about every string, at both margins, where its engine and the language allow proofs.

    Measures: 1 for proved, 0 for refuted, nothing for unknown. Details: the verdicts by margin.
    """
    if not predictor.offers("verdict"):
        return {}, {}
    verdicts = {
        epsilon: predictor.verdict(member, language=f"bliss/{task}", measure=measure.value, epsilon=epsilon)
        for epsilon in (STRICT, LENIENT)
    }
    told = {epsilon: verdict for epsilon, verdict in verdicts.items() if verdict is not None}
    measures = {
        name("proved", epsilon): float(verdict["verdict"] == "Proved")
        for epsilon, verdict in told.items()
        if verdict["verdict"] != "Unknown"
    }
    return measures, {"proofs": {f"{epsilon:g}": verdict for epsilon, verdict in told.items()}} if told else {}


class Scorer:
    """Scores members one after the other. A member that exceeds a budget of errors is read no further; one that keeps
    within it is read to the end, which may be 10^8 symbols."""

    def __init__(self, problem: NextSymbol) -> None:
        self.language, self.protocol, self.corpus = problem.language, problem.protocol, problem.corpus
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
            assessment = evaluate(self.test_set, stepper, epsilons=(epsilon,), most_rows=rows)
            score = assessment.score(self.language.measure, epsilon)
            measures[name("met", epsilon)] = float(score.met_over_test_set)
            measures[name("met_per_string", epsilon)] = float(score.met_per_string)
            detail["scores"] += [described(score, assessment) for score in assessment.scores]

        # One margin at a time: the strict one alone is decided by the first error.
        read(STRICT)
        if measures[name("met", STRICT)] and self.language.measure is Measure.DETERMINISTIC:
            for kind in ("met", "met_per_string"):  # no error at all is within any budget
                measures[name(kind, LENIENT)] = 1.0
        else:
            read(LENIENT)
        measures["largest_n"] = self._largest(make_stepper)
        excess = excess_cross_entropy(self.language, stepper, self.protocol.p, smallest=SMALLEST_PREFIX)
        measures["ruled_out"] = excess.ruled_out  # above 0: `excess_bits` is infinite, which is not stored as a number
        if np.isfinite(excess.bits_per_symbol):
            measures["excess_bits"] = excess.bits_per_symbol
        detail["excess_coverage"] = excess.coverage
        if isinstance(self.language, AbstractDyck):
            measures |= self._reach(self.language, make_stepper)
        return measures, detail

    def _reach(self, language: AbstractDyck, make_stepper: MakeStepper) -> dict[str, float]:
        """On strings that are longer and deeper than the corpus, which the test set of a Dyck language hardly has."""
        stepper, _ = make_stepper(LONGEST + 1)
        understood = reach(language, stepper)
        measures: dict[str, float] = {"reach_length": understood.longest, "reach_depth": understood.deepest}
        longest = max(map(len, self.corpus.counts))
        deepest = max(map(language.depth, self.corpus.counts))
        if longest < understood.lengths[-1]:
            measures["accepted_beyond"] = understood.accepted_beyond(longest)
        if deepest < len(understood.nested_accepted):
            measures["nested_beyond"] = understood.nested_beyond(deepest)
        return measures

    def _largest(self, make_stepper: MakeStepper) -> int:
        """The size up to which every string is accepted, from the shortest on, 10^N strings at most (figure 3).

        At ε = 0, but a softmax rules nothing out: M_cat is taken at its own margin.
        """
        epsilon = STRICT if self.language.measure is Measure.DETERMINISTIC else LENIENT
        test_set = self.language.test_set(after=0, count=10**self.protocol.order)
        stepper, rows = make_stepper(int(test_set.lengths.max()))
        assessment = evaluate(test_set, stepper, epsilons=(epsilon,), most_rows=rows)
        return assessment.score(self.language.measure, epsilon).largest_accepted


def described(score: Score, assessment: Assessment) -> dict[str, Any]:
    """A score as plain data."""
    return {
        "measure": score.measure.value,
        "epsilon": score.epsilon,
        "errors": score.errors,
        "steps": score.steps,
        "met_over_test_set": score.met_over_test_set,
        "met_per_string": score.met_per_string,
        "first_failure": score.first_failure,
        "largest_accepted": score.largest_accepted,
        "complete": assessment.complete,
    }
