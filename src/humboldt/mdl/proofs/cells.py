"""The cells of a proof, in each of which every memory unit is an affine form or lies between two."""

from dataclasses import dataclass

from humboldt.mdl.proofs.geometry.affine import Row
from humboldt.mdl.proofs.geometry.symbolic import State


@dataclass(frozen=True)
class ProofCell:
    """A set of states right after a symbol was read.

    - `place`: 0 after `#`, i after a letter of block number i; for Dyck-1, 1 after `(` and 2 after `)`.
    - `rows`: the region of the variables.
    - `state`: forms or bounds of the memory units there.
    """

    place: int
    rows: tuple[Row, ...]
    state: State


@dataclass(frozen=True)
class Loose:
    """A unit whose value could not be expressed as one affine form."""

    unit: int
    place: int


class TooManyCells(Exception):
    """The values keep changing their form, so that the search for cells would not end."""

    def __init__(self, place: int, unit: int | None) -> None:
        super().__init__()
        self.place, self.unit = place, unit
