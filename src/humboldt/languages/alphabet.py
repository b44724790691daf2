"""Symbols and their ids. Ids stay inside arrays; files and screens show symbols."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from humboldt.errors import UsageError

MOST_SHOWN = 40  # symbols of an alphabet that an error message lists


@dataclass(frozen=True)
class Alphabet:
    """An ordered set of symbols; a symbol's id is its position.

    >>> letters = Alphabet(("a", "b"))
    >>> letters.encode("a b b".split())
    array([0, 1, 1], dtype=int32)
    >>> letters.decode([1, 0])
    ['b', 'a']
    """

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.symbols)) != len(self.symbols):
            raise ValueError(f"The symbols {self.symbols} are not distinct.")
        if any(not symbol or " " in symbol for symbol in self.symbols):
            raise ValueError(
                f"The symbols {self.symbols} must be non-empty and hold no space: files separate by spaces."
            )

    def __len__(self) -> int:
        return len(self.symbols)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def encode(self, symbols: Iterable[str]) -> np.ndarray:
        """Returns the ids of symbols, shape `(len(symbols),)`."""
        symbols = list(symbols)
        try:
            return np.array([self._ids[symbol] for symbol in symbols], np.int32)
        except KeyError as error:
            position = next(i for i, symbol in enumerate(symbols) if symbol not in self._ids)
            few = self.symbols if len(self.symbols) <= MOST_SHOWN else (*self.symbols[:MOST_SHOWN], "...")
            raise UsageError(
                f"Symbol {error.args[0]!r} at position {position} is not in the alphabet {' '.join(few)}. "
                "Symbols are separated by single spaces."
            ) from None

    def decode(self, ids: Sequence[int] | np.ndarray) -> list[str]:
        """Returns the symbols of ids."""
        try:
            return [self.symbols[i] for i in ids]
        except IndexError:
            position = next(i for i, number in enumerate(ids) if number >= len(self.symbols))
            raise UsageError(
                f"The id {ids[position]} at position {position} is not in the alphabet: it has the ids 0 to "
                f"{len(self.symbols) - 1}. Draw only these; `humboldt check task` finds such errors."
            ) from None
