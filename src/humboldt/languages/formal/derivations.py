"""Exact numbers of derivations by length, and strings drawn uniformly.

>>> from humboldt.languages.formal.grammar_file import parse
>>> derivations = Derivations(parse("S -> S S | a"))
>>> [derivations.count(length) for length in range(6)]
[0, 1, 1, 2, 5, 14]
>>> derivations.parses("a a a".split())
2
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.binary_form import binary_form
from humboldt.languages.formal.counted_form import counted_form
from humboldt.languages.formal.grammar_file import ContextFreeGrammar
from humboldt.languages.formal.grammar_growth import Shape
from humboldt.languages.formal.sampling import uniform_integers
from humboldt.languages.formal.span_chart import Binary, SpanChart, Star

EXACT = 2.0**53  # below it, sums of whole numbers in floating point are exact
FEWEST_ACCEPTED = Fraction(1, 1000)
PILOT = 100  # derivations from which the share of accepted ones is estimated
PILOT_SEED = 0
LONGEST = 2_000
MOST_REMEMBERED = 10_000  # strings whose number of derivations is kept
MOST_LISTED = 100  # derivations of a length whose strings are remembered

String = tuple[str, ...]
T = TypeVar("T")


class Derivations:
    """The derivations of a grammar, without circular ones.

    A nonterminal that derives itself alone (`A -> A`, or `A -> A B` where B can be empty) has infinitely many
    derivations of each of its strings. Such a grammar is `circular`, and is replaced by one with the same strings: it
    has no empty rules, and nonterminals that derive one another alone are one nonterminal. The numbers are then those
    of that grammar. The derivations of any other grammar are counted as they are.
    """

    def __init__(self, grammar: ContextFreeGrammar) -> None:
        self.grammar = grammar
        form = binary_form(grammar)
        self.circular = bool(form.circles())
        self._form = counted_form(form)
        size = self._form.size
        self._derived: list[list[int]] = [[0] for _ in range(size)]  # [A][n]: derivations of length n from A
        self._direct: list[list[int]] = [[0] for _ in range(size)]  # those whose first rule is binary or lexical
        self._joined: dict[tuple[int, int], list[int]] = {pair: [0] for pair in self._form.pairs}
        self._remembered: dict[String, int] = {}
        self._lengths: list[list[int]] = [[] for _ in range(size)]  # [A]: the lengths n with derivations

    @cached_property
    def shape(self) -> Shape:
        """The growth of the numbers, and the lengths of the shortest and the longest string."""
        return Shape(self._form)

    def count(self, length: int) -> int:
        """Returns the number of derivations of strings with `length` symbols."""
        if length < 0:
            return 0
        self._extend(length)
        return self._derived[self._form.start][length] if length else self._form.empty

    def counts(self, longest: int) -> list[int]:
        """Returns the numbers for all lengths from 0 to `longest`."""
        return [self.count(length) for length in range(longest + 1)]

    def sample(self, length: int, rng: np.random.Generator) -> String:
        """Returns the string of a derivation drawn uniformly from all those of `length`."""
        if not self.count(length):
            raise UsageError(f"The language has no string of length {length}. {self._near(length)}")
        rank = _below(rng, self.count(length))
        if self.count(length) > MOST_LISTED:
            return self._ranked(rank, length)
        if (length, rank) not in self._listed:
            self._listed[length, rank] = self._ranked(rank, length)
        return self._listed[length, rank]

    @cached_property
    def _listed(self) -> dict[tuple[int, int], String]:
        """The strings of lengths that have few derivations, by length and rank."""
        return {}

    def _ranked(self, rank: int, length: int) -> String:
        """Returns the string of the derivation with this rank among those of a length: one draw gives all choices."""
        string: list[str] = []
        pending = [(self._form.start, length, rank)] if length else []
        while pending:
            head, size, rank = pending.pop()
            head, rank = _pick(((symbol, u, self._direct[symbol][size]) for symbol, u in self._form.below[head]), rank)
            if size == 1:
                symbol, _ = _pick(((symbol, weight, 1) for symbol, weight in self._form.lexical_of[head]), rank)
                string.append(self.grammar.alphabet[symbol])
                continue
            options = ((pair, weight, self._joined[pair][size]) for pair, weight in self._form.rules_of[head])
            (first, second), rank = _pick(options, rank)
            ones, twos = self._derived[first], self._derived[second]
            # From both ends in turn, since one part is often short.
            at, rank = _pick(((m, ones[m], twos[size - m]) for m in _outside_in(size) if ones[m]), rank, modulo=False)
            rank, other = divmod(rank, twos[size - at])
            pending += [(second, size - at, other), (first, at, rank)]
        return tuple(string)

    def parses(self, string: Sequence[str]) -> int:
        """Returns the number of derivations of one string; 0 outside the language."""
        string = tuple(string)
        if not string or not set(string) <= self._places.keys():
            return 0 if string else self._form.empty
        if string not in self._remembered:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            count = self._parses_float([self._places[symbol] for symbol in string])
            self._remembered[string] = int(count) if count < EXACT else self.parses_exact(string)
        return self._remembered[string]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {symbol: place for place, symbol in enumerate(self.grammar.alphabet)}

    def parses_exact(self, string: Sequence[str]) -> int:
        """Returns the same in integers of any size. Slow: for strings with more than 2^53 derivations of a part."""
        if not string:
            return self._form.empty
        spans: list[dict[int, dict[int, int]]] = [{} for _ in string]  # [i][j]: counts by nonterminal
        for j in range(1, len(string) + 1):
            for i in reversed(range(j)):
                ways: dict[int, int] = {}
                if i == j - 1:
                    ways.update(self._form.lexical.get(self._places.get(string[i], -1), ()))
                for m, ones in spans[i].items():
                    for first, count in ones.items():
                        for second, more in spans[m].get(j, {}).items():
                            for head, weight in self._form.pairs.get((first, second), ()):
                                ways[head] = ways.get(head, 0) + weight * count * more
                if ways:
                    spans[i][j] = self._form.lifted(ways)
        return spans[0].get(len(string), {}).get(self._form.start, 0)

    def accepted(self, length: int) -> float:
        """Returns the share of derivations that `uniform` accepts, which is strings per derivation: estimated from a
        few.
        """
        if length not in self._accepted:
            rng = np.random.default_rng([PILOT_SEED, length])
            drawn = [self.parses(self.sample(length, rng)) for _ in range(PILOT)]
            self._accepted[length] = sum(1 / parses for parses in drawn) / PILOT
        return self._accepted[length]

    @cached_property
    def _accepted(self) -> dict[int, float]:
        return {}

    def uniform(self, length: int, rng: np.random.Generator) -> String:
        """Returns a string drawn uniformly from all those of `length`, also where they have several derivations.

        A string is drawn by derivation, and accepted with probability 1 / `parses`.
        """
        if not self.count(length):
            raise UsageError(f"The language has no string of length {length}. {self._near(length)}")
        share = self.accepted(length)
        if share < FEWEST_ACCEPTED:
            draws = f"only about 1 in {1 / share:,.0f} draws" if share > 1e-12 else "fewer than 1 in 10^12 draws"
            raise UsageError(
                f"Strings of length {length} have so many derivations each that {draws} would be accepted; the "
                f"limit is 1 in {1 / FEWEST_ACCEPTED}. Write a less ambiguous grammar, or use shorter strings."
            )
        while True:
            string = self.sample(length, rng)
            if _below(rng, self.parses(string)) == 0:
                return string

    def _extend(self, length: int) -> None:
        known = len(self._derived[0]) - 1
        if length <= known:
            return
        if length > LONGEST:
            raise UsageError(f"Length {length} is above {LONGEST:,}, the limit for counting. Use a shorter length.")
        for n in range(known + 1, length + 1):
            ways: dict[int, int] = {}
            if n == 1:
                for pairs in self._form.lexical.values():
                    for head, weight in pairs:
                        ways[head] = ways.get(head, 0) + weight
            for (first, second), heads in self._form.pairs.items():
                ones, twos = self._derived[first], self._derived[second]
                total = sum(ones[m] * twos[n - m] for m in self._lengths[first] if m < n)
                self._joined[first, second].append(total)
                if total:
                    for head, weight in heads:
                        ways[head] = ways.get(head, 0) + weight * total
            lifted = self._form.lifted(ways)
            for symbol in range(self._form.size):
                self._direct[symbol].append(ways.get(symbol, 0))
                self._derived[symbol].append(lifted.get(symbol, 0))
                if symbol in lifted:
                    self._lengths[symbol].append(n)

    def _parses_float(self, ids: list[int]) -> float:
        if self._chart is None:
            return np.inf
        size, length = self._form.size, len(ids)
        self._chart.fill(1, self._lexical[ids], np.ones((length, size)))
        largest = float(self._chart.right[:, : length + 1, :length].max())
        return largest if largest >= EXACT else float(self._chart.left[self._form.start, 0, length])

    @cached_property
    def _lexical(self) -> np.ndarray:
        table = np.zeros((len(self.grammar.alphabet), self._form.size))
        for symbol, pairs in self._form.lexical.items():
            for head, weight in pairs:
                table[symbol, head] = weight
        return table

    @cached_property
    def _chart(self) -> SpanChart | None:
        form = self._form
        weights = [w for pairs in form.pairs.values() for _, w in pairs]
        weights += [w for pairs in form.above for _, w in pairs]
        if max(weights, default=0) >= EXACT:
            return None
        rules = [(head, b, c, float(w)) for (b, c), pairs in form.pairs.items() for head, w in pairs]
        return SpanChart(form.size, Binary.of(rules), Star.of([[(a, float(w)) for a, w in p] for p in form.above]))

    def _near(self, length: int) -> str:
        possible = [n for n in range(min(length + 20, LONGEST)) if self.count(n)]
        if not possible:
            return "It has none of any nearby length."
        near = sorted(sorted(possible, key=lambda n: abs(n - length))[:4])
        return f"There are strings of length {', '.join(map(str, near))}."


def _below(rng: np.random.Generator, bound: int) -> int:
    return uniform_integers(rng, bound, 1)[0]


def _pick(options: Iterable[tuple[T, int, int]], rank: int, *, modulo: bool = True) -> tuple[T, int]:
    """Returns the option that a rank falls on, and the rank within it.

    An option `(option, times, size)` holds `times` copies of `size` ranks; with `modulo`, copies are the same.
    """
    for option, times, size in options:
        if rank < times * size:
            return option, rank % size if modulo else rank
        rank -= times * size
    raise AssertionError("the rank is not below the number of derivations")


def _outside_in(size: int) -> Iterator[int]:
    for m in range(1, size // 2 + 1):
        yield m
        if size - m != m:
            yield size - m
