"""The prefixes of a language as the nodes of a tree: what follows each one, and with which probability.

Nodes are numbers; 0 is the empty prefix. Symbols are numbers, too: 0 is the end, then the alphabet follows. Two
prefixes after which the same strings follow with the same probabilities may be one node.

>>> from humboldt.languages.formal.grammar_file import parse
>>> tree = GrammarTree(parse("S -> a S b [0.7] | a b [0.3]"))
>>> node = tree.child(tree.child(0, 1), 1)  # after `a a`
>>> tree.distribution(node).round(6).tolist(), tree.child(tree.child(node, 2), 2) == tree.child(tree.child(0, 1), 2)
([0.0, 0.7, 0.3], True)
>>> strings = ordered(tree, None)
>>> [[ord(symbol) for symbol in next(strings)] for _ in range(2)]
[[1, 2], [1, 1, 2, 2]]
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.binary_form import binary_form
from humboldt.languages.formal.grammar_file import ContextFreeGrammar
from humboldt.languages.formal.minimal import minimal, with_weights
from humboldt.languages.formal.weighted_form import weighted_form

MOST_NODES = 2_000_000
LONGEST_FORCED = 100_000  # symbols in a row that leave no choice
DIGITS = 10  # by which probabilities are compared where nodes are merged


class AbstractPrefixTree(ABC):
    """The prefixes of a language that is not empty. `symbols` is the number of symbols, with the end."""

    symbols: int

    @abstractmethod
    def distribution(self, node: int) -> np.ndarray:
        """Returns the probabilities of the end and of each symbol after a prefix, shape `(symbols,)`."""

    @abstractmethod
    def child(self, node: int, symbol: int) -> int:
        """Returns the prefix with one more symbol, which must have a probability above 0."""

    @abstractmethod
    def completions(self, node: int, longest: int) -> int:
        """Returns the numbers of symbols, up to `longest` at least, after which a string can end, as the bits of an
        integer.
        """

    def ways(self, node: int) -> list[tuple[int, int]]:
        """Returns the symbols that can follow a prefix, each with the prefix that it leads to; the last symbol comes
        first.
        """
        if node not in self._ways:
            symbols = (np.flatnonzero(self.distribution(node)[1:]) + 1).tolist()
            self._ways[node] = [(symbol, self.child(node, symbol)) for symbol in reversed(symbols)]
        return self._ways[node]

    def forced(self, node: int) -> str:
        """Returns the symbols that follow a prefix as long as only one can, and not the end; as text, see `ordered`."""
        path = []
        while node not in self._forced:
            path.append(node)
            ways = self.ways(node)
            if len(ways) != 1 or self.distribution(node)[0] > 0 or len(path) > LONGEST_FORCED:
                self._forced[path.pop()] = ""
                break
            node = ways[0][1]
        for earlier in reversed(path):
            (symbol, child), *_ = self.ways(earlier)
            self._forced[earlier] = chr(symbol) + self._forced[child]
        return self._forced[path[0] if path else node]

    @cached_property
    def _forced(self) -> dict[int, str]:
        return {}

    @cached_property
    def _ways(self) -> dict[int, list[tuple[int, int]]]:
        return {}

    def can_end_after(self, node: int, length: int) -> bool:
        """Returns whether a string ends exactly `length` symbols after a prefix."""
        return bool(self.completions(node, length) >> length & 1)


class StateTree(AbstractPrefixTree):
    """The prefixes of a regular language: the states of the minimal weighted automaton, and the empty prefix as 0."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = form = minimal(with_weights(automaton))
        assert form.moves is not None and form.stops is not None
        self.symbols = 1 + len(form.alphabet)
        weights = np.concatenate([form.stops[:, None], form.moves], axis=1)
        self._weights = np.concatenate([weights[form.start][None], weights])
        self._children = np.concatenate([form.table[form.start][None], form.table]) + 1
        self._ends: tuple[int, list[int]] = (-1, [])

    def distribution(self, node: int) -> np.ndarray:
        return self._weights[node]

    def child(self, node: int, symbol: int) -> int:
        return int(self._children[node, symbol - 1])

    def completions(self, node: int, longest: int) -> int:
        if self._ends[0] < longest:
            limit, table = _limit(longest), self._automaton.table
            ends = self._automaton.accepting
            masks = ends.astype(object)
            for length in range(1, limit + 1):
                ends = (np.append(ends, False)[table] & (table != MISSING)).any(1)
                masks[ends] += 1 << length
            self._ends = limit, masks.tolist()
        return self._ends[1][node - 1 if node else self._automaton.start]


