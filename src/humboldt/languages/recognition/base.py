"""The base classes of the `recognition` tasks: a language as a set of strings, with a sampler of positives."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Alphabet, Drawn, ProblemKind
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.automaton_file import parse_automaton
from humboldt.languages.formal.continuations import Continuations, Next
from humboldt.languages.formal.distance import EditDistance
from humboldt.languages.formal.sampling import WeightedSampler

NO, YES = "no", "yes"
CHECKED_STRINGS, CHECKED_LONGEST = 60, 40


class AbstractRecognition(AbstractTask):
    """A language. Strings are right-padded ids of the input alphabet, shape `(count, time)`, with lengths.

    Subclasses define the membership of one string, `contains`, and the sampler `draw`.
    """

    problem = ProblemKind.CLASSIFICATION
    output_alphabet = Alphabet((NO, YES))
    chance = 0.5

    @abstractmethod
    def contains(self, symbols: Sequence[str]) -> bool:
        """Returns whether a string is in the language, in the obvious way."""

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Returns the label of a string."""
        return [YES if self.contains(symbols) else NO]

    @abstractmethod
    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        """Returns `count` strings of the language, of at most `longest` symbols, as ids."""

    def drawn_examples(self, seed: int) -> Iterator[Drawn]:
        rng = np.random.default_rng(seed)
        positives = self.draw(rng, CHECKED_STRINGS, CHECKED_LONGEST)
        if len(positives) != CHECKED_STRINGS or max(map(len, positives)) > CHECKED_LONGEST:
            raise ValueError(
                f"{CHECKED_STRINGS} strings of at most {CHECKED_LONGEST} symbols were asked for, and `draw` returned "
                f"{len(positives)}, the longest of {max(map(len, positives), default=0)} symbols"
            )
        yield Drawn(positives, [[1]] * len(positives))
        lengths = rng.integers(0, CHECKED_LONGEST + 1, CHECKED_STRINGS)
        strings = [rng.integers(0, len(self.input_alphabet), length).tolist() for length in lengths]
        yield Drawn(strings, [[int(label)] for label in self.members(strings)])

    def members(self, strings: Sequence[Sequence[int]]) -> np.ndarray:
        """Returns whether each string, given as ids, is in the language; shape `(count,)`."""
        return np.array([self.contains(self.input_alphabet.decode(string)) for string in strings], bool)

    @abstractmethod
    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns the symbols that can follow a prefix of strings of the language, of any length, and whether it can
        end."""

    def next_sets(self, strings: Sequence[Sequence[int]]) -> list[list[int]]:
        """Returns the symbols that can follow each prefix of strings of the language, given as ids, from the first
        symbol to the whole string: as bits, the lowest for symbol 0, the highest for the end."""
        sets = []
        for string in strings:
            symbols = self.input_alphabet.decode(string)
            sets.append([self.bits(self.valid_next(symbols[:end])) for end in range(1, len(symbols) + 1)])
        return sets

    def bits(self, following: Next) -> int:
        """Returns a set of symbols as bits."""
        symbols = self.input_alphabet.symbols
        bits = sum(1 << place for place, symbol in enumerate(symbols) if symbol in following.symbols)
        return bits + (following.can_stop << len(symbols))

    def distances(self, strings: Sequence[Sequence[int]]) -> np.ndarray | None:
        """Returns the edit distance of each string to the language, or `None` if it cannot be computed."""
        del strings
        return None


class AbstractRegular(AbstractRecognition):
    """The language of an automaton, written as the file of one.

    A positive has a length that is uniform among the possible ones; given the length, its probability is the product of
    those of its transitions, where each state gives all its transitions, and stopping, the same probability.
    """

    automaton_text: ClassVar[str]

    @classmethod
    def automaton(cls) -> Automaton:
        """Returns the automaton; its alphabet has the order of `input_alphabet`."""
        return _automaton(cls.automaton_text)

    @classmethod
    def sampler(cls) -> WeightedSampler:
        """Returns the sampler of positives."""
        return _sampler(cls.automaton_text)

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        sampler = self.sampler()
        possible = [n for n in range(longest + 1) if sampler.log_probability_of_length(n) > -np.inf]
        if not possible:
            raise UsageError(f"The language has no string of at most {longest} symbols. Use longer strings.")
        lengths = rng.choice(possible, count)
        rows = sampler.draw_of_lengths(rng, lengths=lengths).tolist()
        return [row[:length] for row, length in zip(rows, lengths, strict=True)]

    def members(self, strings: Sequence[Sequence[int]]) -> np.ndarray:
        """Runs the automaton on all strings at once."""
        automaton = self.automaton()
        tokens, lengths = padded(strings)
        states = automaton.trace(tokens)[np.arange(len(tokens)), lengths]
        return (states >= 0) & automaton.accepting[states]

    def valid_next(self, prefix: Sequence[str]) -> Next:
        return Continuations(self.automaton()).next_symbols(prefix)

    def next_sets(self, strings: Sequence[Sequence[int]]) -> list[list[int]]:
        """Runs the automaton on all strings at once."""
        tokens, lengths = padded(strings)
        possible = Continuations(self.automaton()).sets(tokens)[:, 1:]  # the end comes last
        bits = (possible << np.arange(possible.shape[2])).sum(2)
        return [row[:length].tolist() for row, length in zip(bits, lengths, strict=True)]

    def distances(self, strings: Sequence[Sequence[int]]) -> np.ndarray:
        return EditDistance(self.automaton())(*padded(strings))


def padded(strings: Sequence[Sequence[int]], time: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Returns strings as right-padded ids, shape `(count, time)`, and their lengths. `time`: the width at least."""
    lengths = np.array([len(string) for string in strings], np.int32)
    tokens = np.zeros((len(strings), max(time, int(lengths.max(initial=0)))), np.int32)
    tokens[np.arange(tokens.shape[1]) < lengths[:, None]] = [symbol for string in strings for symbol in string]
    return tokens, lengths


@lru_cache(maxsize=32)
def _automaton(text: str) -> Automaton:
    return parse_automaton(text)


@lru_cache(maxsize=32)
def _sampler(text: str) -> WeightedSampler:
    return WeightedSampler(_automaton(text))
