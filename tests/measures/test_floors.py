"""The best answers from length and position alone."""

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.stats import binom

from humboldt.languages import tasks
from humboldt.measures.floors import best_answer, floor

BUCKET_SORT: Any = tasks.get("chomsky/bucket_sort")()


def draw_sorted(rng: np.random.Generator, count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = BUCKET_SORT.sample(rng, count, length)
    return pairs.targets, pairs.target_lengths


def exact_floor_of_sorting(length: int) -> float:
    """The most likely symbol at each position, from binomial distributions: position `i` has a symbol of at most `s`
    if more than `i` of the symbols are at most `s`."""
    at_most = np.stack([binom.sf(np.arange(length), length, (s + 1) / 5) for s in range(5)])
    return float(np.diff(at_most, axis=0, prepend=0).max(0).mean())


def test_the_best_answer_is_the_most_frequent_symbol_weighted_by_the_length_of_its_target():
    rng = np.random.default_rng(0)
    targets, lengths = rng.integers(0, 3, (50, 6)), rng.integers(1, 7, 50)
    votes = [defaultdict(float) for _ in range(6)]
    for target, length in zip(targets.tolist(), lengths.tolist(), strict=True):
        for position in range(length):
            votes[position][target[position]] += 1 / length
    expected = [max(sorted(of), key=of.__getitem__) for of in votes]
    assert best_answer(targets, lengths).tolist() == expected


def test_no_other_answer_scores_higher_on_the_strings_that_it_was_fitted_on():
    rng = np.random.default_rng(1)
    targets, lengths = rng.integers(0, 2, (9, 4)), rng.integers(1, 5, 9)
    scored = np.arange(4) < lengths[:, None]

    def accuracy(answer: np.ndarray) -> float:
        return float(np.mean(((targets == answer) & scored).sum(1) / lengths))

    every = [np.array([number >> bit & 1 for bit in range(4)]) for number in range(16)]
    assert accuracy(best_answer(targets, lengths)) == max(map(accuracy, every))


def test_the_measured_floor_of_sorting_is_that_of_its_distribution():
    for length in (2, 41, 200):
        found = floor(draw_sorted, [length], fitted=1000, scored=2000, seed=3)
        assert abs(found.score - exact_floor_of_sorting(length)) < 5 * found.standard_error + 0.003


def test_a_floor_is_measured_on_other_strings_than_it_was_fitted_on():
    def coin(rng: np.random.Generator, count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.integers(0, 2, (count, length)), np.full(count, length)

    found = floor(coin, [50], fitted=3, scored=2000, seed=4)  # 3 strings that were fitted would give about 0.75
    assert abs(found.score - 0.5) < 5 * found.standard_error
