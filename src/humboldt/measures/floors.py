"""The floor of a task: the score of the best answers that depend on length and position alone.

Chance is the score of a guess among all symbols. Some tasks give more to a model that never reads its input: in a
sorted string the first symbols are small and the last are large. Only the part of a score above this floor shows that
the input was read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.measures.accuracy import LengthTally, score

Targets = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]
"""Draws `count` targets for inputs of `length` symbols: ids of shape `(count, time)`, right-padded, and the number of
scored symbols of each, shape `(count,)`."""


@dataclass(frozen=True)
class Floor:
    """A score from 0 to 1 with its standard error over test strings."""

    score: float
    standard_error: float


def best_answer(targets: np.ndarray, target_lengths: np.ndarray) -> np.ndarray:
    """Returns the symbol for each position that gives these targets the highest per-sequence accuracy, shape `(time,)`.

    It is the most frequent one, where a symbol of a target with `n` symbols counts `1/n`; of several, the smallest id.

    >>> best_answer(np.array([[0, 1], [0, 0], [2, 1]]), np.array([2, 2, 2]))
    array([0, 1])
    """
    time = targets.shape[1]
    symbols = int(targets.max(initial=0)) + 1
    scored = np.arange(time) < target_lengths[:, None]
    rows, positions = np.nonzero(scored)
    weights = (1 / np.maximum(target_lengths, 1))[rows]
    votes = np.bincount(positions * symbols + targets[scored], weights, minlength=time * symbols)
    return votes.reshape(time, symbols).argmax(1)


def floor(draw: Targets, lengths: Sequence[int], *, fitted: int, scored: int, seed: int) -> Floor:
    """Finds the best answers for each length from `fitted` strings, and scores them on `scored` other strings.

    The score is the mean over `lengths` of the mean per-sequence accuracy, as in the suite `chomsky`.
    """
    tally = LengthTally(lengths, members=1)
    for length in lengths:
        rng = np.random.default_rng((seed, length))
        answer = best_answer(*draw(rng, fitted, length))
        targets, counted = draw(rng, scored, length)
        # Targets that end early may have other widths; where no fitted target reaches, the answer is symbol 0.
        padded = np.zeros(targets.shape[1], int)
        padded[: len(answer)] = answer[: targets.shape[1]]
        right = (targets == padded) & (np.arange(targets.shape[1]) < counted[:, None])
        tally.add(right.sum(1)[None], counted, np.full(scored, length))
    return Floor(score(tally.curves()[0], min(lengths), max(lengths)), float(tally.standard_errors()[0]))
