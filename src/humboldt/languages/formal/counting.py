"""Exact numbers of strings of a length, and the growth of these numbers.

>>> from humboldt.languages.formal.regex import parse_regex
>>> language = parse_regex("( a | b )* a ( a | b )")
>>> strings_of_length(language, 100) == 2 ** 99
True
>>> growth(language)
Growth(kind='exponential', rate=2.0, degree=None, count=None)
>>> growth(parse_regex("a* b* c*")), growth(parse_regex("a b? c?")).count
(Growth(kind='polynomial', rate=1.0, degree=2, count=None), 4)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.minimal import minimal, without_weights

MOST_MEMORY = 2_000_000_000  # bytes of counts, estimated before counting
DENSE = 2_000  # states up to which equations are solved for a rate
POWERS = 1_000  # iterations for a rate
CLOSE = 1e-11  # relative width of the bounds of a rate


class Counts:
    """The numbers of suffixes that are accepted, for every state and every length up to a longest one.

    `automaton` is the minimal automaton of the language; `suffixes` is indexed by its states. Longer lengths are
    computed on demand.
    """

    def __init__(self, automaton: Automaton, longest: int = 0) -> None:
        self.automaton = minimal(without_weights(automaton))
        self._followers = [[t for t in row if t != MISSING] for row in self.automaton.table.tolist()]
        self._rows: list[list[int]] = [[int(accepts) for accepts in self.automaton.accepting]]
        self.extend(longest)

    def extend(self, longest: int) -> None:
        """Computes the counts up to `longest`."""
        bits = math.log2(max(2, max(map(len, self._followers), default=1)))
        memory = len(self.automaton) * (longest + 1) * (36 + longest * bits / 15)
        if memory > MOST_MEMORY:
            raise UsageError(
                f"Counting the strings up to length {longest:,} of an automaton with {len(self.automaton):,} states "
                f"needs about {memory / 1e9:,.1f} GB; the limit is {MOST_MEMORY / 1e9:g} GB. Ask for shorter strings."
            )
        while len(self._rows) <= longest:
            get = self._rows[-1].__getitem__
            self._rows.append([sum(map(get, targets)) for targets in self._followers])

    def suffixes(self, length: int) -> Sequence[int]:
        """Returns, for every state, the number of strings of `length` that lead from it to acceptance."""
        if length < 0:
            raise UsageError(f"A string cannot have the length {length}. Give 0 or more.")
        self.extend(length)
        return self._rows[length]

    def strings(self, length: int) -> int:
        """Returns the number of strings of `length` in the language."""
        return self.suffixes(length)[self.automaton.start]


def strings_of_length(automaton: Automaton, length: int) -> int:
    """Returns the number of strings of `length` in the language."""
    return Counts(automaton).strings(length)


@dataclass(frozen=True)
class Growth:
    """The growth of the number of strings with the length n, over those lengths that have the most.

    - `finite`: there are `count` strings in all.
    - `polynomial`: of the order of n to the power of `degree`.
    - `exponential`: of the order of `rate` to the power of n, up to a polynomial. NaN where a component of more than
      `DENSE` states has loops so long that its rate was not found.
    """

    kind: Literal["finite", "polynomial", "exponential"]
    rate: float
    degree: int | None = None
    count: int | None = None


def growth(automaton: Automaton) -> Growth:
    """Returns the growth of the language, decided on the loops of its minimal automaton.

    Two loops through one state make it exponential. Else the number of loops that one string can pass through decides.
    The rate is the largest spectral radius of a strongly connected component.
    """
    automaton = minimal(without_weights(automaton))
    followers = [[target for target in row if target != MISSING] for row in automaton.table.tolist()]
    components = strongly_connected(followers)
    number = {state: i for i, component in enumerate(components) for state in component}
    loops = [0] * len(components)  # the most loops on a way that starts in the component
    rates: list[float] = []
    for i, component in enumerate(components):  # the successors of a component come before it
        inside = [[target for target in followers[state] if number[target] == i] for state in component]
        below = max((loops[number[t]] for s in component for t in followers[s] if number[t] != i), default=0)
        loops[i] = below + any(inside)
        if any(len(targets) > 1 for targets in inside):
            rates.append(_spectral_radius(component, inside))
    if rates:
        return Growth("exponential", float(np.max(rates)))  # not a number, if one of them is not
    if not loops[number[automaton.start]]:
        suffixes = [int(accepts) for accepts in automaton.accepting]
        for (state,) in components:
            suffixes[state] += sum(suffixes[target] for target in followers[state])
        return Growth("finite", 0.0, count=suffixes[automaton.start])
    return Growth("polynomial", 1.0, degree=loops[number[automaton.start]] - 1)


def lengths_of(automaton: Automaton) -> tuple[int | None, int | float | None]:
    """Returns the lengths of the shortest and the longest string: `None` in the empty language, the latter infinite in
    an infinite one.
    """
    automaton = minimal(without_weights(automaton))
    if automaton.is_empty:
        return None, None
    followers = [[target for target in row if target != MISSING] for row in automaton.table.tolist()]
    distance = {automaton.start: 0}
    queue = [automaton.start]
    for state in queue:  # grows while it is read
        for target in followers[state]:
            if target not in distance:
                distance[target] = distance[state] + 1
                queue.append(target)
    shortest = min(distance[state] for state in np.flatnonzero(automaton.accepting).tolist())
    components = strongly_connected(followers)
    if any(len(component) > 1 or component[0] in followers[component[0]] for component in components):
        return shortest, math.inf
    longest: dict[int, int] = {}
    for (state,) in components:  # its followers come before it
        longest[state] = max((1 + longest[target] for target in followers[state]), default=0)
    return shortest, longest[automaton.start]


def strongly_connected(followers: Sequence[Sequence[int]]) -> list[list[int]]:
    """Returns the strongly connected components of a graph, each after the components it leads to (Tarjan 1972)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    components: list[list[int]] = []
    for root in range(len(followers)):
        if root in order:
            continue
        calls = [(root, iter(followers[root]))]
        order[root] = low[root] = len(order)
        path.append(root)
        on_path.add(root)
        while calls:
            node, targets = calls[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    path.append(target)
                    on_path.add(target)
                    calls.append((target, iter(followers[target])))
                    break
                if target in on_path:
                    low[node] = min(low[node], order[target])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == order[node]:
                    component = [path.pop()]
                    while component[-1] != node:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    components.append(sorted(component))
    return components


def _spectral_radius(component: list[int], inside: list[list[int]]) -> float:
    """Returns the largest eigenvalue of the transitions inside a strongly connected component, or NaN if it was not
    found.

    The quotients of a positive vector and its image enclose it (Collatz 1942; Wielandt 1950). Multiplication brings
    them together quickly where loops of many lengths meet; where they do not, solving does (Noda 1971).
    """
    place = {state: i for i, state in enumerate(component)}
    sources = np.repeat(np.arange(len(component)), [len(targets) for targets in inside])
    targets = np.array([place[target] for row in inside for target in row])
    vector = np.ones(len(component))
    low = high = 0.0
    for _ in range(POWERS):
        image = np.bincount(sources, vector[targets], len(component))
        low, high = float((image / vector).min()), float((image / vector).max())
        if high - low < CLOSE * high:
            return _rounded((low + high) / 2)
        vector = (image + vector) / (image + vector).sum()  # a loop in every state, so that powers do not alternate
    if len(component) > DENSE:
        return math.nan
    matrix = np.zeros((len(component), len(component)))
    np.add.at(matrix, (sources, targets), 1)
    identity = np.eye(len(component))
    while high - low >= CLOSE * high:
        try:
            solution = np.linalg.solve(high * identity - matrix, vector)
        except np.linalg.LinAlgError:  # the upper bound is the eigenvalue itself
            return _rounded(high)
        lower = high - float((vector / solution).min())
        if (solution <= 0).any() or lower >= high:  # as near as rounding allows
            break
        low, high = high - float((vector / solution).max()), lower
        vector = solution / solution.sum()
    return _rounded(high)


def _rounded(rate: float) -> float:
    """Returns the nearest integer where a rate is as close to it as rates are computed."""
    return float(round(rate)) if abs(rate - round(rate)) < 10 * CLOSE else rate
