"""Strings drawn from a language: exactly uniform for a length, or by the weights of its automaton.

All randomness comes from the given `numpy.random.Generator`.

>>> from humboldt.languages.formal.regex import parse_regex
>>> uniform = UniformSampler(parse_regex("( a b | b a )*"))
>>> [" ".join(uniform.automaton.decode(row)) for row in uniform.draw(np.random.default_rng(0), count=3, length=4)]
['a b b a', 'b a a b', 'b a b a']
"""

from bisect import bisect_right
from itertools import accumulate

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.counting import Counts
from humboldt.languages.formal.minimal import minimal, with_weights


class UniformSampler:
    """Draws strings of a length, each with exactly the same probability: a rank below the number of strings, drawn
    without bias, then the string of that rank in lexicographic order.
    """

    def __init__(self, automaton: Automaton) -> None:
        self.counts = Counts(automaton)
        self.automaton = self.counts.automaton
        rows = self.automaton.table.tolist()
        self._columns = [[column for column, target in enumerate(row) if target != MISSING] for row in rows]
        self._targets = [[target for target in row if target != MISSING] for row in rows]

    def draw(self, rng: np.random.Generator, *, count: int, length: int) -> np.ndarray:
        """Returns strings as columns of the automaton's table, shape `(count, length)`."""
        strings = self.counts.strings(length)
        if not strings:
            raise UsageError(f"The language has no string of length {length}. Choose another length.")
        return self._unranked(uniform_integers(rng, strings, count), length)

    def string(self, rank: int, length: int) -> np.ndarray:
        """Returns the string of a rank among those of a length, in lexicographic order. The first has rank 0."""
        if not 0 <= rank < self.counts.strings(length):
            raise UsageError(f"No string of length {length} has rank {rank}: there are {self.counts.strings(length)}.")
        return self._unranked([rank], length)[0]

    def _unranked(self, ranks: list[int], length: int) -> np.ndarray:
        strings = np.empty((len(ranks), length), np.int32)
        states = [self.automaton.start] * len(ranks)
        ranks = list(ranks)
        for step in range(length):
            below = self.counts.suffixes(length - step - 1)
            bounds: dict[int, list[int]] = {}  # of each state met: how many strings start with a smaller symbol
            drawn = []
            for i, state in enumerate(states):
                limits = bounds.get(state)
                if limits is None:
                    limits = bounds[state] = [0, *accumulate(map(below.__getitem__, self._targets[state]))]
                rank = ranks[i]
                way = bisect_right(limits, rank) - 1
                ranks[i] = rank - limits[way]
                drawn.append(self._columns[state][way])
                states[i] = self._targets[state][way]
            strings[:, step] = drawn
        return strings


def uniform_integers(rng: np.random.Generator, below: int, count: int) -> list[int]:
    """Returns integers of any size, uniform from 0 to `below` - 1, without bias: numbers that are too large are
    redrawn.

    >>> max(uniform_integers(np.random.default_rng(0), 10**40, 1000)) < 10**40
    True
    """
    bits = (below - 1).bit_length()
    size = (bits + 7) // 8
    numbers: list[int] = []
    while len(numbers) < count:
        missing = count - len(numbers)
        data = rng.bytes(size * missing)
        for i in range(missing):
            number = int.from_bytes(data[i * size : (i + 1) * size], "little") >> (8 * size - bits)
            if number < below:
                numbers.append(number)
    return numbers


