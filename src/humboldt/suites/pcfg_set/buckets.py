"""Groups pairs of texts into a few pairs of padded lengths, so that little is computed on padding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

MULTIPLE = 8  # padded lengths are multiples of this
CUTS = 64  # number of places that are tried as the end of a bucket

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Texts as token ids, one after the other: text `i` lies between `offsets[i]` and `offsets[i + 1]`."""

    ids: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Ragged":
        """Makes them from lists of token ids."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        return cls(np.fromiter((i for row in rows for i in row), np.int32, int(offsets[-1])), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each text."""
        return np.diff(self.offsets)

    def take(self, rows: np.ndarray) -> "Ragged":
        """Returns the texts at these indices."""
        return Ragged.of([self.ids[self.offsets[i] : self.offsets[i + 1]].tolist() for i in rows])

    def padded(self, rows: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns texts padded with 0 and the mask of real tokens, both of shape `(rows, time)`."""
        place = np.arange(time)[None, :]
        mask = place < self.lengths[rows][:, None]
        tokens = self.ids[np.minimum(self.offsets[rows][:, None] + place, len(self.ids) - 1)]
        return np.where(mask, tokens, 0), mask


def choose_buckets(sources: np.ndarray, targets: np.ndarray, most: int, rows: int) -> tuple[Pair, ...]:
    """Returns at most `most` pairs of lengths, increasing in both, that hold all texts with the least padding.

    Texts are sorted by the larger of the ranks of source and target length. Buckets are intervals of this order,
    chosen so that batches of `rows` texts have the fewest tokens, including padding.

    **Arguments:** `sources`, `targets`: the lengths of each pair of texts, shapes `(texts,)`.
    """
    rank = np.maximum(_share_below(sources), _share_below(targets))
    order = np.argsort(rank, kind="stable")
    count = len(order)
    tails = count - np.geomspace(1, count, CUTS // 2)  # long texts are few and costly
    cuts = np.unique(np.concatenate([np.linspace(0, count, CUTS // 2), tails]).round().astype(np.int64))
    longest = np.stack([np.maximum.accumulate(lengths[order]) for lengths in (sources, targets)], 1)
    longest = -(-longest[np.maximum(cuts, 1) - 1] // MULTIPLE) * MULTIPLE  # of all texts before each cut
    batches = -(-(cuts[None, :] - cuts[:, None]) // rows)  # from cut i to cut j
    cost = np.where(batches > 0, batches * longest.sum(1), np.inf)
    total, came_from = cost[0], []  # least cost of all texts before each cut; one bucket at first
    for _ in range(most - 1):
        ways = total[:, None] + cost
        if not ways[:, -1].min() < total[-1]:
            break
        came_from.append(ways.argmin(0))
        total = ways.min(0)
    ends = [len(cuts) - 1]
    for before in reversed(came_from):
        ends.append(int(before[ends[-1]]))
    return tuple(dict.fromkeys((int(a), int(b)) for a, b in longest[ends[::-1]]))


def _share_below(lengths: np.ndarray) -> np.ndarray:
    """Returns for each length the share of lengths that are not larger."""
    return np.searchsorted(np.sort(lengths), lengths, side="right") / max(len(lengths), 1)


def assign(sources: np.ndarray, targets: np.ndarray, buckets: Sequence[Pair]) -> np.ndarray:
    """Returns the index of the first bucket that holds each pair of texts, shape `(texts,)`."""
    fits = np.stack([(sources <= a) & (targets <= b) for a, b in buckets])
    return fits.argmax(0)


def batches_of(buckets: np.ndarray, rows: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Yields batches as a bucket and indices of texts. `rows`: the batch size of each bucket."""
    for bucket, size in enumerate(rows):
        items = np.flatnonzero(buckets == bucket)
        for first in range(0, len(items), size):
            yield bucket, items[first : first + size]
