import threading

import numpy as np
import pytest

from humboldt.languages import Batch, Pairs, frame_transduction
from humboldt.training.ensemble.stream import buckets_for, make_chunk
from humboldt.training.spans import prefetch


def stream(step: int) -> Batch:
    rows = np.full((2, 1 + step % 7), step % 2)
    return frame_transduction(Pairs.full(rows, rows[:, :1]), 2)


@pytest.mark.parametrize("longest", [1, 5, 8, 13, 41, 80, 501])
def test_buckets_end_at_the_longest_and_are_few(longest: int):
    buckets = buckets_for(longest)
    assert buckets[-1] == longest and list(buckets) == sorted(set(buckets)) and len(buckets) <= 9


def test_a_chunk_holds_the_batches_each_in_its_bucket():
    clock, examples = make_chunk(stream, 3, 6, 5, ((4, 4), (8, 8)))
    assert clock.step.tolist() == [3, 4, 5, 6, 7]
    assert clock.bucket.tolist() == [1, 1, 1, 2, 2]  # times 5, 6, 7, then filling
    assert examples.tokens.shape == (5, 2, 8)
    np.testing.assert_array_equal(examples.tokens[1, :, :6], stream(4).tokens)
    assert not examples.mask[1, :, 6:].any() and not examples.target_mask[1, :, 6:].any()
    assert make_chunk(stream, 0, 1, 1, ((4, 4), (8, 8))).clock.bucket.tolist() == [0]


def test_examples_of_members_come_before_steps():
    def own(step: int) -> Batch:
        batch = stream(step)
        three = {name: np.stack([getattr(batch, name)] * 3) for name in Batch.__dataclass_fields__}
        three["tokens"] = three["tokens"] + np.arange(3)[:, None, None]
        return Batch(**three)

    examples = make_chunk(own, 0, 3, 4, ((8, 8),), has_own_examples=True).examples
    assert examples.tokens.shape == (3, 4, 2, 8) and examples.weight.shape == (3, 4, 2)
    np.testing.assert_array_equal(examples.tokens[2, 1, :, :3], stream(1).tokens + 2)


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
