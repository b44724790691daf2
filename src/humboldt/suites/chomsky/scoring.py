"""Accuracy on unseen lengths: scores, readings, and the shortest string that a model gets wrong."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from humboldt.measures.accuracy import LengthTally
from humboldt.measures.accuracy import score as mean_over_lengths
from humboldt.suites.capabilities import WrongString
from humboldt.suites.catalogue import OUTSIDE
from humboldt.suites.chomsky.floors import floor_of
from humboldt.suites.chomsky.problem import Transduction, shortest_wrong
from humboldt.suites.chomsky.protocol import LengthGeneralisation
from humboldt.suites.counting import by_place
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.training.abilities import CountsRight, ability

PROBED_ROWS = 8  # of a test batch, in an estimate


def score(scoring: ScoringInput) -> list[MemberScore]:
    """Returns the mean accuracy over lengths of each member, with the accuracy at every length."""
    protocol: LengthGeneralisation = scoring.resolved.protocol
    lengths, pooled = protocol.scored_lengths(), protocol.pooled_accuracy
    # Models from outside get the interval of a score; for other members, the spread over seeds is shown.
    with_interval = scoring.resolved.contender.engine == OUTSIDE and not pooled
    tally = LengthTally(lengths, len(scoring.members), pooled=pooled, keeps_shares=with_interval)
    done = 0
    predictor, problem = ability(scoring.predictor, CountsRight), scoring.problem
    assert isinstance(problem, Transduction)
    for number, (of_rows, counted, batch) in enumerate(problem.test_batches()):
        real = of_rows > 0
        tally.add(predictor.correct(batch, number=number)[:, real], counted[real], of_rows[real])
        done += int(real.sum())
        scoring.sink.scored(done, len(lengths) * protocol.strings_per_length)
    intervals = tally.intervals() if with_interval else [()] * len(scoring.members)
    scores = []
    for curve, error, ends in zip(tally.curves(), tally.standard_errors().tolist(), intervals, strict=True):
        by_length = {"lengths": list(curve.lengths), "accuracy": list(curve.accuracy)}
        detail: dict[str, Any] = {"accuracy_per_length": by_length} | ({} if pooled else {"standard_error": error})
        detail |= {"interval": list(ends)} if ends else {}
        scores.append(MemberScore({"score": mean_over_lengths(curve, *protocol.test_lengths)}, detail))
    return scores


def readings(resolved: Resolved, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns the score of each member with its interval, the chance level, the floor and the accuracy by length."""
    protocol: LengthGeneralisation = resolved.protocol
    floor = floor_of(resolved.training.task, protocol)
    count = len(protocol.scored_lengths()) * protocol.strings_per_length
    numbers = []
    for member in scores:
        value = member.measures["score"]
        ends = dict(zip(("low", "high"), member.detail.get("interval", ()), strict=False))
        curve = member.detail["accuracy_per_length"]
        by_length = by_place(curve["lengths"], curve["accuracy"])
        chance, breakdown = resolved.task.chance, {"length": by_length}
        numbers.append(
            ReportedNumber(
                measure="score", value=value, n=count, chance=chance, floor=floor, breakdown=breakdown, **ends
            )
        )
    return numbers


def probe(resolved: Resolved) -> Probe:
    """Builds a probe that scores a few rows of a test batch."""
    problem = Transduction(resolved.task, resolved.protocol)
    _, _, batch = next(problem.test_batches())
    longest = problem.lengths[1]
    per_symbol = problem.frame(resolved.task.sample(np.random.default_rng(0), 1, longest)).time / longest
    steps = per_symbol * sum(resolved.protocol.scored_lengths()) * resolved.protocol.strings_per_length
    few = batch.take(np.linspace(0, len(batch.tokens) - 1, min(PROBED_ROWS, len(batch.tokens)), dtype=int))
    return Probe(lambda predictor: ability(predictor, CountsRight).correct(few), steps / few.tokens.size)


def first_wrong(resolved: Resolved, predictor: CountsRight) -> WrongString:
    """Finds the shortest string that a member gets wrong."""
    problem = Transduction(resolved.task, resolved.protocol)
    return shortest_wrong(problem, lambda batch: predictor.correct(batch)[0])
