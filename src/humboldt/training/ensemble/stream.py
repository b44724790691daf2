"""Batches as the compiled program takes them: many steps together, padded to a few lengths."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from humboldt.languages import Batch
from humboldt.training.ensemble.steps import Chunk, Clock, Examples

Stream = Callable[[int], Batch]
"""Batch number `i`, a function of `i` alone: a resumed run sees the same data."""


def buckets_for(longest: int, *, most: int = 8) -> tuple[int, ...]:
    """Padded lengths: at most so many, evenly spaced, at least 8 apart, the last one `longest` itself.

    Few enough that the program is compiled soon, many enough that little is wasted.
    """
    step = max(8, -(-longest // most))
    return (*range(step, longest, step), longest)


def bucket_of(batch: Batch, buckets: Sequence[tuple[int, int]]) -> int:
    """The first bucket in which both its sources and its targets have room."""
    for index, (time, target_time) in enumerate(buckets):
        if batch.time <= time and batch.target_time <= target_time:
            return index
    raise ValueError(f"a batch of {batch.time} and {batch.target_time} steps is longer than all of {buckets}")


def make_chunk(
    stream: Stream,
    first: int,
    last: int,
    size: int,
    buckets: Sequence[tuple[int, int]],
    *,
    has_own_examples: bool = False,
    has_one_batch: bool = False,
) -> Chunk:
    """Batches `first`..`last - 1`, filled up to `size` steps. With `has_one_batch`, they are all the first one."""
    batches = [stream(first)] if has_one_batch else [stream(i) for i in range(first, last)]
    bucket = [bucket_of(batch, buckets) for batch in batches]
    bucket = bucket * (last - first) if has_one_batch else bucket
    batches = [batch.padded(*buckets[-1]) for batch in batches]
    filling = size - (last - first)
    if has_one_batch:
        arrays: dict[str, Any] = {name: getattr(batches[0], name) for name in Examples._fields}
    else:  # NumPy arrays: the compiled program takes them as they are
        batches += [batches[-1]] * filling
        arrays = {
            name: np.stack([getattr(batch, name) for batch in batches], 1 if has_own_examples else 0)
            for name in Examples._fields
        }
    steps: Any = np.arange(first, first + size, dtype=np.int32)
    return Chunk(Clock(steps, np.array(bucket + [len(buckets)] * filling, np.int32)), Examples(**arrays))  # pyright: ignore[reportArgumentType]
