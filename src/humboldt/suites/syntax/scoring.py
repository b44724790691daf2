"""Accuracy within and beyond the training lengths: scores, readings, and the shortest wrong answer."""

import itertools
from collections.abc import Sequence

import numpy as np

from humboldt.measures.accuracy import accuracy_per_length
from humboldt.suites.capabilities import WrongString
from humboldt.suites.counting import accuracy_number, by_place
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.suites.syntax.problem import SCORED, TEST_ROWS, Classification, test_batches
from humboldt.training.abilities import CountsRight, ability


def score(scoring: ScoringInput) -> list[MemberScore]:
    """Returns the accuracy of each member on every scored split, with the accuracy at every length."""
    problem = scoring.problem
    assert isinstance(problem, Classification)
    predictor, covers = ability(scoring.predictor, CountsRight), scoring.predictor.covers
    splits = {name: problem.split(name) for name in SCORED if covers is None or name in covers}
    tests = [name for name in ("test", "long") if name in splits]
    total, done = sum(map(len, splits.values())), 0
    correct: dict[str, np.ndarray] = {}
    for name, split in splits.items():
        rows = []
        for count, batch in test_batches(split):
            rows.append(predictor.correct(batch)[:, :count])
            done += count
            scoring.sink.scored(done, total)
        correct[name] = np.concatenate(rows, 1)
    lengths = np.concatenate([np.empty(0, int), *(splits[name].lengths for name in tests)])
    shared = {"shortcuts": problem.shortcuts(), "parameters": scoring.predictor.parameters()}

    def of_member(member: int) -> MemberScore:
        measures = {SCORED[name]: float(right[member].mean()) for name, right in correct.items()}
        both = np.concatenate([np.empty(0), *(correct[name][member] for name in tests)])
        curve = accuracy_per_length(both, np.ones(len(both)), lengths)
        shares = [round(share, 6) for share in curve.accuracy]
        by_length = {"lengths": list(curve.lengths), "accuracy": shares}
        return MemberScore(measures, {"accuracy_per_length": by_length, **shared})

    return [of_member(member) for member in range(len(scoring.members))]


def readings(resolved: Resolved, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns the accuracy on each split with its Wilson interval, the chance level and the accuracy by length."""
    compares = getattr(resolved.model, "asked", "answers") == "probabilities"
    note = "the share of pairs whose grammatical string is more probable" if compares else ""
    numbers = []
    for member in scores:
        curve = member.detail["accuracy_per_length"]
        lengths = by_place(curve["lengths"], curve["accuracy"])
        for split, measure in SCORED.items():
            if measure not in member.measures:  # the predictions file does not cover this split
                continue
            pairs = getattr(resolved.protocol, split)
            count = pairs if compares else 2 * pairs
            within = resolved.protocol.splits.range_of(split)
            by_length = {n: lengths[n] for n in lengths if split != "validation" and within[0] <= int(n) <= within[1]}
            chance, breakdown = resolved.task.chance, {"length": by_length} if by_length else {}
            value = member.measures[measure]
            numbers.append(accuracy_number(measure, value, count, chance=chance, breakdown=breakdown, note=note))
    return numbers


def probe(resolved: Resolved) -> Probe:
    """Builds a probe that scores one batch of the longest strings."""
    problem = Classification(resolved.training.task, resolved.task, resolved.protocol)
    _, batch = next(test_batches(problem.split("long")))
    strings = 2 * sum(getattr(resolved.protocol, name) for name in SCORED)
    return Probe(lambda predictor: ability(predictor, CountsRight).correct(batch), strings / TEST_ROWS)


def first_wrong(resolved: Resolved, predictor: CountsRight) -> WrongString:
    """Finds the shortest test string that a member gets wrong."""
    problem = Classification(resolved.training.task, resolved.task, resolved.protocol)
    total = 0
    for name in ("test", "long"):
        split = problem.split(name)
        right = np.concatenate([predictor.correct(batch)[0, :count] for count, batch in test_batches(split)])
        wrong, total = np.flatnonzero(right == 0), total + len(split)
        if len(wrong):
            row = int(min(wrong, key=lambda row: split.lengths[row]))
            pairs = split.pairs().symbols(resolved.task.input_alphabet, resolved.task.output_alphabet)
            source, target = next(itertools.islice(pairs, row, None))
            wrong_answers = tuple(
                symbol for symbol in resolved.task.output_alphabet.symbols if (symbol,) != tuple(target)
            )
            return WrongString(tuple(source), f"the split {name}", answer=wrong_answers[:1], expected=tuple(target))
    return WrongString(None, f"all {total:,} test strings")
