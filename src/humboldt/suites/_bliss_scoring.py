"""How trained members are scored, and how far each has to be read."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.languages.bliss import Measure
from humboldt.measures.bliss import Evaluation, Score, Stepper, evaluate, excess_cross_entropy

if TYPE_CHECKING:
    from humboldt.suites._bliss_protocol import Cell

STRICT, LENIENT = 0.0, 0.005  # section 5.3
SMALLEST_PREFIX = 1e-4  # that the cross-entropy is summed over: most of the language, in little time
MakeStepper = Callable[[int], tuple[Stepper, int]]


def name(kind: str, epsilon: float) -> str:
    """The name under which a verdict is stored: `met_0.005`, `met_per_string_0`."""
    return f"{kind}_{epsilon:g}"


class Scorer:
    """Scores the members of one experiment, one after the other.

    A member that fails is found out soon. One that keeps within a budget of errors has to be read to the end, which
    may be 10^8 symbols. A cell of the table asks only whether *any* member meets a criterion, so with
    `evaluate=needed` a member is not read for a criterion that another has already met. Strict verdicts (ε = 0) are
    always taken.
    """

    def __init__(self, cell: "Cell") -> None:
        self.cell = cell
        self.language = cell.language
        self.test_set = cell.language.test_set(after=cell.corpus, count=cell.sizes.test)
        self.met: set[str] = set()

    @cached_property
    def longest(self) -> int:
        """Symbols of the longest test string."""
        return int(self.test_set.lengths.max())

    def score(self, make_stepper: MakeStepper) -> tuple[dict[str, float], dict[str, Any]]:
        """Measures and details of one member."""
        stepper, rows = make_stepper(self.longest)
        measures: dict[str, float] = {}
        detail: dict[str, Any] = {"scores": []}

        def read(*epsilons: float) -> None:
            found = evaluate(self.test_set, stepper, epsilons=epsilons, most_rows=rows)
            for epsilon in epsilons:
                self._note(found.score(self.language.measure, epsilon), measures)
            detail["scores"] += [_described(score, found) for score in found.scores]

        if self.cell.protocol.evaluate == "all":
            read(LENIENT, STRICT)
        else:
            read(STRICT)
            if measures[name("met", STRICT)] and self.language.measure is Measure.DETERMINISTIC:
                for kind in ("met", "met_per_string"):  # no error at all is within any budget
                    measures[name(kind, LENIENT)] = 1.0
            elif self._is_needed(detail["scores"]):
                read(LENIENT)
            else:
                detail["not_evaluated"] = f"epsilon {LENIENT:g}: another member of this experiment has met it"
        self.met |= {key for key, value in measures.items() if key.startswith("met") and value}
        measures["largest_n"] = self._largest(make_stepper)
        excess = excess_cross_entropy(self.language, stepper, self.cell.protocol.p, smallest=SMALLEST_PREFIX)
        measures["ruled_out"] = excess.ruled_out  # above 0: `excess_bits` is infinite, which is not stored as a number
        if np.isfinite(excess.bits_per_symbol):
            measures["excess_bits"] = excess.bits_per_symbol
        detail["excess_coverage"] = excess.coverage
        return measures, detail

    def _note(self, score: Score, measures: dict[str, float]) -> None:
        measures[name("met", score.epsilon)] = float(score.met_over_test_set)
        measures[name("met_per_string", score.epsilon)] = float(score.met_per_string)

    def _is_needed(self, scores: list[dict[str, Any]]) -> bool:
        """Whether a criterion at ε > 0 is open that this member may yet meet, being known to fail at ε = 0."""
        if name("met", LENIENT) not in self.met:
            return True
        if self.language.measure is not Measure.DETERMINISTIC or name("met_per_string", LENIENT) in self.met:
            return False
        first = next(score["first_failure"] for score in scores if score["measure"] == self.language.measure.value)
        steps = int(self.language.deterministic_mask(first).sum())
        return int(LENIENT * steps) > 0  # shorter strings than that allow no error per string either

    def _largest(self, make_stepper: MakeStepper) -> int:
        """The size up to which every string is accepted, from the shortest on, 10^N strings at most (figure 3).

        At ε = 0, but a softmax rules nothing out: M_cat is taken at its own margin.
        """
        epsilon = STRICT if self.language.measure is Measure.DETERMINISTIC else LENIENT
        test_set = self.language.test_set(after=0, count=10**self.cell.protocol.order)
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
