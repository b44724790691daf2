"""Share of right states, share of strings without an error, and the longest length with at least 90%."""

from collections.abc import Sequence

import numpy as np

from humboldt.measures.accuracy import LengthTally
from humboldt.measures.accuracy import score as mean_over_lengths
from humboldt.suites.capabilities import WrongString
from humboldt.suites.counting import accuracy_number, by_place
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.suites.tracking.problem import States
from humboldt.suites.tracking.protocol import StateTracking
from humboldt.training.abilities import CountsRight, ability

VERSION = 1  # increases when the same predictions can get another score
KEPT = 0.9  # share of right states up to which a length counts as kept
MEASURES = ("symbols", "strings", "longest")
STRINGS_TRIED, PROBED_ROWS = 64, 8


def score(scoring: ScoringInput) -> list[MemberScore]:
    """Returns the measures of each member, each a mean over lengths but the last, with both curves by length."""
    protocol: StateTracking = scoring.resolved.protocol
    predictor, problem = ability(scoring.predictor, CountsRight), scoring.problem
    assert isinstance(problem, States)
    lengths = protocol.scored_lengths()
    symbols, strings = (LengthTally(lengths, len(scoring.members)) for _ in range(2))
    total, done = len(lengths) * protocol.strings_per_length, 0
    for number, (length, count, batch) in enumerate(problem.test_batches()):
        asked = batch.target_mask[:count].sum(1)
        right = predictor.correct(batch, number=number)[:, :count]
        at = np.full(count, length)
        symbols.add(right, asked, at)
        strings.add((right == asked).astype(float), np.ones(count), at)
        done += count
        scoring.sink.scored(done, total)
    scores = []
    for by_symbol, by_string in zip(symbols.curves(), strings.curves(), strict=True):
        first, last = lengths[0], lengths[-1]
        measures = {
            "symbols": mean_over_lengths(by_symbol, first, last),
            "strings": mean_over_lengths(by_string, first, last),
            "longest": float(longest_kept(lengths, by_symbol.accuracy)),
        }
        curve = {"lengths": lengths, "symbols": list(by_symbol.accuracy), "strings": list(by_string.accuracy)}
        scores.append(MemberScore(measures, {"by_length": curve}))
    return scores


def longest_kept(lengths: Sequence[int], accuracy: Sequence[float]) -> int:
    """Returns the longest scored length up to which all scored lengths have at least 90% of the states right.

    >>> longest_kept([10, 20, 30, 40], [1.0, 0.95, 0.8, 0.9])
    20
    >>> longest_kept([10, 20], [0.5, 1.0])
    0
    """
    kept = 0
    for length, share_right in zip(lengths, accuracy, strict=True):
        if share_right < KEPT:
            break
        kept = length
    return kept


def readings(resolved: Resolved, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns the measures of each member, with sample size, chance level and the accuracy by length."""
    count = len(resolved.protocol.scored_lengths()) * resolved.protocol.strings_per_length
    numbers = []
    for member in scores:
        curve = member.detail["by_length"]
        breakdowns = {name: {"length": by_place(curve["lengths"], curve[name])} for name in ("symbols", "strings")}
        numbers += [
            ReportedNumber(
                measure="symbols",
                value=member.measures["symbols"],
                n=count,
                chance=resolved.task.chance,
                breakdown=breakdowns["symbols"],
            ),
            accuracy_number("strings", member.measures["strings"], count, breakdown=breakdowns["strings"]),
        ]
        note = "the longest scored length up to which at least 90% of the states are right; 0 if there is none"
        numbers.append(ReportedNumber(measure="longest", value=member.measures["longest"], n=count, note=note))
    return numbers


def probe(resolved: Resolved) -> Probe:
    """Builds a probe that scores a few rows of a test batch."""
    problem = States(resolved.task, resolved.protocol)
    _, _, batch = next(problem.test_batches())
    few = batch.take(slice(0, PROBED_ROWS))
    rows = len(resolved.protocol.scored_lengths()) * resolved.protocol.strings_per_length
    return Probe(lambda predictor: ability(predictor, CountsRight).correct(few), rows / len(few.tokens))


def first_wrong(resolved: Resolved, predictor: CountsRight) -> WrongString:
    """Finds the shortest string that a member gets wrong, of a few strings of each length up to the longest scored."""
    problem = States(resolved.task, resolved.protocol)
    longest = resolved.protocol.scored_lengths()[-1]
    rng = np.random.default_rng(resolved.protocol.test_seed)
    lengths = sorted({n for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 64, 100, 150, 250) if n < longest} | {longest})
    for length in lengths:
        pairs = resolved.task.sample(rng, STRINGS_TRIED, length)
        batch = problem.frame(pairs)
        wrong = np.flatnonzero(predictor.correct(batch)[0] < batch.target_mask.sum(1))
        if len(wrong):
            symbols = tuple(resolved.task.input_alphabet.decode(pairs.inputs[wrong[0]]))
            return WrongString(symbols, f"{STRINGS_TRIED} strings of each of some lengths from 1 on")
    return WrongString(None, f"{STRINGS_TRIED} strings of each of {len(lengths)} lengths up to {longest}")
