"""Labelled strings: positives by the sampler of a language, negatives by rejection.

A label is a fair coin. A proposal for a negative is, with probability 1/2, a uniform string (its length uniform, then
its symbols), else a positive with K edits, where K is geometric with success probability 1/2; proposals in the language
are redrawn. An edit inserts, replaces or deletes one symbol; the possible ones are equally probable, as are its places
and symbols. No string is longer than `longest`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Pairs
from humboldt.languages.recognition.base import AbstractRecognition, padded

TRIES = 100  # proposals for a negative, as in the released code
UNIFORM = -1  # number of edits of a string that was not made by edits


@dataclass(frozen=True, eq=False)
class Examples:
    """Strings and labels.

    - `tokens`: int32, shape `(count, time)`, right-padded with id 0. `lengths`: shape `(count,)`.
    - `labels`: shape `(count,)`; 1 for strings of the language.
    - `edits`: shape `(count,)`: the number of edits of a negative, 0 for positives, `UNIFORM` for uniform strings.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    labels: np.ndarray
    edits: np.ndarray

    def __len__(self) -> int:
        return len(self.tokens)

    def take(self, rows: np.ndarray) -> "Examples":
        """Returns the examples of some rows, in their order."""
        return Examples(self.tokens[rows], self.lengths[rows], self.labels[rows], self.edits[rows])

    def strings(self, rows: Sequence[int] | np.ndarray) -> list[list[int]]:
        """Returns some strings as lists of ids."""
        return [self.tokens[row, : self.lengths[row]].tolist() for row in rows]

    def pairs(self) -> Pairs:
        """Returns the strings as inputs and the labels as one-symbol targets."""
        ones = np.ones(len(self), np.int32)
        return Pairs(self.tokens, self.lengths, self.labels[:, None], ones, ones)


def draw_examples(task: AbstractRecognition, rng: np.random.Generator, count: int, longest: int) -> Examples:
    """Returns `count` labelled strings of at most `longest` symbols. All randomness comes from `rng`."""
    labels = rng.integers(0, 2, count).astype(np.int32)
    strings: list[list[int]] = [[]] * count
    edits = np.zeros(count, np.int32)
    positive = np.flatnonzero(labels)
    for row, string in zip(positive, task.draw(rng, len(positive), longest), strict=True):
        strings[row] = string
    pending = np.flatnonzero(labels == 0)
    for _ in range(TRIES):
        if not len(pending):
            break
        proposals, numbers = propose(task, rng, len(pending), longest)
        outside = ~task.members(proposals)
        for place in np.flatnonzero(outside):
            strings[pending[place]], edits[pending[place]] = proposals[place], numbers[place]
        pending = pending[~outside]
    if len(pending):
        raise UsageError(
            f"No string outside the language was found in {TRIES} proposals of at most {longest} symbols. Use longer "
            "strings, or a language that leaves more strings out."
        )
    tokens, lengths = padded(strings, longest)
    return Examples(tokens, lengths, labels, edits)


def propose(
    task: AbstractRecognition, rng: np.random.Generator, count: int, longest: int
) -> tuple[list[list[int]], np.ndarray]:
    """Returns proposals for negatives with their numbers of edits; some may be in the language."""
    size = len(task.input_alphabet)
    numbers = np.where(rng.random(count) < 0.5, rng.geometric(0.5, count), UNIFORM).astype(np.int32)
    sources = iter(task.draw(rng, int((numbers != UNIFORM).sum()), longest))
    proposals = []
    for number in numbers:
        if number == UNIFORM:
            proposals.append(rng.integers(0, size, rng.integers(0, longest + 1)).tolist())
        else:
            proposals.append(edited(rng, next(sources), int(number), size, longest))
    return proposals, numbers


def edited(rng: np.random.Generator, string: Sequence[int], number: int, size: int, longest: int) -> list[int]:
    """Returns a copy of a string with a number of random edits."""
    result = list(string)
    for _ in range(number):
        possible = []
        if len(result) < longest:
            possible.append("insert")
        if result and size > 1:
            possible.append("replace")
        if result:
            possible.append("delete")
        kind = possible[rng.integers(len(possible))]
        if kind == "insert":
            result.insert(int(rng.integers(len(result) + 1)), int(rng.integers(size)))
        elif kind == "delete":
            del result[int(rng.integers(len(result)))]
        else:
            place, symbol = int(rng.integers(len(result))), int(rng.integers(size - 1))
            result[place] = symbol + (symbol >= result[place])  # any other symbol
    return result
