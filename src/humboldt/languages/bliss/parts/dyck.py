"""Well balanced brackets."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.bliss.base import AbstractLanguage, Measure
from humboldt.languages.bliss.parts.automaton import StackAutomaton
from humboldt.languages.bliss.parts.corpus import PRIOR, Corpus
from humboldt.languages.bliss.parts.test_set import WrittenTestSet, check_request


class AbstractDyck(AbstractLanguage):
    """Strings of balanced brackets of the kinds in `brackets`, such as `("()", "[]")`, including the empty string."""

    measure = Measure.CATEGORICAL
    brackets: ClassVar[tuple[str, ...]]
    automaton = StackAutomaton()

    def distributions(self, p: float = PRIOR) -> np.ndarray:
        """Returns the table: any bracket opens with p; the innermost closes, or the string ends, with 1 - p."""
        pairs = len(self.brackets)
        table = np.zeros((1 + pairs, 1 + 2 * pairs))
        table[:, 1::2] = p / pairs
        table[0, 0] = 1 - p
        for pair in range(pairs):
            table[1 + pair, 2 + 2 * pair] = 1 - p
        return table

    def check_prior(self, p: float) -> None:
        """Raises an error for p above 1/2, where brackets open faster than they close."""
        super().check_prior(p)
        if p > 0.5:
            raise UsageError(
                f"p = {p:g} opens brackets faster than 1 - p closes them: strings need not end. Use p of at most 0.5."
            )

    def size(self, string: Sequence[str]) -> int:
        """Returns the length."""
        return len(string)

    def expected_length(self, p: float = PRIOR) -> float:
        """Returns 2p / (1 - 2p), the solution of E = p (2 + 2E)."""
        return 2 * p / (1 - 2 * p) if p < 0.5 else float("inf")

    def test_set(self, *, after: Corpus | int, count: int) -> WrittenTestSet:
        """Returns the strings after the corpus's last (or after a length), by length, then lexicographically."""
        check_request(after, count)
        if isinstance(after, Corpus):
            return WrittenTestSet(self, self._strings_after(after.last), count, after.p)
        return WrittenTestSet(self, self._strings_after("()" * (after // 2), whole_length=True), count, PRIOR)

    def _strings_after(self, string: str, *, whole_length: bool = False) -> Iterator[str]:
        while True:
            following = None if whole_length else self.successor(string)
            whole_length = False
            string = self.first(len(string) + 2) if following is None else following
            yield string

    def first(self, length: int) -> str:
        """Returns the lexicographically first string of an even length."""
        return self._completed("", [], length)

    def successor(self, string: str) -> str | None:
        """Returns the next string of the same length, lexicographically; `None` after the last.

        It shares the longest prefix that a larger symbol can follow; the rest is the smallest possible.
        """
        symbols = self.input_alphabet.symbols
        opened: list[list[str]] = [[]]  # the closing brackets required after each prefix
        for symbol in string:
            due = opened[-1]
            pair = self.brackets[(symbols.index(symbol) - 1) // 2]
            opened.append([*due, pair[1]] if symbol == pair[0] else due[:-1])
        for position in reversed(range(len(string))):
            due, left = opened[position], len(string) - position
            for symbol in symbols[symbols.index(string[position]) + 1 :]:
                pair = self.brackets[(symbols.index(symbol) - 1) // 2]
                if symbol == pair[0] and left >= len(due) + 2:
                    return self._completed(string[:position] + symbol, [*due, pair[1]], len(string))
                if due and symbol == due[-1]:
                    return self._completed(string[:position] + symbol, due[:-1], len(string))
        return None

    def _completed(self, prefix: str, due: list[str], length: int) -> str:
        """Returns the smallest completion: opens the first bracket as often as possible, then closes all."""
        more = (length - len(prefix) - len(due)) // 2
        return prefix + self.brackets[0][0] * more + self.brackets[0][1] * more + "".join(reversed(due))

    def depth(self, string: Sequence[str]) -> int:
        """Returns the maximal number of brackets that are open at once."""
        opening = {pair[0] for pair in self.brackets}
        return int(np.cumsum([1 if symbol in opening else -1 for symbol in string]).max(initial=0))

    def nested(self, depth: int) -> str:
        """Returns the first bracket opened `depth` times, then closed as often: `((()))`."""
        return self.brackets[0][0] * depth + self.brackets[0][1] * depth

    def random_string(self, rng: np.random.Generator, length: int) -> str:
        """Returns a random string of an even length; all of them are equally likely.

        Of `half` opening and `half + 1` closing brackets in any circular order, exactly one rotation is a balanced
        string followed by the surplus bracket (the cycle lemma): the one that begins after the first minimum of the
        partial sums.
        """
        if length < 0 or length % 2:
            raise UsageError(f"No balanced string has {length} symbols. Use an even length of 0 or more.")
        half = length // 2
        steps = rng.permutation(np.repeat([1, -1], [half, half + 1]))
        begin = int(np.cumsum(steps).argmin()) + 1
        symbols, due = [], []
        for step in np.roll(steps, -begin)[:length].tolist():
            if step > 0:
                pair = self.brackets[int(rng.integers(len(self.brackets)))]
                symbols.append(pair[0])
                due.append(pair[1])
            else:
                symbols.append(due.pop())
        return "".join(symbols)

    def draw(self, rng: np.random.RandomState, count: int, p: float) -> list[str]:
        grammar = self.grammar(p)
        return ["".join(grammar.sample(rng)) for _ in range(count)]
