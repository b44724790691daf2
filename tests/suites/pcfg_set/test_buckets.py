"""Pairs of padded lengths: all texts have room, and no other choice of the same cuts has less padding."""

import itertools

import numpy as np
import pytest

from humboldt.suites.pcfg_set.buckets import MULTIPLE, Ragged, assign, batches_of, choose_buckets


def lengths(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    sources = 3 + rng.geometric(0.08, count)
    return sources, 1 + rng.binomial(sources, 0.5) * rng.integers(1, 4, count)


def padded_tokens(sources: np.ndarray, targets: np.ndarray, buckets: tuple[tuple[int, int], ...], rows: int) -> int:
    counts = np.bincount(assign(sources, targets, buckets), minlength=len(buckets))
    return sum(-(-int(count) // rows) * rows * sum(pair) for count, pair in zip(counts, buckets, strict=True))


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_all_texts_have_room_in_nested_buckets(most: int):
    sources, targets = lengths(500)
    buckets = choose_buckets(sources, targets, most, 16)
    assert 1 <= len(buckets) <= most
    assert all(a <= c and b <= d for (a, b), (c, d) in itertools.pairwise(buckets))
    assert all(n % MULTIPLE == 0 for pair in buckets for n in pair)
    chosen = assign(sources, targets, buckets)
    assert all(sources[i] <= buckets[b][0] and targets[i] <= buckets[b][1] for i, b in enumerate(chosen))
    assert buckets[-1][0] - sources.max() < MULTIPLE and buckets[-1][1] - targets.max() < MULTIPLE


def test_more_buckets_mean_less_padding_and_the_best_two_are_found():
    sources, targets = lengths(400, seed=1)
    costs = [padded_tokens(sources, targets, choose_buckets(sources, targets, most, 8), 8) for most in (1, 2, 3, 4)]
    assert costs[0] > costs[1] > costs[2] >= costs[3]
    last = choose_buckets(sources, targets, 1, 8)[0]
    every = range(MULTIPLE, max(last) + 1, MULTIPLE)
    best = min(
        padded_tokens(sources, targets, ((a, b), last), 8)
        for a, b in itertools.product(every, every)
        if a <= last[0] and b <= last[1]
    )
    assert costs[1] <= 1.1 * best  # buckets are stretches of one order: nearly the best of all pairs


def test_equal_texts_need_one_bucket():
    assert choose_buckets(np.full(5, 3), np.full(5, 20), 4, 2) == ((8, 24),)
    assert choose_buckets(np.array([3]), np.array([2]), 4, 2) == ((8, 8),)


def test_ragged_texts():
    texts = Ragged.of([[5, 6], [], [7]])
    tokens, mask = texts.padded(np.array([2, 0, 1, 0]), 3)
    assert tokens.tolist() == [[7, 0, 0], [5, 6, 0], [0, 0, 0], [5, 6, 0]]
    assert mask.sum(1).tolist() == [1, 2, 0, 2] and len(texts) == 3 and texts.lengths.tolist() == [2, 0, 1]


def test_batches_hold_every_text_once():
    found = list(batches_of(np.array([0, 1, 0, 1, 1, 0]), [2, 3]))
    assert [(bucket, items.tolist()) for bucket, items in found] == [(0, [0, 2]), (0, [5]), (1, [1, 3, 4])]
