"""Exact probabilities of prefixes and of the symbols that follow them, under any weighted grammar.

>>> from humboldt.languages.formal.grammar_file import parse
>>> prefixes = Prefixes(parse("S -> a S b [0.7] | a b [0.3]"))
>>> {symbol: round(p, 6) for symbol, p in prefixes.next_distribution("a a".split()).items()}
{'a': 0.7, 'b': 0.3}
>>> prefixes.next_distribution("a b".split())
{None: 1.0}

The method is that of Jelinek and Lafferty (1991) in the order of Stolcke (1995): `expected[k, A]` is the sum of all
derivations that have read k symbols and go on with A as their leftmost nonterminal. Where two of a rule's symbols are
split at position m, what follows is expected at m as often as the rule was expected at i, times the probability that
its first symbol derives i to m. A nonterminal that is expected makes its leftmost descendants expected, too, which one
product with the matrix `corners` sums up. All numbers are kept relative to the probability of the prefix, so that long
prefixes lose nothing.
"""

import math
from collections.abc import Sequence

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.chart import spell
from humboldt.languages.formal.binary_form import binary_form
from humboldt.languages.formal.grammar_file import ContextFreeGrammar
from humboldt.languages.formal.span_chart import Binary, SpanChart, Star
from humboldt.languages.formal.text import spelled
from humboldt.languages.formal.weighted_form import weighted_form


class Prefixes:
    """Probabilities of prefixes, given that derivations end; `ends` is the probability of that.

    The last prefix is cached, so that extending it by a symbol costs one symbol.
    """

    def __init__(self, grammar: ContextFreeGrammar) -> None:
        if not grammar.useful:
            raise UsageError(f"{grammar.start} derives no finite string, so the language is empty: no prefix exists.")
        self.alphabet = grammar.alphabet
        self._ids = {symbol: place for place, symbol in enumerate(self.alphabet)}
        form = binary_form(grammar)
        self._form = weighted_form(form)
        self.ends = self._form.ends
        self._binary = Binary.of(self._form.binary)
        above = [
            [(int(a), float(self._form.star[a, b])) for a in np.nonzero(self._form.star[:, b])[0]]
            for b in range(form.size)
        ]
        self._chart = SpanChart(form.size, self._binary, Star.of(above))
        self._read: list[int] = []
        self._expected = np.zeros((8, form.size))
        self._logs = [0.0]  # log2 probability of each prefix of the symbols read
        self._expected[0] = (1 - self._form.empty) * self._form.corners[0]

    def next_distribution(self, prefix: Sequence[str]) -> dict[str | None, float]:
        """Returns the probabilities of the symbols that can follow `prefix`, and of ending under `None`."""
        self._advance(prefix)
        ways = self._ways()
        return {key: float(p) for key, p in zip((*self.alphabet, None), ways, strict=True) if p > 0}

    def log2_prefix(self, prefix: Sequence[str]) -> float:
        """Returns the logarithm, base 2, of the probability that a string begins with `prefix`; -inf if none does."""
        try:
            self._advance(prefix)
        except UsageError:
            return -math.inf
        return self._logs[-1]

    def log2_probability(self, string: Sequence[str]) -> float:
        """Returns the logarithm, base 2, of the probability of a string; -inf outside the language."""
        log = self.log2_prefix(string)
        end = self._ways()[-1] if log > -math.inf else 0.0
        return log + math.log2(end) if end > 0 else -math.inf

    def _ways(self) -> np.ndarray:
        """Returns the probabilities of each symbol, and of the end, after the symbols read."""
        read = len(self._read)
        end = (1 - self._form.empty) * self._chart.left[0, 0, read] if read else self._form.empty
        ways = np.append(self._expected[read] @ self._form.lexical, end)
        return ways / ways.sum()  # the sum is 1 up to rounding

    def _advance(self, prefix: Sequence[str]) -> None:
        ids = [self._ids.get(symbol, -1) for symbol in prefix]
        shared = 0
        while shared < min(len(ids), len(self._read)) and ids[shared] == self._read[shared]:
            shared += 1
        del self._read[shared:], self._logs[shared + 1 :]
        for position in range(shared, len(ids)):
            ways = self._ways()
            chance = float(ways[ids[position]]) if ids[position] >= 0 else 0.0
            if chance == 0:
                raise impossible(prefix, position, [self.alphabet[i] for i in np.nonzero(ways[:-1])[0]], bool(ways[-1]))
            self._append(ids[position], chance)

    def _append(self, symbol: int, chance: float) -> None:
        column = len(self._read) + 1
        if column >= len(self._expected):
            self._expected = np.concatenate([self._expected, np.zeros_like(self._expected)])
        self._chart.fill(column, self._form.lexical[:, symbol][None] / chance, self._expected)
        heads, firsts, seconds, weights = self._binary
        # Sums over all positions where a rule may have begun, then over the rules.
        begun = (self._expected[:column][:, heads] * self._chart.right[firsts, column, :column].T).sum(0) * weights
        expected = np.bincount(seconds, begun, self._chart.size) if len(begun) else np.zeros(self._chart.size)
        self._expected[column] = expected @ self._form.corners
        self._read.append(symbol)
        self._logs.append(self._logs[-1] + math.log2(chance))


def impossible(prefix: Sequence[str], position: int, symbols: Sequence[str], can_stop: bool) -> UsageError:
    """Returns the error for a prefix that no string begins with, which names the first wrong position."""
    options = [spelled(symbol) for symbol in symbols] + ["the end"] * can_stop
    return UsageError(
        f"No string of the language begins with `{spell(prefix)}`: at position {position + 1} is "
        f"`{prefix[position]}`, where only {' or '.join(options)} can follow. Correct the prefix."
    )
