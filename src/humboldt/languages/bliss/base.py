"""The base class of the `bliss` languages."""

import enum
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Drawn, ProblemKind
from humboldt.languages.bliss.parts.automaton import AbstractAutomaton
from humboldt.languages.bliss.parts.corpus import BOUNDARY, PRIOR, Corpus
from humboldt.languages.bliss.parts.test_set import AbstractTestSet
from humboldt.languages.chart import outside, spell
from humboldt.languages.grammar import Grammar

CHECKED_STRINGS = 100
SAME = 1e-9  # between a sum of probabilities and 1


class Measure(enum.Enum):
    """The criterion for success on a string (paper, section 3.5)."""

    DETERMINISTIC = "M_det"
    CATEGORICAL = "M_cat"


class AbstractLanguage(AbstractTask):
    """A probabilistic language, posed as next-symbol prediction: `# a a b b` -> `a a b b #`.

    Strings are given without the boundary `#`, prefixes with or without the one they begin with; both as a `str` (all
    symbols are single characters; spaces are ignored) or as a sequence of symbols. `p` is the prior of the grammar.

    Each language defines the `measure` that the paper scores it by, and the text of its grammar, `rules`, with `{p}`,
    `{q}` and `{half}` for p, 1 - p and p / 2; `rules` is empty if no context-free grammar exists.
    """

    problem = ProblemKind.NEXT_SYMBOL
    measure: ClassVar[Measure]
    rules: ClassVar[str] = ""
    automaton: ClassVar[AbstractAutomaton]

    @abstractmethod
    def distributions(self, p: float = PRIOR) -> np.ndarray:
        """Returns next-symbol distributions by kind of prefix, shape `(kinds, vocabulary)`; kind 0 is `#` alone."""

    @abstractmethod
    def size(self, string: Sequence[str]) -> int:
        """Returns the size of a string, the "n" of this language."""

    @abstractmethod
    def expected_length(self, p: float = PRIOR) -> float:
        """Returns the mean number of symbols of a sampled string, without boundaries."""

    @abstractmethod
    def test_set(self, *, after: Corpus | int, count: int) -> AbstractTestSet:
        """Returns the next `count` strings after a training corpus, or after all strings of a size; see the docs."""

    @abstractmethod
    def draw(self, rng: np.random.RandomState, count: int, p: float) -> list[str]:
        """Returns `count` random strings, in the order in which they are drawn."""

    def corpus(self, count: int, seed: int, p: float = PRIOR) -> Corpus:
        """Returns a training corpus: `count` strings sampled with repetition, then sorted by length.

        It equals the released file for the same count, prior and seed, because NumPy's legacy generator is used.
        """
        return Corpus(self, tuple(sorted(self.drawn(count, seed, p), key=len)), p)

    def drawn(self, count: int, seed: int, p: float = PRIOR) -> list[str]:
        """Returns the strings of a corpus in the order of drawing: a larger corpus begins with the same strings."""
        self.check_prior(p)
        if count < 1:
            raise UsageError(f"A corpus of {count} strings is empty. Ask for a count of 1 or more.")
        if not 0 <= seed < 2**32:
            raise UsageError(f"Seed {seed} is not a seed of NumPy's legacy generator. Use one from 0 to 4294967295.")
        return self.draw(np.random.RandomState(seed), count, p)

    def grammar(self, p: float = PRIOR) -> Grammar:
        """Returns the grammar that corpora are drawn from."""
        self.check_prior(p)
        if not self.rules:
            raise UsageError(
                f"{type(self).__name__} is not context-free, so it has no grammar. Use `corpus`, `probability` and "
                "`valid_next`, which need none."
            )
        p = float(p)
        text = self.rules.format(p=repr(p), q=repr(1 - p), half=repr(p / 2))
        return Grammar.parse(text, alphabet=self.input_alphabet.symbols[1:])

    def check_prior(self, p: float) -> None:
        """Raises an error for a prior with which the language cannot be sampled."""
        if not 0 < p < 1:
            raise UsageError(f"p = {p:g} is not a prior of this grammar: it must lie between 0 and 1. Try p=0.3.")

    def accepts(self, string: Sequence[str]) -> bool:
        """Returns whether the string is in the language."""
        symbols = self._symbols(string)
        kinds, fault = self._scan(symbols)
        return fault == len(symbols) and bool(self.distributions()[kinds[-1], 0] > 0)

    def valid_next(self, prefix: Sequence[str]) -> frozenset[str]:
        """Returns the symbols that can follow a prefix, with `#` if the string can end.

        >>> from humboldt.languages import tasks
        >>> language = tasks.get("bliss/an_bn")()
        >>> sorted(language.valid_next("#aa")), sorted(language.valid_next("# a a b b"))
        (['a', 'b'], ['#'])
        """
        row = self._kinds(prefix)[-1]  # first: a language from a file adds kinds of prefix as it reads
        return frozenset(
            symbol
            for symbol, chance in zip(self.input_alphabet.symbols, self.distributions()[row], strict=True)
            if chance
        )

    def next_distribution(self, prefix: Sequence[str], p: float = PRIOR) -> np.ndarray:
        """Returns the exact next-symbol probabilities after a prefix, shape `(vocabulary,)`."""
        self.check_prior(p)
        row = self._kinds(prefix)[-1]
        return self.distributions(p)[row]

    def log2_probability(self, string: Sequence[str], p: float = PRIOR) -> float:
        """Returns the logarithm, base 2, of `probability`, which underflows for long strings."""
        self.check_prior(p)
        if not self.accepts(string):
            return -math.inf
        symbols = self._symbols(string)
        targets = [*self.input_alphabet.encode(symbols), 0]
        return float(np.log2(self.distributions(p)[self._scan(symbols)[0], targets]).sum())

    def probability(self, string: Sequence[str], p: float = PRIOR) -> float:
        """Returns the probability of sampling this string; 0 outside the language."""
        return 2.0 ** self.log2_probability(string, p)

    def valid_mask(self, string: Sequence[str]) -> np.ndarray:
        """Returns a mask of the symbols that can follow at each step, shape `(len(string) + 1, vocabulary)`."""
        kinds = self._string_kinds(string)
        return self.distributions()[kinds] > 0

    def deterministic_mask(self, string: Sequence[str]) -> np.ndarray:
        """Returns a mask of the deterministic steps, shape `(len(string) + 1,)`; see `deterministic_kinds`."""
        kinds = self._string_kinds(string)
        return self.deterministic_kinds()[kinds]

    def deterministic_kinds(self) -> np.ndarray:
        """Returns a mask of the kinds of prefix that only one symbol can follow, shape `(kinds,)`.

        The first step is never deterministic: although strings here have n >= 1, the paper (figure 2) and the released
        masks do not count the symbol after the opening `#` as determined.
        """
        single = (self.distributions() > 0).sum(1) == 1
        single[0] = False
        return single

    def drawn_examples(self, seed: int) -> Iterator[Drawn]:
        strings = self.drawn(CHECKED_STRINGS, seed)
        if len(strings) != CHECKED_STRINGS:
            raise ValueError(f"{CHECKED_STRINGS} strings were asked for, and `draw` returned {len(strings)}")
        ids = [self.input_alphabet.encode(self._symbols(string)).tolist() for string in strings]
        yield Drawn([[0, *string] for string in ids], [[*string, 0] for string in ids])

    def verify(self) -> None:
        """Raises an error unless the boundary is symbol 0 and every next-symbol distribution sums to 1."""
        if self.input_alphabet.symbols[0] != BOUNDARY or self.input_alphabet != self.output_alphabet:
            raise UsageError(
                f"The alphabets are {' '.join(self.input_alphabet.symbols)} and "
                f"{' '.join(self.output_alphabet.symbols)}. A language has one alphabet, which begins with '#'."
            )
        for string in self.drawn(CHECKED_STRINGS, 0):
            self._scan(self._symbols(string))  # a language from a file adds kinds of prefix as it reads
        distributions = self.distributions()
        sums = distributions.sum(1)
        worst = int(np.abs(sums - 1).argmax())
        if abs(sums[worst] - 1) > SAME or distributions.min() < 0 or distributions.shape[1] != len(self.input_alphabet):
            raise UsageError(
                f"Row {worst} of `distributions` has {distributions.shape[1]} numbers, with the sum {sums[worst]:.6g}. "
                f"A row is a distribution over {len(self.input_alphabet)} symbols: not negative, with the sum 1."
            )

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Returns the targets of a whole string: `# a a b b` -> `a a b b #`. Raises outside the language."""
        symbols = list(symbols)
        if not symbols or symbols[0] != BOUNDARY:
            raise UsageError(f"The input {spell(symbols)!r} does not begin with '#'. Write '{spell(['#', *symbols])}'.")
        self._string_kinds(symbols[1:], offset=1)
        return [*symbols[1:], BOUNDARY]

    def pair(self, string: Sequence[str]) -> tuple[str, str]:
        """Returns a string as `(input, target)`, symbols separated by spaces."""
        symbols = self._symbols(string)
        return " ".join([BOUNDARY, *symbols]), " ".join([*symbols, BOUNDARY])

    def _symbols(self, string: Sequence[str]) -> list[str]:
        symbols = list(string.replace(" ", "")) if isinstance(string, str) else list(string)
        self.input_alphabet.encode(symbols)  # raises an error for an unknown symbol
        return symbols

    def _kinds(self, prefix: Sequence[str]) -> np.ndarray:
        symbols = self._symbols(prefix)
        offset = int(symbols[:1] == [BOUNDARY])
        return self._checked_kinds(symbols, offset)

    def _string_kinds(self, string: Sequence[str], offset: int = 0) -> np.ndarray:
        """Returns the kind of each prefix of a whole string; `offset` is added to positions in messages."""
        symbols = [BOUNDARY] * offset + self._symbols(string)
        kinds = self._checked_kinds(symbols, offset)
        if not self.distributions()[kinds[-1], 0]:
            raise outside(symbols, len(symbols), self.valid_next(symbols))
        return kinds

    def _checked_kinds(self, symbols: list[str], offset: int) -> np.ndarray:
        kinds, fault = self._scan(symbols[offset:])
        if fault < len(symbols) - offset:
            raise outside(symbols, offset + fault, self.valid_next(symbols[offset : offset + fault]))
        return kinds

    def _scan(self, symbols: list[str]) -> tuple[np.ndarray, int]:
        """Returns the kind of each valid prefix, and the first invalid position (the length if there is none)."""
        ids = self.input_alphabet.encode(symbols)
        if not ids.all():
            ids = ids[: ids.argmin()]  # `#` within a string is wrong at any position
        kinds = self.automaton.scan(ids)
        wrong = np.flatnonzero(self.distributions()[kinds[:-1], ids] == 0)
        fault = int(wrong[0]) if len(wrong) else len(ids)
        return kinds[: fault + 1], fault
