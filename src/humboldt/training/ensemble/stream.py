"""Prepares batches for the compiled program: many steps together, padded to a few lengths."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from humboldt.languages import Batch
from humboldt.training.ensemble.steps import Chunk, Clock, Examples

Stream = Callable[[int], Batch]
"""Batch number `i`, a function of `i` alone: a resumed run sees the same data."""


def buckets_for(longest: int, *, most: int = 8) -> tuple[int, ...]:
    """Returns padded lengths: at most `most`, evenly spaced, at least 8 apart, the last one `longest` itself.

    There are few, so that compiling is fast, but enough that little computation is wasted on padding.
    """
    step = max(8, -(-longest // most))
    return (*range(step, longest, step), longest)


def bucket_of(batch: Batch, buckets: Sequence[tuple[int, int]]) -> int:
    """Returns the first bucket that holds both the sources and the targets of a batch."""
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
    """Returns batches `first` to `last - 1`, padded to `size` steps. With `has_one_batch`, all are the first one."""
    batches = [stream(first)] if has_one_batch else [stream(i) for i in range(first, last)]
    bucket = [bucket_of(batch, buckets) for batch in batches]
    bucket = bucket * (last - first) if has_one_batch else bucket
    batches = [batch.padded(*buckets[-1]) for batch in batches]
    filling = size - (last - first)
    if has_one_batch:
        arrays: dict[str, Any] = {name: getattr(batches[0], name) for name in Examples._fields}
    else:  # NumPy arrays, which the compiled program takes directly
        batches += [batches[-1]] * filling
        arrays = {
            name: np.stack([getattr(batch, name) for batch in batches], 1 if has_own_examples else 0)
            for name in Examples._fields
        }
    steps: Any = np.arange(first, first + size, dtype=np.int32)
    return Chunk(Clock(steps, np.array(bucket + [len(buckets)] * filling, np.int32)), Examples(**arrays))  # pyright: ignore[reportArgumentType]
