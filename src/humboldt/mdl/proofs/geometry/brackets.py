"""Invariants for Dyck-1: every memory unit is an affine form in the depth.

The forms are derived from all short strings: the least and the greatest value of a unit at each depth, after an opening
and after a closing bracket. From some depth on they should lie on lines. Each smaller depth is a separate cell. Whether
the lines hold for every string is left to the checker.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from humboldt.mdl.proofs.cells import Loose, ProofCell
from humboldt.mdl.proofs.geometry.affine import Form, Row, constant
from humboldt.mdl.proofs.geometry.reals import Undecided
from humboldt.mdl.proofs.geometry.simulation import START, Simulation
from humboldt.mdl.proofs.geometry.symbolic import GRAIN, Value
from humboldt.mdl.proofs.network import Network

LENGTH = 14  # of the strings that are read
FIT = 4  # depths that must lie on a line
Spread = dict[int, tuple[Fraction, Fraction]]  # unit: least and greatest value

RANGES = {"tanh": (-1, 1), "sigmoid": (0, 1), "step": (0, 1), "relu": (0, None), "square": (0, None)}


class BracketProver:
    """Proposes cells, the most precise first."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.simulation = Simulation(network)
        self.spreads: list[dict[int, Spread]] = [{}, {}, {}]  # by place, then depth
        self.loose: list[Loose] = []

    def proposals(self) -> Iterator[list[ProofCell]]:
        """Yields lists of cells for the checker to try."""
        try:
            self._read()
        except Undecided:
            return
        for first in (1, 2, 3, 5):
            for with_ranges in (False, True):
                cells = [self._point(0, 0)]
                for place in (1, 2):
                    cells += [self._point(place, depth) for depth in range(2 - place, first)]
                    cells.append(self._line(place, first, with_ranges))
                yield cells

    def _read(self) -> None:
        """Reads all strings; those with equal state and depth are read once."""
        state, _ = self.simulation.step(START, 0)
        self._note(0, 0, state)
        frontier = {(state, 0)}
        for _ in range(LENGTH):
            onward = set()
            for state, depth in sorted(frontier):
                for symbol in (1, 2) if depth else (1,):
                    reached, _ = self.simulation.step(state, symbol)
                    below = depth + (1 if symbol == 1 else -1)
                    self._note(symbol, below, reached)
                    onward.add((reached, below))
            frontier = onward

    def _note(self, place: int, depth: int, state: int) -> None:
        spread = self.spreads[place].setdefault(depth, {})
        for unit, number in self.simulation.states[state].items():
            low, high = self.simulation.reals.bounds(number)
            if low != high:  # wider than the checker's bounds, so that those lie between these
                low, high = Fraction(math.floor(low * GRAIN) - 1, GRAIN), Fraction(math.ceil(high * GRAIN) + 1, GRAIN)
            known = spread.get(unit, (low, high))
            spread[unit] = min(low, known[0]), max(high, known[1])

    def _point(self, place: int, depth: int) -> ProofCell:
        spread = self.spreads[place][depth]
        state = {unit: Value(constant(low, 1), constant(high, 1)) for unit, (low, high) in spread.items()}
        return ProofCell(place, ((-depth, 1), (depth, -1)), state)

    def _line(self, place: int, first: int, with_ranges: bool) -> ProofCell:
        rows: tuple[Row, ...] = ((-first, 1),)
        state: dict[int, Value] = {}
        for unit in self.simulation.memory:
            ends = [[self.spreads[place][first + i][unit][side] for i in range(FIT)] for side in (0, 1)]
            lines = [_fitted(first, numbers) for numbers in ends]
            if None in lines or (with_ranges and lines[0] != lines[1]):
                self.loose.append(Loose(unit, place))
                lines = self._range(unit, *ends) if with_ranges else lines
            state[unit] = Value(lines[0], lines[1])
        return ProofCell(place, rows, state)

    def _range(self, unit: int, lows: list[Fraction], highs: list[Fraction]) -> list[Form | None]:
        """Returns bounds for all depths: the first number if the others move away from it, or the activation's."""
        low, high = RANGES.get(self.network.units[unit].activation, (None, None))
        low = lows[0] if lows == sorted(lows) else low
        high = highs[0] if highs == sorted(highs, reverse=True) else high
        return [None if end is None else constant(end, 1) for end in (low, high)]


def _fitted(first: int, numbers: list[Fraction]) -> Form | None:
    """Returns the line through the numbers, which begin at depth `first`; `None` if there is none."""
    slope = numbers[1] - numbers[0]
    if any(later - earlier != slope for earlier, later in pairwise(numbers)):
        return None
    return (numbers[0] - first * slope, Fraction(0), slope)
