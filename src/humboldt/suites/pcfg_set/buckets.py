"""Few pairs of padded lengths for many pairs of texts, so that little is computed on padding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

MULTIPLE = 8  # padded lengths are multiples of this
CUTS = 64  # places where a bucket may end that are tried

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Texts as token ids, one after the other: text `i` lies between `offsets[i]` and `offsets[i + 1]`."""

    ids: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Ragged":
        """From a list of lists."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        return cls(np.fromiter((i for row in rows for i in row), np.int32, int(offsets[-1])), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each text."""
        return np.diff(self.offsets)

    def take(self, rows: np.ndarray) -> "Ragged":
        """Some of the texts."""
        return Ragged.of([self.ids[self.offsets[i] : self.offsets[i + 1]].tolist() for i in rows])

    def padded(self, rows: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Some of the texts as arrays of `time` tokens, padded with 0, and which tokens are real."""
        place = np.arange(time)[None, :]
        mask = place < self.lengths[rows][:, None]
        tokens = self.ids[np.minimum(self.offsets[rows][:, None] + place, len(self.ids) - 1)]
        return np.where(mask, tokens, 0), mask


def choose_buckets(sources: np.ndarray, targets: np.ndarray, most: int, rows: int) -> tuple[Pair, ...]:
    """At most so many pairs of lengths, growing in both, that hold all texts with the least padding.

    Texts are put in one order, by whichever of source and target is longer for its kind. Buckets are stretches of it,
    chosen so that batches of `rows` texts have the fewest tokens, padding included.

    **Arguments:** `sources`, `targets`: the lengths of each pair of texts.
    """
    rank = np.maximum(_share_below(sources), _share_below(targets))
    order = np.argsort(rank, kind="stable")
    count = len(order)
    tails = count - np.geomspace(1, count, CUTS // 2)  # long texts are few, and dear
    cuts = np.unique(np.concatenate([np.linspace(0, count, CUTS // 2), tails]).round().astype(np.int64))
    longest = np.stack([np.maximum.accumulate(lengths[order]) for lengths in (sources, targets)], 1)
    longest = -(-longest[np.maximum(cuts, 1) - 1] // MULTIPLE) * MULTIPLE  # of all texts before each cut
    batches = -(-(cuts[None, :] - cuts[:, None]) // rows)  # from cut i to cut j
    cost = np.where(batches > 0, batches * longest.sum(1), np.inf)
    total, came_from = cost[0], []  # the least for all texts before each cut; with one bucket at first
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
    """For each length, the share of lengths that are not larger."""
    return np.searchsorted(np.sort(lengths), lengths, side="right") / max(len(lengths), 1)


def assign(sources: np.ndarray, targets: np.ndarray, buckets: Sequence[Pair]) -> np.ndarray:
    """The first bucket in which each pair of texts has room."""
    fits = np.stack([(sources <= a) & (targets <= b) for a, b in buckets])
    return fits.argmax(0)


def batches_of(buckets: np.ndarray, rows: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
    """Texts, given by their buckets, in batches of so many rows of each bucket: the bucket, and which texts."""
    for bucket, size in enumerate(rows):
        items = np.flatnonzero(buckets == bucket)
        for first in range(0, len(items), size):
            yield bucket, items[first : first + size]
