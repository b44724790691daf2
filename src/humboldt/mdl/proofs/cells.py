"""What a proof is made of: cells, in each of which every memory unit is an affine form or lies between two."""

from dataclasses import dataclass

from humboldt.mdl.proofs.affine import Row
from humboldt.mdl.proofs.symbolic import State


@dataclass(frozen=True)
class Cell:
    """Some of the states right after a symbol was read.

    - `place`: 0 after `#`, i after a letter of block number i; for Dyck-1, 1 after `(` and 2 after `)`.
    - `rows`: where in the space of the variables.
    - `state`: what is known of the memory units there.
    """

    place: int
    rows: tuple[Row, ...]
    state: State


@dataclass(frozen=True)
class Loose:
    """A unit whose value could not be followed as one affine form."""

    unit: int
    place: int


class TooManyCells(Exception):
    """The values keep changing their form: this is not a proof that will end."""

    def __init__(self, place: int, unit: int | None) -> None:
        super().__init__()
        self.place, self.unit = place, unit