class WeightedSampler:
    """Draws strings by the weights of an automaton; equal shares in one without weights."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = minimal(with_weights(automaton))
        assert self.automaton.moves is not None and self.automaton.stops is not None
        # A missing transition leads to row -1, whose weight is zero.
        with np.errstate(divide="ignore"):
            self._log_moves = np.log(self.automaton.moves)
            self._log_suffixes = [np.append(np.log(self.automaton.stops), -np.inf)]
        self._ways = np.cumsum(np.column_stack([self.automaton.moves, self.automaton.stops]), axis=1)
        self._ways /= self._ways[:, -1:]

    def log_probability_of_length(self, length: int) -> float:
        """Returns the natural logarithm of the probability that a string has this length."""
        return float(self._suffixes(length)[self.automaton.start])

    def draw_of_length(self, rng: np.random.Generator, *, count: int, length: int) -> np.ndarray:
        """Returns strings of one length, with the probabilities they have among those, shape `(count, length)`."""
        return self.draw_of_lengths(rng, lengths=np.full(count, length))

    def draw_of_lengths(self, rng: np.random.Generator, *, lengths: np.ndarray) -> np.ndarray:
        """Returns strings of given lengths, each with its probability among those of its length. Shape `(count,
        longest)`, padded with `MISSING`."""
        for length in np.unique(lengths).tolist():
            if self.log_probability_of_length(length) == -np.inf:
                raise UsageError(f"The language has no string of length {length}. Choose another length.")
        longest = int(lengths.max(initial=0))
        suffixes = np.stack([self._suffixes(length) for length in range(longest + 1)])
        strings = np.full((len(lengths), longest), MISSING, np.int32)
        states = np.full(len(lengths), self.automaton.start)
        for step in range(longest):
            going = np.flatnonzero(lengths > step)
            visited, left = states[going], lengths[going] - step - 1
            ways = self._log_moves[visited] + suffixes[left[:, None], self.automaton.table[visited]]
            odds = np.exp(ways - ways.max(axis=1, keepdims=True))
            columns = _chosen(rng, np.cumsum(odds, axis=1))
            strings[going, step] = columns
            states[going] = self.automaton.table[visited, columns]
        return strings

    def draw(self, rng: np.random.Generator, *, count: int, longest: int = 100_000) -> tuple[np.ndarray, np.ndarray]:
        """Returns strings of any length: columns of shape `(count, longest drawn)`, padded with `MISSING`, and lengths.

        A string that has not ended after `longest` symbols is an error.
        """
        states = np.full(count, self.automaton.start)
        lengths = np.zeros(count, np.int32)
        going = np.arange(count)
        drawn: list[np.ndarray] = []
        while len(going):
            columns = _chosen(rng, self._ways[states[going]])
            stopped = columns == len(self.automaton.alphabet)
            going, columns = going[~stopped], columns[~stopped]
            if not len(going):
                break
            if len(drawn) == longest:
                raise UsageError(
                    f"A string had not ended after {longest:,} symbols. Raise the weights of stopping, or the limit."
                )
            step = np.full(count, MISSING, np.int32)
            step[going] = columns
            drawn.append(step)
            lengths[going] += 1
            states[going] = self.automaton.table[states[going], columns]
        return np.stack(drawn, axis=1) if drawn else np.empty((count, 0), np.int32), lengths

    def _suffixes(self, length: int) -> np.ndarray:
        """Returns log-probabilities that a string stops `length` symbols after each state; -inf in a last row."""
        if length < 0:
            raise UsageError(f"A string cannot have the length {length}. Give 0 or more.")
        while len(self._log_suffixes) <= length:
            ways = self._log_moves + self._log_suffixes[-1][self.automaton.table]
            best = ways.max(axis=1, initial=-np.inf)
            shift = np.where(np.isfinite(best), best, 0.0)
            with np.errstate(divide="ignore"):
                total = shift + np.log(np.exp(ways - shift[:, None]).sum(axis=1))
            self._log_suffixes.append(np.append(total, -np.inf))
        return self._log_suffixes[length]


def _chosen(rng: np.random.Generator, bounds: np.ndarray) -> np.ndarray:
    """Returns one column per row, by the running sums of its weights. Never one of weight zero: draws are below the
    total.
    """
    draws = rng.random(len(bounds)) * bounds[:, -1]
    return np.minimum((bounds <= draws[:, None]).sum(axis=1), bounds.shape[1] - 1).astype(np.int32)
