"""M_det, M_cat and how far a member generalises: scores, readings, and proofs."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from humboldt.core.stepping import Stepper
from humboldt.languages.bliss import AbstractDyck, Measure
from humboldt.measures.bliss import LONGEST, Assessment, Score, evaluate, excess_cross_entropy, reach, sizes
from humboldt.suites.bliss.files import RecordedDistributions
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.bliss.tables import abbreviated
from humboldt.suites.capabilities import WrongString
from humboldt.suites.experiments import MemberScore, ReportedNumber, Resolved, ScoringInput
from humboldt.training.abilities import CanBeProved, GivesProbabilities, ReadsSymbols, ability
from humboldt.training.base import AbstractPredictor

STRICT, LENIENT = 0.0, 0.005  # section 5.3
SMALLEST_PREFIX = 1e-4  # that the cross-entropy is summed over: most of the language, in little time
MakeStepper = Callable[[int], tuple[Stepper, int]]


def name(kind: str, epsilon: float) -> str:
    """Returns the name under which a verdict is stored: `met_0.005`, `met_per_string_0`."""
    return f"{kind}_{epsilon:g}"


def proofs(
    predictor: AbstractPredictor, member: int, task: str, measure: Measure
) -> tuple[dict[str, float], dict[str, Any]]:
    """Returns whether a member is right about every string, at both margins, where its engine and the language allow
    proofs.

    Measures: 1 for proved, 0 for refuted, nothing for unknown. Details: the verdicts by margin.
    """
    if not isinstance(predictor, CanBeProved):
        return {}, {}
    verdicts = {
        epsilon: predictor.verdict(member, language=f"bliss/{task}", measure=measure.value, epsilon=epsilon)
        for epsilon in (STRICT, LENIENT)
    }
    decided = {epsilon: verdict for epsilon, verdict in verdicts.items() if verdict is not None}
    measures = {
        name("proved", epsilon): float(verdict["verdict"] == "Proved")
        for epsilon, verdict in decided.items()
        if verdict["verdict"] != "Unknown"
    }
    return measures, {"proofs": {f"{epsilon:g}": verdict for epsilon, verdict in decided.items()}} if decided else {}


def score(scoring: ScoringInput) -> list[MemberScore]:
    """Scores members one after the other."""
    resolved, predictor, count = scoring.resolved, scoring.predictor, len(scoring.members)
    problem = scoring.problem
    assert isinstance(problem, NextSymbol)
    covered = predictor.strings if isinstance(predictor, RecordedDistributions) else None
    scorer, reader, losses = Scorer(problem, covered), ability(predictor, ReadsSymbols), None
    if isinstance(predictor, GivesProbabilities):
        losses = problem.corpus_losses(predictor.nats(problem.training_set()))
    scores = []
    for index in range(count):

        def make_stepper(longest: int, index: int = index) -> tuple[Stepper, int]:
            return reader.stepper(index, longest=longest, most_memory=resolved.protocol.test_memory)

        measures, detail = scorer.score(make_stepper)
        more, described = predictor.about(index)
        proved, verdicts = proofs(predictor, index, resolved.training.task, problem.language.measure)
        if proved.get("proved_0") and "mdl" in more:  # a search may also have saved a longer network that is proved
            more["proved_mdl"] = more["mdl"]
        if losses is not None:
            measures["training_loss"] = float(losses[index])
        scores.append(MemberScore({**measures, **more, **proved}, {**detail, **described, **verdicts}))
        scoring.sink.scored(index + 1, count)
    return scores


def readings(resolved: Resolved, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns every measure of each member; criteria with the errors that decided them."""
    (factor,) = resolved.protocol.factors
    all_strings, numbers = sizes(factor, resolved.protocol.order).test, []
    for member in scores:
        strings = member.detail.get("strings", all_strings)  # of a file that has some of them
        by_margin = {score["epsilon"]: score for score in member.detail["scores"]}
        for measure, value in member.measures.items():
            if not measure.startswith("met_"):
                numbers.append(ReportedNumber(measure=measure, value=value))
                continue
            margin = by_margin.get(float(measure.rsplit("_", 1)[1]), member.detail["scores"][0])
            note = f"{margin['errors']:,} errors in {margin['steps']:,} steps"
            note += "" if margin["complete"] else "; read until it was decided"
            if margin["first_failure"] is not None:
                note += f"; fails first at {abbreviated(margin['first_failure'])}"
            note += f"; every string up to n = {margin['largest_accepted']} accepted"
            numbers.append(
                ReportedNumber(measure=measure, value=value, n=strings, chance=0.0, note=note)
            )  # a guess never meets it
    return numbers


def first_wrong(detail: Mapping[str, Any]) -> WrongString | None:
    """Returns the first test string that is wrong at the strictest margin, known since the member was scored."""
    scores = [score for score in detail.get("scores", ()) if score["first_failure"] is not None]
    if not scores:
        return None
    score = min(scores, key=lambda score: (score["measure"] != "M_det", score["epsilon"]))
    tried = f"{score['measure']} at ε = {score['epsilon']:g}, the test strings after those of the corpus"
    return WrongString(tuple(score["first_failure"]), tried)


class Scorer:
    """Scores members one after the other.

    Reading stops when a member exceeds the budget of errors. Otherwise it goes on to the last test string, which may be
    after 10^8 symbols. `covered`: the number of test strings, from the first, that have answers; `None` if all have.
    """

    def __init__(self, problem: NextSymbol, covered: int | None = None) -> None:
        self.language, self.protocol, self.corpus = problem.language, problem.protocol, problem.corpus
        self.covered = covered
        self.test_set = self.language.test_set(after=problem.corpus, count=covered or problem.sizes.test)

    @cached_property
    def longest(self) -> int:
        """The number of symbols of the longest test string."""
        return int(self.test_set.lengths.max())

    def score(self, make_stepper: MakeStepper) -> tuple[dict[str, float], dict[str, Any]]:
        """Returns measures and details of one member. `make_stepper` gets the length of the longest string."""
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
        if self.covered is not None:
            return measures, {**detail, "strings": self.covered}
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
        """Returns measures on strings that are longer and deeper than the corpus; the test set has few of them."""
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
        """Returns the size up to which every string is accepted, of the shortest 10^N strings (figure 3).

        M_det is taken at ε = 0. M_cat has its own margin, because a softmax rules nothing out.
        """
        epsilon = STRICT if self.language.measure is Measure.DETERMINISTIC else LENIENT
        test_set = self.language.test_set(after=0, count=10**self.protocol.order)
        stepper, rows = make_stepper(int(test_set.lengths.max()))
        assessment = evaluate(test_set, stepper, epsilons=(epsilon,), most_rows=rows)
        return assessment.score(self.language.measure, epsilon).largest_accepted


def described(score: Score, assessment: Assessment) -> dict[str, Any]:
    """Returns a score as plain data."""
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
