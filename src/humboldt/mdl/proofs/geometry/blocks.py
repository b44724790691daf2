"""Invariants for languages of blocks: a^n b^n and its relatives.

The variables are the lengths of the free blocks read so far, then k, the number of letters read in the current block. A
*front* is where a segment of a block begins: at k = `start`, a form in the other variables. From there the values are
followed along the block. If the first step changes each by a fixed amount, the other steps may do so, too: that guess
is tested by one symbolic step from all of the rest of the block. It holds up to the first place where a unit switches.
The next front is there. At the end of the block the next letter is read, and a front of the next block begins.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from humboldt.mdl.proofs.cells import Loose, ProofCell, TooManyCells
from humboldt.mdl.proofs.geometry.affine import (
    ONE,
    Form,
    Row,
    add,
    constant,
    is_constant,
    scale,
    substitute,
    subtract,
    to_form,
    to_row,
    variable,
)
from humboldt.mdl.proofs.geometry.polyhedron import INFINITY, Polyhedron
from humboldt.mdl.proofs.geometry.symbolic import NOTHING, Number, Piece, State, Value, memory_units, span, step
from humboldt.mdl.proofs.geometry.walk import BlockWalk
from humboldt.mdl.proofs.network import Network

MOST_CELLS = 120
TRANSIENTS = 4  # steps for which values may settle before bounds are used instead of forms


@dataclass(frozen=True)
class Front:
    """The beginning of a segment: `rows`, `start` and `state` depend on the lengths of blocks, not on k."""

    block: int
    rows: tuple[Row, ...]
    start: Form
    state: State
    transients: int = 0


class BlockProver:
    """Finds the cells of a network."""

    def __init__(self, network: Network, walk: BlockWalk) -> None:
        self.network, self.walk = network, walk
        self.memory = memory_units(network)
        self.cells: list[ProofCell] = []
        self.loose: list[Loose] = []

    def find(self) -> list[ProofCell]:
        """Returns all cells; raises `TooManyCells` if their number has no end."""
        origin = Polyhedron(
            self.walk.size, [to_row(scale(variable(i, self.walk.size), -1)) for i in range(self.walk.size)]
        )
        (first,) = step(self.network, origin, None, 0, self.memory)
        self.cells.append(ProofCell(0, origin.rows, first.values))
        (second,) = step(self.network, origin, first.values, 1, self.memory)
        fronts = [Front(1, (), constant(1, self.walk.size), second.values)]
        while fronts:
            if len(self.cells) > MOST_CELLS:
                raise TooManyCells(fronts[-1].block, self.loose[-1].unit if self.loose else None)
            fronts += self._follow(fronts.pop())
        return [replace(cell, rows=self._needed(cell)) for cell in self.cells]

    def _needed(self, cell: ProofCell) -> tuple[Row, ...]:
        """Returns the rows of a cell that do not follow from its place and its other rows."""
        domain = self.walk.domain(cell.place) if cell.place else ()
        rows = [row for row in cell.rows if row not in domain]
        for row in tuple(rows):
            others = [other for other in rows if other != row]
            if Polyhedron(self.walk.size, (*domain, *others)).is_non_negative(to_form(row)):
                rows = others
        return tuple(rows)

    def _region(self, block: int, rows: Iterable[Row]) -> Polyhedron:
        return Polyhedron(self.walk.size, (*self.walk.domain(block), *rows))

    def _at(self, form: Form, k: Form) -> Form:
        """Returns the form at a given place of the block."""
        return substitute(form, [*(variable(i, self.walk.size) for i in range(self.walk.free)), k])

    def _rows_at(self, rows: Iterable[Row], k: Form) -> tuple[Row, ...]:
        return tuple(dict.fromkeys(to_row(self._at(to_form(row), k)) for row in rows))

    def _state_at(self, state: State, k: Form) -> State:
        return {
            unit: Value(
                None if value.low is None else self._at(value.low, k),
                None if value.high is None else self._at(value.high, k),
            )
            for unit, value in state.items()
        }

    def _step(self, region: Polyhedron, state: State, letter: int) -> list[Piece]:
        return step(self.network, region, state, letter, self.memory)

    def _follow(self, front: Front) -> list[Front]:
        """Adds the cell of a front; returns the fronts after it."""
        walk, block = self.walk, front.block
        place = subtract(walk.k, front.start)
        here = self._region(block, (*front.rows, to_row(place), to_row(scale(place, -1))))
        if here.is_empty:
            return []
        pieces = self._step(here.cut(*walk.goes_on(block)), front.state, block)
        if len(pieces) > 1:  # the step depends on the lengths of the earlier blocks
            ends = () if (length := walk.length(block)) is None else ((to_row(subtract(front.start, length)),),)
            cuts = [self._rows_at((*piece.rows, *walk.goes_on(block)), front.start) for piece in pieces]
            return [replace(front, rows=tuple(dict.fromkeys((*front.rows, *cut)))) for cut in (*cuts, *ends)]
        if not pieces:
            self.cells.append(ProofCell(block, here.rows, front.state))
            return self._leave(block, here.rows, front.state)
        segment = self._segment(front, here, pieces[0])
        if segment is not None:
            rows, state, fronts = segment
            self.cells.append(ProofCell(block, rows, state))
            return [*fronts, *self._leave(block, rows, state)]
        self.cells.append(ProofCell(block, here.rows, front.state))
        follower = Front(
            block,
            tuple(dict.fromkeys((*front.rows, *self._rows_at(walk.goes_on(block), front.start)))),
            add(front.start, constant(1, walk.size)),
            self._state_at(pieces[0].values, front.start),
            front.transients + 1,
        )
        return [follower, *self._leave(block, here.rows, front.state)]

    def _segment(
        self, front: Front, here: Polyhedron, first: Piece
    ) -> tuple[tuple[Row, ...], State, list[Front]] | None:
        """Returns the rest of the block up to the next switch as one cell, or `None` if no other step is like this."""
        walk = self.walk
        guess: dict[int, Value] = {}
        for unit in self.memory:
            value = self._line(front, unit, first)
            if value is None:
                if front.transients < TRANSIENTS:
                    return None
                value = self._interval(front.state.get(unit, NOTHING), first.values[unit], here)
            guess[unit] = value
        rest = self._region(front.block, (*front.rows, to_row(subtract(walk.k, front.start))))
        history: dict[tuple[int, bool], list[Number]] = {}
        for _ in range(12 * (1 + len(self.memory))):
            pieces = self._step(rest.cut(*walk.goes_on(front.block)), guess, front.block)
            switches, wrong = self._switches(pieces, guess, here)
            if not wrong:
                return self._up_to(switches, rest, guess, front)
            if front.transients < TRANSIENTS and any(guess[unit].form is not None for unit in wrong):
                return None
            for unit in wrong:
                guess[unit] = self._widened(unit, guess[unit], pieces, rest, history)
                self.loose.append(Loose(unit, front.block))
        raise TooManyCells(front.block, self.loose[-1].unit if self.loose else None)

    def _line(self, front: Front, unit: int, first: Piece) -> Value | None:
        """Returns the value along the block if each step changes it like the first."""
        now, then = front.state.get(unit, NOTHING).form, first.values[unit].form
        if now is None or then is None:
            return None
        slope = self._at(subtract(then, now), front.start)
        if not is_constant(slope):
            return None
        return Value.exact(add(now, scale(subtract(self.walk.k, front.start), slope[0])))

    def _interval(self, now: Value, then: Value, here: Polyhedron) -> Value:
        low = min(span(now, here)[0], span(then, here)[0])
        high = max(span(now, here)[1], span(then, here)[1])
        return self._bounds(low, high)

    def _bounds(self, low: Number, high: Number) -> Value:
        size = self.walk.size
        return Value(
            None if isinstance(low, float) else constant(low, size),
            None if isinstance(high, float) else constant(high, size),
        )

    def _widened(
        self,
        unit: int,
        value: Value,
        pieces: list[Piece],
        rest: Polyhedron,
        history: dict[tuple[int, bool], list[Number]],
    ) -> Value:
        """Returns bounds that include their own image under the step; after some tries the limit of the series, then
        no bounds."""
        low, high = span(value, rest)
        for piece in pieces:
            new_low, new_high = span(piece.values[unit], piece.region)
            low, high = min(low, new_low), max(high, new_high)
        ends = []
        for is_high, end in ((False, low), (True, high)):
            seen = history.setdefault((unit, is_high), [])
            seen.append(end)
            ends.append(_limit(seen, INFINITY if is_high else -INFINITY))
        return self._bounds(ends[0], ends[1])

    def _switches(self, pieces: list[Piece], guess: State, here: Polyhedron) -> tuple[list[Row], list[int]]:
        """Returns rows that first hold where the guess fails, one for each failing piece; and units that fail without
        one."""
        switches: list[Row] = []
        wrong: list[int] = []
        onward = add(self.walk.k, constant(1, self.walk.size))
        for piece in pieces:
            failing = [
                unit
                for unit in self.memory
                if not _contains(self._shifted(guess[unit], onward), piece.values[unit], piece.region)
            ]
            if not failing:
                continue
            for row in piece.rows:
                before = (-row[0] - 1, *(-x for x in row[1:]))  # the row does not hold
                if row[-1] == 1 and here.is_non_negative(to_form(before)):
                    switches.append(row)
                    break
            else:
                wrong += [unit for unit in failing if unit not in wrong]
        return switches, wrong

    def _shifted(self, value: Value, k: Form) -> Value:
        return Value(
            None if value.low is None else self._at(value.low, k),
            None if value.high is None else self._at(value.high, k),
        )

    def _up_to(
        self, switches: list[Row], rest: Polyhedron, state: State, front: Front
    ) -> tuple[tuple[Row, ...], State, list[Front]]:
        """Returns the cell before all switches, and the fronts after them."""
        walk = self.walk
        back = subtract(walk.k, constant(1, walk.size))
        limits = []
        for row in switches:
            earlier = self._at(to_form(row), back)
            limits.append(to_row(subtract(scale(earlier, -1), constant(1, walk.size))))
        cell = rest.cut(*limits)
        fronts = []
        for row in dict.fromkeys(switches):
            last = subtract(walk.k, to_form(row))  # k where the row is 0: the coefficient of k is 1
            edge = cell.cut(row, tuple(-x for x in row), *walk.goes_on(front.block))
            for piece in self._step(edge, state, front.block):
                rows = self._rows_at((*cell.rows, *walk.goes_on(front.block), *piece.rows), last)
                start = add(last, constant(1, walk.size))
                fronts.append(Front(front.block, rows, start, self._state_at(piece.values, last)))
        return cell.rows, state, fronts

    def _leave(self, block: int, rows: tuple[Row, ...], state: State) -> list[Front]:
        """Returns the fronts at the beginning of the next block."""
        walk = self.walk
        if block == walk.blocks:
            return []
        end, images = walk.ending(block)
        place = subtract(walk.k, end)
        region = Polyhedron(walk.size, (*rows, to_row(place), to_row(scale(place, -1))))
        fronts = []
        for piece in self._step(region, state, block + 1):
            new_rows = tuple(
                dict.fromkeys(to_row(substitute(to_form(row), images)) for row in (*region.rows, *piece.rows))
            )
            new_state = {
                unit: Value(
                    None if value.low is None else substitute(value.low, images),
                    None if value.high is None else substitute(value.high, images),
                )
                for unit, value in piece.values.items()
            }
            fronts.append(Front(block + 1, new_rows, constant(1, walk.size), new_state))
        return fronts


def _contains(outer: Value, inner: Value, region: Polyhedron) -> bool:
    if outer.low is not None and (inner.low is None or not region.is_non_negative(subtract(inner.low, outer.low))):
        return False
    return outer.high is None or (inner.high is not None and region.is_non_negative(subtract(outer.high, inner.high)))


def _limit(seen: list[Number], beyond: float) -> Number:
    """Returns the last of a series of bounds; its limit if its steps shrink in the same ratio; finally no bound."""
    if len(seen) < 3 or isinstance(seen[-1], float):
        return seen[-1]
    if len(seen) > 4:
        return beyond if seen[-1] != seen[-2] else seen[-1]
    first, second, third = seen[-3:]
    if second == first or isinstance(first, float) or isinstance(second, float):
        return third
    ratio = (third - second) / (second - first)
    return third + (third - second) * ratio / (ONE - ratio) if 0 < ratio < 1 else third
