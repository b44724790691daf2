"""Finds the shortest string that a network gets wrong, by running it on all strings in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from humboldt.mdl.proofs.described import Described
from humboldt.mdl.proofs.geometry.simulation import START, Simulation
from humboldt.mdl.proofs.network import Network


@dataclass(frozen=True)
class Mistake:
    """A string of the language, and its first wrong step.

    - `prefix`: the symbols that the network has read there, including `#`.
    - `says`: its distribution over the next symbol, to float precision.
    - `follow`: the symbols that can follow.
    """

    string: str
    prefix: str
    says: dict[str, float]
    follow: tuple[str, ...]


@dataclass(frozen=True)
class Bound:
    """A limit on runs: strings up to this size (n, n + m, or length), in at most this many distinct steps."""

    size: int
    steps: int = 60_000


class Reader:
    """Runs one network on the strings of one language and counts its mistakes."""

    def __init__(self, network: Network, language: Described, measure: str, epsilon: Fraction) -> None:
        self.simulation = Simulation(network)
        self.language, self.measure, self.epsilon = language, measure, epsilon
        self.examined = 0  # every string up to this size is right

    def shortest_mistake(self, bound: Bound) -> Mistake | None:
        """Returns the first mistake, by the size of the string; `None` if there is none within the bound."""
        return self._in_brackets(bound) if self.language.is_brackets else self._in_blocks(bound)

    def _in_blocks(self, bound: Bound) -> Mistake | None:
        for size in range(max(self.language.free, self.examined + 1), bound.size + 1):
            if self.simulation.num_steps > bound.steps:
                return None
            for lengths in _lengths(self.language.free, size):
                mistake = self.read(lengths)
                if mistake is not None:
                    return mistake
            self.examined = size
        return None

    def read(self, free: tuple[int, ...]) -> Mistake | None:
        """Returns the first mistake in the string with free blocks of these lengths, if the string does not pass."""
        language = self.language
        runs = [*free, *(sum(x * y for x, y in zip(needs, free, strict=True)) for needs in language.needs)]
        prefix, wrong, counted = [0], [], 0
        state, step = self.simulation.step(START, 0)
        wrong += self._fault(step, prefix, frozenset({1}), opening=True)
        for block, run in enumerate(runs, 1):
            for k in range(1, run + 1):
                state, step = self.simulation.step(state, block)
                prefix.append(block)
                if block <= len(free):
                    follow = frozenset({block, block + 1})
                else:
                    counted += 1
                    follow = frozenset({block if k < run else (block + 1) % len(language.symbols)})
                if not wrong or self.measure == "M_det":
                    wrong += self._fault(step, prefix, follow)
        if not wrong or (self.measure == "M_det" and len(wrong) <= self.epsilon * counted):
            return None
        return self._mistake(prefix[1:], *wrong[0])

    def _fault(
        self, step: int, prefix: list[int], follow: frozenset[int], *, opening: bool = False
    ) -> list[tuple[list[int], int, frozenset[int]]]:
        """Returns `[(prefix, step, follow)]` if the step counts and is wrong, else an empty list."""
        if self.measure == "M_det" and (opening or len(follow) > 1):
            return []
        if self.simulation.is_right(step, follow, self.measure, self.epsilon):
            return []
        return [(list(prefix), step, follow)]

    def _in_brackets(self, bound: Bound) -> Mistake | None:
        """Reads all prefixes of one length at a time; of those with equal state and depth only the first."""
        state, step = self.simulation.step(START, 0)
        top, inside = frozenset({0, 1}), frozenset({1, 2})
        shortest: list[tuple[int, list[int], tuple]] = []  # at most one: length, string, fault
        if fault := self._fault(step, [0], top):
            return self._mistake([], *fault[0])
        frontier: dict[tuple[int, int], list[int]] = {(state, 0): [0]}
        for length in range(1, bound.size + 1):
            if shortest and length > shortest[0][0]:
                break
            if self.simulation.num_steps > bound.steps:
                return None  # there may be a shorter one
            onward: dict[tuple[int, int], list[int]] = {}
            for (state, depth), prefix in sorted(frontier.items(), key=lambda item: item[1]):
                for symbol in (1, 2) if depth else (1,):
                    below = depth + (1 if symbol == 1 else -1)
                    if length + below > bound.size:
                        continue
                    reached, step = self.simulation.step(state, symbol)
                    longer = [*prefix, symbol]
                    if fault := self._fault(step, longer, inside if below else top):
                        shortest.append((length + below, longer + [2] * below, fault[0]))
                        shortest = [min(shortest)]
                    onward.setdefault((reached, below), longer)
            frontier = onward
            if not shortest:
                self.examined = length
        return self._mistake(shortest[0][1][1:], *shortest[0][2]) if shortest else None

    def _mistake(self, string: list[int], prefix: list[int], step: int, follow: frozenset[int]) -> Mistake:
        symbols = self.language.symbols
        return Mistake(
            "".join(symbols[symbol] for symbol in string),
            "".join(symbols[symbol] for symbol in prefix),
            dict(zip(symbols, self.simulation.distribution(step), strict=True)),
            tuple(symbols[symbol] for symbol in sorted(follow)),
        )


def _lengths(free: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yields lengths of the free blocks with that sum, the first block ascending."""
    if free == 1:
        yield (size,)
    else:
        yield from ((first, *rest) for first in range(1, size) for rest in _lengths(free - 1, size - first))
