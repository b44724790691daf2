import threading

import numpy as np
import pytest

from humboldt.languages import Pairs, frame_transduction
from humboldt.training._stream import buckets_for, make_chunk, prefetch


def stream(step: int):
    rows = np.full((2, 1 + step % 7), step % 2)
    return frame_transduction(Pairs.full(rows, rows[:, :1]), 2)


@pytest.mark.parametrize("longest", [1, 5, 8, 13, 41, 80, 501])
def test_buckets_end_at_the_longest_and_are_few(longest: int):
    buckets = buckets_for(longest)
    assert buckets[-1] == longest and list(buckets) == sorted(set(buckets)) and len(buckets) <= 9


def test_a_chunk_holds_the_batches_each_in_its_bucket():
    chunk = make_chunk(stream, 3, 6, 5, (4, 8))
    assert chunk.step.tolist() == [3, 4, 5, 6, 7]
    assert chunk.bucket.tolist() == [1, 1, 1, 2, 2]  # times 5, 6, 7, then filling
    assert chunk.tokens.shape == (5, 2, 8)
    np.testing.assert_array_equal(chunk.tokens[1, :, :6], stream(4).tokens)
    assert not chunk.mask[1, :, 6:].any() and not chunk.target_mask[1, :, 6:].any()
    assert make_chunk(stream, 0, 1, 1, (4, 8)).bucket.tolist() == [0]


def test_prefetch_gives_the_same_items():
    assert list(prefetch(iter(range(50)))) == list(range(50))


def test_an_exception_in_the_thread_is_raised_here():
    def items():
        yield 1
        raise KeyError("broken")

    found = prefetch(items())
    assert next(found) == 1
    with pytest.raises(KeyError, match="broken"):
        next(found)


def test_closing_early_ends_the_thread():
    found = prefetch(iter(range(1000)))
    next(found)
    found.close()
    assert not any(thread.name == "humboldt-prefetch" for thread in threading.enumerate())