class _Node:
    """One prefix, given the nonterminals that it can be divided into.

    - `spans`: for earlier nodes, the nonterminals that derive what has been read since then, with the probability of
      that relative to what was read. Only those that something can follow.
    - `base`: nonterminals that follow a complete part, and how often on average; `expected`: with their left corners.
    """

    __slots__ = ("base", "depth", "expected", "outer", "probabilities", "spans")

    def __init__(self, depth: int, spans: dict["_Node", dict[int, float]], base: dict[int, float]) -> None:
        self.depth, self.spans, self.base = depth, spans, base
        self.expected = self.probabilities = np.zeros(0)
        self.outer: tuple[int, dict[int, int]] = (-1, {})


class GrammarTree(AbstractPrefixTree):
    """The prefixes of a grammar, computed on demand.

    The sums are those of `humboldt.languages.formal.prefixes`, which is the slow form, for one prefix at a time.
    """

    def __init__(self, grammar: ContextFreeGrammar) -> None:
        if not grammar.useful:
            raise UsageError(f"{grammar.start} derives no finite string, so the language is empty: no prefix exists.")
        binary = binary_form(grammar)
        self._form = form = weighted_form(binary)
        self.symbols = 1 + len(grammar.alphabet)
        self._after: dict[int, list[tuple[int, int, float]]] = {}  # by the first symbol of a rule
        for head, first, second, weight in form.binary:
            self._after.setdefault(first, []).append((head, second, weight))
        size = binary.size
        self._above = [
            [(a, float(form.star[a, b])) for a in np.flatnonzero(form.star[:, b]).tolist()] for b in range(size)
        ]
        self._lexical = [dict(_nonzero(form.lexical[:, symbol])) for symbol in range(len(grammar.alphabet))]
        self._units = [[b for b in np.flatnonzero(form.star[a]).tolist() if b != a] for a in range(size)]
        self._binary_of: dict[int, list[tuple[int, int]]] = {}
        for head, first, second, _ in form.binary:
            self._binary_of.setdefault(head, []).append((first, second))
        self._lengths: tuple[int, list[int]] = (-1, [])
        self._limit = -1
        self._ends: dict[int, int] = {}
        self._nodes: list[_Node] = []
        self._numbers: dict[object, int] = {}
        self._children: dict[tuple[int, int], int] = {}
        root = _Node(0, {}, {0: 1 - form.empty} if form.empty < 1 else {})
        self._finish(root, form.empty)
        self._nodes.append(root)

    def distribution(self, node: int) -> np.ndarray:
        return self._nodes[node].probabilities

    def child(self, node: int, symbol: int) -> int:
        known = self._children.get((node, symbol))
        if known is None:
            known = self._children[node, symbol] = self._number(self._advanced(self._nodes[node], symbol))
        return known

    def completions(self, node: int, longest: int) -> int:
        if self._limit < longest:
            self._limit = _limit(longest)
            self._ends.clear()
        if node not in self._ends:
            found, limit = self._nodes[node], self._limit
            ends = int(found.probabilities[0] > 0)
            lengths = self._all_lengths(limit)
            for symbol, mask in self._from_outside(found, limit).items():
                ends |= _sums(lengths[symbol], mask, limit)
            self._ends[node] = ends
        return self._ends[node]

    def _advanced(self, node: _Node, symbol: int) -> tuple[_Node, float]:
        """Returns the prefix with one more symbol, and the probability that it is a string."""
        chance = float(node.probabilities[symbol])
        if not chance > 0:
            raise ValueError(f"Symbol {symbol} cannot follow.")
        waiting: dict[_Node, dict[int, float]] = {
            node: {head: weight / chance for head, weight in self._lexical[symbol - 1].items()}
        }
        spans: dict[_Node, dict[int, float]] = {}
        base: dict[int, float] = {}
        end = 0.0
        while waiting:  # the nearest first: what spans less is complete before what spans more
            start = max(waiting, key=lambda each: each.depth)
            whole: dict[int, float] = {}
            for symbol_, weight in waiting.pop(start).items():
                for head, ways in self._above[symbol_]:
                    if start.expected[head] > 0:
                        whole[head] = whole.get(head, 0.0) + ways * weight
            if start.depth == 0:
                end = (1 - self._form.empty) * whole.get(0, 0.0)
            for earlier, parts in start.spans.items():
                for first, weight in parts.items():
                    for head, second, chance_of_rule in self._after[first]:
                        if second in whole:
                            more = waiting.setdefault(earlier, {})
                            more[head] = more.get(head, 0.0) + chance_of_rule * weight * whole[second]
            kept: dict[int, float] = {}
            for first, weight in whole.items():
                for head, second, chance_of_rule in self._after.get(first, ()):
                    if start.expected[head] > 0:
                        kept[first] = weight
                        base[second] = base.get(second, 0.0) + start.expected[head] * chance_of_rule * weight
            if kept:
                spans[start] = kept
        return _Node(node.depth + 1, spans, base), end

    def _number(self, made: tuple[_Node, float]) -> int:
        """Returns the number of a node: a known one, if the same can follow."""
        node, end = made
        key = (
            _rounded(end),
            frozenset(
                (id(start), frozenset((symbol, _rounded(weight)) for symbol, weight in parts.items()))
                for start, parts in node.spans.items()
            ),
        )
        if key not in self._numbers:
            if len(self._nodes) >= MOST_NODES:
                raise UsageError(
                    f"The language has more than {MOST_NODES:,} prefixes of the lengths needed, the limit. Use fewer "
                    "test strings, or a language whose strings share more prefixes."
                )
            self._finish(node, end)
            self._numbers[key] = len(self._nodes)
            self._nodes.append(node)
        return self._numbers[key]

    def _finish(self, node: _Node, end: float) -> None:
        node.expected = np.zeros(len(self._form.corners))
        for symbol, often in node.base.items():
            node.expected += often * self._form.corners[symbol]
        ways = np.append(end, node.expected @ self._form.lexical)
        node.probabilities = ways / ways.sum()  # the sum is 1 up to rounding
        node.probabilities.flags.writeable = False

    def _from_outside(self, node: _Node, limit: int) -> dict[int, int]:
        """Returns, for each symbol of `base`, the numbers of symbols that can follow it, as the bits of an integer."""
        if not node.spans:
            return dict.fromkeys(node.base, 1)  # the empty prefix
        masks: dict[int, int] = {}
        for start, parts in node.spans.items():
            outer = self._outer(start, limit)
            for first in parts:
                for head, second, _ in self._after[first]:
                    if outer.get(head):
                        masks[second] = masks.get(second, 0) | outer[head]
        return masks

    def _outer(self, node: _Node, limit: int) -> dict[int, int]:
        """Returns, for each nonterminal that can begin at a node, the numbers of symbols that can follow it. Earlier
        nodes are computed first, in a loop because there can be thousands.
        """
        needed, pending = {node}, [node]
        while pending:
            for start in pending.pop().spans:
                if start.outer[0] < limit and start not in needed:
                    needed.add(start)
                    pending.append(start)
        lengths = self._all_lengths(limit)
        for each in sorted(needed, key=lambda each: each.depth):
            if each.outer[0] >= limit:
                continue
            table = self._from_outside(each, limit)
            changed = list(table)
            while changed:
                head = changed.pop()
                reached = [(symbol, table[head]) for symbol in self._units[head]]
                for first, second in self._binary_of.get(head, ()):
                    reached.append((first, _sums(lengths[second], table[head], limit)))
                for symbol, mask in reached:
                    if mask & ~table.get(symbol, 0):
                        table[symbol] = table.get(symbol, 0) | mask
                        changed.append(symbol)
            each.outer = limit, table
        return node.outer[1]

    def _all_lengths(self, limit: int) -> list[int]:
        """Returns the lengths of each nonterminal's strings, up to `limit`, as the bits of an integer."""
        if self._lengths[0] < limit:
            masks = [2 * int(row.any()) for row in self._form.lexical]
            changed = True
            while changed:
                changed = False
                for head, first, second, _ in self._form.binary:
                    grown = masks[head] | _sums(masks[first], masks[second], limit)
                    changed |= grown != masks[head]
                    masks[head] = grown
                for head, below in enumerate(self._units):
                    grown = masks[head]
                    for symbol in below:
                        grown |= masks[symbol]
                    changed |= grown != masks[head]
                    masks[head] = grown
            self._lengths = limit, masks
        return self._lengths[1]


