"""The variables of a string of blocks: their possible values, and how reading a letter changes them."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from humboldt.mdl.proofs.geometry.affine import HEAD, Form, Row, constant, scale, subtract, to_row, variable


@dataclass(frozen=True)
class BlockWalk:
    """Blocks of letters: the first `free` of any length, the others `needs` times as long as those."""

    free: int
    needs: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of variables."""
        return self.free + 1

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.free + len(self.needs)

    @cached_property
    def k(self) -> Form:
        """The place within the block."""
        return variable(self.free, self.size)

    def length(self, block: int) -> Form | None:
        """Returns the length of a block, whose number counts from 1; `None` if it is free."""
        if block <= self.free:
            return None
        needs = self.needs[block - 1 - self.free]
        return (Fraction(0), Fraction(0), *map(Fraction, needs), Fraction(0))

    def domain(self, block: int) -> tuple[Row, ...]:
        """Returns rows for the possible values of the variables after a letter of a block."""
        rows = []
        for i in range(self.free):
            lengths = variable(i, self.size)
            rows.append(at_least(lengths, 1) if i < min(block - 1, self.free) else to_row(scale(lengths, -1)))
        length = self.length(block)
        return (*rows, at_least(self.k, 1), *([] if length is None else [to_row(subtract(length, self.k))]))

    def goes_on(self, block: int) -> tuple[Row, ...]:
        """Returns rows that hold where the block is not yet at its end."""
        length = self.length(block)
        return () if length is None else (at_least(subtract(length, self.k), 1),)

    def ending(self, block: int) -> tuple[Form, list[Form]]:
        """Returns the end of a block, as a form for k; then the variables, as forms in those of the next block."""
        length = self.length(block)
        same = [variable(i, self.size) for i in range(self.free)]
        if length is None:  # k becomes the length of this block
            return self.k, [*same[: block - 1], *[constant(0, self.size)] * (self.free - block + 1), same[block - 1]]
        return length, [*same, length]


def at_least(form: Form, number: int) -> Row:
    """Returns the row that keeps a form at or above a number."""
    return to_row(subtract(form, constant(number, len(form) - HEAD)))
