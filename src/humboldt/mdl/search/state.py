"""The state of a search, as plain arrays that can be saved and restored exactly."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from humboldt.errors import UsageError
from humboldt.mdl.machine_words import unpack
from humboldt.mdl.network import Network


@dataclass(eq=False)
class SearchState:
    """The complete state of a search. K islands of N members in R rings; capacities U units and E edges."""

    units: NDArray[np.int64]  # (K, N, U)
    edges: NDArray[np.int64]  # (K, N, E)
    sizes: NDArray[np.int64]  # (K, N, 2)
    grammar: NDArray[np.float64]  # (K, N)
    data: NDArray[np.float64]  # (K, N)
    rng: NDArray[np.uint64]  # (K, 1)
    counts: NDArray[np.int64]  # (K, 1) number of offspring
    generation: NDArray[np.int64]  # (1,)
    best_units: NDArray[np.int64]  # (R, U) the best of each ring since its last restart
    best_edges: NDArray[np.int64]  # (R, E)
    best_sizes: NDArray[np.int64]  # (R, 2)
    best_lengths: NDArray[np.float64]  # (R, 2) |G| and |D:G|
    improved: NDArray[np.int64]  # (R,) generation of the last improvement
    restarts: NDArray[np.int64]  # (R,)
    born: NDArray[np.int64]  # (R,) generation of the last restart
    exact: NDArray[np.bool_]  # (K,) islands whose |D:G| is not softened
    record_units: NDArray[np.int64]  # (U,) the best of the whole search
    record_edges: NDArray[np.int64]  # (E,)
    record_sizes: NDArray[np.int64]  # (2,)
    record_lengths: NDArray[np.float64]  # (2,)
    record_generation: NDArray[np.int64]  # (1,) when it was found

    def to_arrays(self) -> dict[str, NDArray]:
        """Returns copies of all arrays by name, for `numpy.savez` or any other store."""
        return {f.name: getattr(self, f.name).copy() for f in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> "SearchState":
        """Restores the state from the arrays of `to_arrays`."""
        names = [f.name for f in fields(cls)]
        if set(arrays) != set(names):
            odd = ", ".join(sorted(set(arrays) ^ set(names)))
            raise UsageError(f"These arrays are not a search's state: {odd} missing or unknown.")
        return cls(**{name: np.array(arrays[name]) for name in names})

    @property
    def networks_tried(self) -> int:
        """Number of offspring so far on all islands.

        Each is mutated and its code length computed. A known network is then looked up, and the evaluation of any other
        ends as soon as it cannot survive; `Islands.full_evaluations` counts those that run to the end.
        """
        return int(self.counts.sum())

    def _leader(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Returns units, edges, sizes and code lengths of the best network so far.

        The record is updated at migrations only (so that it does not depend on how generations are divided over
        calls); a living member may be better.
        """
        totals = np.where(self.exact[:, None], self.grammar + self.data, np.inf)
        at = np.unravel_index(int(np.argmin(totals)), totals.shape)
        if not totals[at] < self.record_lengths.sum():
            return self.record_units, self.record_edges, self.record_sizes, self.record_lengths
        return self.units[at], self.edges[at], self.sizes[at], np.array([self.grammar[at], self.data[at]])

    def best_network(self, symbols: tuple[str, ...]) -> Network:
        """Returns the network with the shortest description found so far."""
        units, edges, sizes, _ = self._leader()
        return unpack(units[: sizes[0]], edges[: sizes[1]], symbols)

    def progress(self) -> "Progress":
        """Returns the progress of the search."""
        _, _, sizes, lengths = self._leader()
        return Progress(
            generation=int(self.generation[0]),
            networks_tried=self.networks_tried,
            mdl=float(lengths.sum()),
            grammar=float(lengths[0]),
            data=float(lengths[1]),
            num_units=int(sizes[0]),
            num_edges=int(sizes[1]),
            improved=int(self.record_generation[0]),
            restarts=int(self.restarts.sum()),
        )


@dataclass(frozen=True)
class Progress:
    """The contents of a progress line: the best network so far, and when it was found."""

    generation: int
    networks_tried: int  # see `SearchState.networks_tried`
    mdl: float
    grammar: float
    data: float
    num_units: int
    num_edges: int
    improved: int
    restarts: int

    def __str__(self) -> str:
        return (
            f"generation {self.generation}  MDL {self.mdl:.1f} = |G| {self.grammar:.0f} + |D:G| {self.data:.1f}  "
            f"{self.num_units} units, {self.num_edges} edges  "
            f"(found at {self.improved}; {self.networks_tried:,} networks tried)"
        )
