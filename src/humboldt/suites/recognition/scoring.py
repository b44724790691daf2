"""Accuracy on the validation sets and the test set, by length and by edit distance to the language."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from humboldt.languages.recognition import AbstractRecognition, Examples
from humboldt.measures.accuracy import accuracy_per_length
from humboldt.suites.capabilities import WrongString
from humboldt.suites.counting import accuracy_number, by_place
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.suites.recognition.problem import Recognition
from humboldt.suites.recognition.protocol import SCORED
from humboldt.training.abilities import CountsRight, ability

VERSION = 1  # increases when the same predictions can get another score
MOST_DISTANCES = 500  # negatives of the test set whose distance to an automaton's language is computed
FAR = 10  # distances from this on are counted together


def score(scoring: ScoringInput) -> list[MemberScore]:
    """Returns the accuracy of each member on every scored split, with the accuracy by length and by distance."""
    problem = scoring.problem
    assert isinstance(problem, Recognition)
    predictor, covers = ability(scoring.predictor, CountsRight), scoring.predictor.covers
    splits = {name: problem.split(name) for name in SCORED if covers is None or name in covers}
    total, done = sum(map(len, splits.values())), 0
    correct: dict[str, np.ndarray] = {}
    for name, split in splits.items():
        right = np.zeros((len(scoring.members), len(split)))
        for rows, batch in problem.test_batches(split):
            right[:, rows] = predictor.correct(batch)[:, : len(rows)]
            done += len(rows)
            scoring.sink.scored(done, total)
        correct[name] = right
    shared: dict[str, Any] = {"shortcuts": problem.shortcuts(), "parameters": scoring.predictor.parameters()}
    test = splits.get("test")
    rows, distances = distances_of(problem.language, test) if test is not None else (np.empty(0, int),) * 2

    def of_member(member: int) -> MemberScore:
        measures = {name: float(right[member].mean()) for name, right in correct.items()}
        detail = dict(shared)
        if test is not None:
            right = correct["test"][member]
            detail["accuracy_per_length"] = _curve(right, test.lengths)
            detail["accuracy_per_distance"] = _curve(right[rows], distances) if len(rows) else {}
        return MemberScore(measures, detail)

    return [of_member(member) for member in range(len(scoring.members))]


def distances_of(language: AbstractRecognition, examples: Examples) -> tuple[np.ndarray, np.ndarray]:
    """Returns the negatives whose distance is known, as rows, and the distances, at most `FAR`: the exact edit distance
    to the language of an automaton, else the number of edits of those that were made by edits."""
    negatives = np.flatnonzero(examples.labels == 0)[:MOST_DISTANCES]
    exact = language.distances(examples.strings(negatives)) if len(negatives) else None
    if exact is not None:
        return negatives, np.minimum(exact, FAR)
    rows = np.flatnonzero((examples.labels == 0) & (examples.edits > 0))
    return rows, np.minimum(examples.edits[rows], FAR)


def _curve(right: np.ndarray, values: np.ndarray) -> dict[str, Any]:
    curve = accuracy_per_length(right, np.ones(len(right)), values)
    shares = [round(accuracy, 6) for accuracy in curve.accuracy]
    return {"values": list(curve.lengths), "accuracy": shares, "strings": list(curve.strings)}


def readings(resolved: Resolved, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns the accuracy on each split with its Wilson interval, the chance level and, for the test, its parts."""
    numbers = []
    for member in scores:
        for name in (name for name in SCORED if name in member.measures):
            count, value = resolved.protocol.size_of(name)[0], member.measures[name]
            breakdown = {
                key: by_place(curve["values"], curve["accuracy"])
                for key in ("length", "distance")
                if name == "test" and (curve := member.detail[f"accuracy_per_{key}"])
            }
            chance = resolved.task.chance
            numbers.append(accuracy_number(name, value, count, chance=chance, breakdown=breakdown))
    return numbers


def probe(resolved: Resolved) -> Probe:
    """Builds a probe that scores one batch of strings of medium length."""
    problem = Recognition(resolved.task, resolved.protocol)
    batches = [batch for _, batch in problem.test_batches(problem.split("test"))]
    strings = sum(resolved.protocol.size_of(name)[0] for name in SCORED)
    middle = batches[len(batches) // 2]
    return Probe(lambda predictor: ability(predictor, CountsRight).correct(middle), strings / len(middle.tokens))


def first_wrong(resolved: Resolved, predictor: CountsRight) -> WrongString:
    """Finds the shortest test string that a member gets wrong."""
    problem = Recognition(resolved.task, resolved.protocol)
    test, outputs = problem.split("test"), resolved.task.output_alphabet.symbols
    for rows, batch in problem.test_batches(test):  # the shortest come first
        wrong = np.flatnonzero(predictor.correct(batch)[0, : len(rows)] == 0)
        if len(wrong):
            row = int(rows[wrong[0]])
            symbols = tuple(resolved.task.input_alphabet.decode(test.strings([row])[0]))
            label = int(test.labels[row])
            return WrongString(symbols, "the test set", answer=(outputs[1 - label],), expected=(outputs[label],))
    return WrongString(None, f"all {len(test):,} test strings")
