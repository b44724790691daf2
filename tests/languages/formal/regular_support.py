"""Slow, obvious forms of what the regular languages do fast, and random languages to compare them on."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from humboldt.languages.formal.automaton import MISSING, Automaton

String = tuple[str, ...]


def all_strings(alphabet: Sequence[str], longest: int) -> list[String]:
    return [string for length in range(longest + 1) for string in product(alphabet, repeat=length)]


def random_automaton(rng: np.random.Generator, states: int, symbols: int) -> Automaton:
    """Some transitions are missing, some states cannot be reached or cannot accept."""
    table = rng.integers(0, states, (states, symbols))
    table[rng.random(table.shape) < 0.2] = MISSING
    alphabet = ("a", "bb", "c")[:symbols]
    return Automaton(alphabet, table, rng.random(states) < 0.4, int(rng.integers(states)))


def with_random_weights(automaton: Automaton, rng: np.random.Generator) -> Automaton:
    """Every state of a trimmed automaton gets a random distribution."""
    moves = np.where(automaton.table != MISSING, rng.random(automaton.table.shape) + 0.05, 0.0)
    stops = np.where(automaton.accepting, rng.random(len(automaton)) + 0.05, 0.0)
    total = moves.sum(axis=1) + stops
    return Automaton(
        automaton.alphabet,
        automaton.table,
        automaton.accepting,
        automaton.start,
        automaton.names,
        moves / total[:, None],
        stops / total,
    )


def language_of(automaton: Automaton, longest: int) -> set[String]:
    """All strings up to a length, by following the table of every string."""
    found = set()
    level: list[tuple[String, int]] = [((), automaton.start)]
    for _ in range(longest + 1):
        found |= {string for string, state in level if automaton.accepting[state]}
        level = [
            ((*string, symbol), int(automaton.table[state, column]))
            for string, state in level
            for column, symbol in enumerate(automaton.alphabet)
            if automaton.table[state, column] != MISSING
        ]
    return found


def probabilities_of(automaton: Automaton, longest: int) -> dict[String, float]:
    """The probabilities of all strings up to a length."""
    assert automaton.moves is not None and automaton.stops is not None
    found: dict[String, float] = {}
    level: list[tuple[String, int, float]] = [((), automaton.start, 1.0)]
    for _ in range(longest + 1):
        found |= {string: p * automaton.stops[state] for string, state, p in level if automaton.accepting[state]}
        level = [
            ((*string, symbol), int(automaton.table[state, column]), p * float(automaton.moves[state, column]))
            for string, state, p in level
            for column, symbol in enumerate(automaton.alphabet)
            if automaton.table[state, column] != MISSING
        ]
    return found


def residuals(language: set[String], alphabet: Sequence[str], prefix: int, suffix: int) -> int:
    """The number of different sets of suffixes that prefixes have, the empty set left out (Myhill and Nerode).

    Exact where the minimal automaton has at most `prefix` + 1 states and suffixes of length `suffix` separate them.
    """
    suffixes = all_strings(alphabet, suffix)
    sets = {frozenset(s for s in suffixes if p + s in language) for p in all_strings(alphabet, prefix)}
    return len(sets - {frozenset()})


class RandomRegex:
    """A random expression as text and as a slow matcher."""

    def __init__(self, rng: np.random.Generator, alphabet: Sequence[str], size: int) -> None:
        self.alphabet = tuple(alphabet)
        self.tree = self._grow(rng, size)
        self.text = self._written(self.tree)

    def _grow(self, rng: np.random.Generator, size: int) -> tuple:
        if size <= 1:
            return ("empty",) if rng.random() < 0.05 else ("symbol", str(rng.choice(self.alphabet)))
        kind = rng.choice(["|", "sequence", "sequence", "*", "+", "?"])
        if kind in "*+?":
            return (kind, self._grow(rng, size - 1))
        left = int(rng.integers(1, size))
        return (kind, self._grow(rng, left), self._grow(rng, size - left))

    def _written(self, tree: tuple) -> str:
        kind, parts = tree[0], [self._written(part) if isinstance(part, tuple) else part for part in tree[1:]]
        if kind == "empty":
            return "()"
        if kind == "symbol":
            return parts[0]
        if kind in ("*", "+", "?"):
            return f"( {parts[0]} ){kind}"
        return f"( {(' | ' if kind == '|' else ' ').join(parts)} )"

    def accepts(self, string: String) -> bool:
        return len(string) in self._ends(self.tree, string, 0, {})

    def _ends(self, tree: tuple, string: String, begin: int, known: dict) -> frozenset[int]:
        """Where a match that begins at a position can end."""
        key = (id(tree), begin)
        if key not in known:
            known[key] = self._ends_of(tree, string, begin, known)
        return known[key]

    def _ends_of(self, tree: tuple, string: String, begin: int, known: dict) -> frozenset[int]:
        kind = tree[0]
        if kind == "empty":
            return frozenset({begin})
        if kind == "symbol":
            return frozenset({begin + 1} if string[begin : begin + 1] == (tree[1],) else ())
        if kind == "|":
            return self._ends(tree[1], string, begin, known) | self._ends(tree[2], string, begin, known)
        if kind == "sequence":
            middles = self._ends(tree[1], string, begin, known)
            return frozenset(end for middle in middles for end in self._ends(tree[2], string, middle, known))
        found = set(self._ends(tree[1], string, begin, known))
        pending = list(found) if kind != "?" else []
        while pending:
            for end in self._ends(tree[1], string, pending.pop(), known):
                if end not in found:
                    found.add(end)
                    pending.append(end)
        return frozenset(found if kind == "+" else found | {begin})


def levenshtein(one: String, two: String) -> int:
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(two, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def group_automaton(generators: Mapping[str, Sequence[int]]) -> Automaton:
    """The word problem of a permutation group: states are its elements, the identity accepts."""
    symbols = tuple(sorted(generators))
    degree = len(next(iter(generators.values())))
    elements = [tuple(range(degree))]
    numbers = {elements[0]: 0}
    rows = []
    for element in elements:
        row = []
        for symbol in symbols:
            after = tuple(generators[symbol][i] for i in element)
            if numbers.setdefault(after, len(elements)) == len(elements):
                elements.append(after)
            row.append(numbers[after])
        rows.append(row)
    return Automaton(symbols, np.array(rows), np.arange(len(elements)) == 0)