def ordered(tree: AbstractPrefixTree, after: str | None, *, length: int = 0) -> Iterator[str]:
    """Yields all strings of a language that come after one of them, by length, then in the order of the alphabet.

    A string is text with one character for each symbol; its code point is the symbol's number. If `after` is `None`,
    all strings from `length` on. Endless if the language is infinite.
    """
    low, length = after, length if after is None else len(after)
    while True:
        yield from _of_length(tree, length, low)
        low, length = None, length + 1


def _of_length(tree: AbstractPrefixTree, length: int, low: str | None) -> Iterator[str]:
    """Yields the strings of a length above `low`, or all if it is `None`. Without recursion: strings may be long."""
    read: list[str] = []

    def options(node: int) -> list[tuple[int, int]]:
        left = length - len(read) - 1
        return [way for way in tree.ways(node) if tree.completions(way[1], left) >> left & 1]

    pending: list[list[tuple[int, int]]] = []
    node = 0
    if low is None:
        if not length:
            yield from [""] if tree.completions(0, 0) & 1 else []
            return
        pending.append(options(0))
    else:
        for character in low:
            here = tree.ways(node)
            pending.append([way for way in options(node) if way[0] > ord(character)])
            node = next(child for symbol, child in here if symbol == ord(character))
            read.append(character)
        if read:
            read.pop()
    while pending:
        if not pending[-1]:
            pending.pop()
            if read:
                read.pop()
            continue
        symbol, node = pending[-1].pop()
        forced = tree.forced(node)
        if len(read) + 1 + len(forced) == length:
            yield "".join([*read, chr(symbol), forced])
            continue
        read.append(chr(symbol))
        pending.append(options(node))


def _limit(longest: int) -> int:
    return 1 << max(longest.bit_length(), 6)  # few different ones, so that little is computed again


def _sums(first: int, second: int, limit: int) -> int:
    """Returns all sums of a length from each of two sets, up to `limit`; sets are the bits of integers."""
    if first.bit_count() > second.bit_count():
        first, second = second, first
    total = 0
    while first:
        low = first & -first
        total |= second << (low.bit_length() - 1)
        first ^= low
    return total & ((2 << limit) - 1)


def _nonzero(column: np.ndarray) -> list[tuple[int, float]]:
    return [(row, float(column[row])) for row in np.flatnonzero(column).tolist()]


def _rounded(weight: float) -> float:
    return float(f"{weight:.{DIGITS}g}")
