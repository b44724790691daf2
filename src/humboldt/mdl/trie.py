"""A corpus as a prefix trie with counts: each distinct prefix is evaluated once, however many strings share it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from humboldt.errors import UsageError

BOUNDARY = 0


@dataclass(frozen=True, eq=False)
class Trie:
    """Prefixes of a corpus, shortest first and, among equally long ones, the more frequent first.

    Short and frequent prefixes come first because a bad network is detected there.

    Attributes:
        num_symbols: size of the alphabet; symbol 0 is the boundary `#`.
        parent: (nodes,) the prefix one symbol shorter; -1 for node 0, the prefix `#`.
        symbol: (nodes,) the last symbol of the prefix, which the network reads at this node.
        next_start: (nodes + 1,) where a node's continuations begin in the next two arrays.
        next_symbol: (continuations,) a symbol that follows the prefix in the corpus.
        next_count: (continuations,) the number of times that it follows.
    """

    num_symbols: int
    parent: NDArray[np.int64]
    symbol: NDArray[np.int64]
    next_start: NDArray[np.int64]
    next_symbol: NDArray[np.int64]
    next_count: NDArray[np.float64]

    @property
    def num_nodes(self) -> int:
        """Number of distinct prefixes."""
        return len(self.parent)

    @cached_property
    def arrays(self) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
        """The arrays in the order that compiled code reads."""
        return (self.parent, self.symbol, self.next_start, self.next_symbol, self.next_count)


def build_trie(strings: Iterable[Sequence[int]], num_symbols: int) -> Trie:
    """Builds the trie of `strings`, given without boundaries as symbol numbers from 1 to `num_symbols - 1`.

    The network reads `#` and then the string, and must predict the string and then `#`.

    >>> trie = build_trie([[1, 2], [1, 1, 2, 2], [1, 2]], num_symbols=3)
    >>> trie.num_nodes, trie.next_count[:2]
    (6, array([3., 2.]))
    """
    following: dict[tuple[int, ...], Counter[int]] = {}
    for number, string in enumerate(strings):
        symbols = tuple(int(symbol) for symbol in string)
        for place, symbol in enumerate(symbols):
            if not 1 <= symbol < num_symbols:
                raise UsageError(
                    f"String {number}, place {place}: symbol {symbol} is outside 1 to {num_symbols - 1}. "
                    "Symbol 0 is the boundary, which is added here."
                )
        for length in range(len(symbols) + 1):
            successor = symbols[length] if length < len(symbols) else BOUNDARY
            following.setdefault(symbols[:length], Counter())[successor] += 1
    if not following:
        raise UsageError("The corpus is empty. Give at least one string (it may be the empty one).")
    prefixes = sorted(following, key=lambda p: (len(p), -following[p].total(), p))
    place_of = {prefix: node for node, prefix in enumerate(prefixes)}
    # Frequent continuations first, for the same reason as frequent prefixes.
    successors = [sorted(following[p].items(), key=lambda item: (-item[1], item[0])) for p in prefixes]
    flat = [item for items in successors for item in items]
    return Trie(
        num_symbols=num_symbols,
        parent=np.array([place_of[p[:-1]] if p else -1 for p in prefixes], dtype=np.int64),
        symbol=np.array([p[-1] if p else BOUNDARY for p in prefixes], dtype=np.int64),
        next_start=np.cumsum([0] + [len(items) for items in successors], dtype=np.int64),
        next_symbol=np.array([symbol for symbol, _ in flat], dtype=np.int64),
        next_count=np.array([count for _, count in flat], dtype=np.float64),
    )
