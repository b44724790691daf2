"""Naturalisation: appendix A step by step, and the shortcut that gives the same distribution."""

from collections import Counter

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    PCFG_SET,
    JointHistogram,
    estimate,
    naturalise,
    num_functions,
    released_histogram,
    released_productions,
    uniform_productions,
)
from humboldt.languages.pcfg_set.parts.naturalise import (
    free_skeletons,
    gaussian_divergence,
    proportional,
    resample,
    skeletons,
)

# A target that single productions do not give: long shallow and short deep trees, little in between.
TARGET = JointHistogram({(6, 1): 30, (8, 2): 20, (9, 3): 40, (7, 4): 10})


def pairs_of(histogram: JointHistogram) -> list[tuple[int, int]]:
    return [pair for pair, count in histogram.counts.items() for _ in range(count)]


def test_resampling_by_hand():
    sample = np.array([(3, 1)] * 4 + [(4, 1)] * 4 + [(5, 2)] * 2 + [(9, 9)])
    target = [(3, 1)] * 4 + [(4, 1)] * 2 + [(5, 2)] * 4 + [(6, 3)]
    kept = resample(np.random.default_rng(0), sample, target)
    # (3, 1) is the target's largest cell: all four are kept. Half as many (4, 1); of (5, 2) all there are; no (9, 9).
    assert Counter(map(tuple, sample[kept].tolist())) == {(3, 1): 4, (4, 1): 2, (5, 2): 2}
    wide = resample(np.random.default_rng(0), sample, target, (4, 2))
    # Cells are now (0, 0): 4, (1, 0): 2, (1, 1): 5 in the target, the last of which has two members.
    assert Counter(map(tuple, sample[wide].tolist())) == {(3, 1): 1, (5, 2): 2}


def test_divergence_of_gaussians():
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(500, 2))
    assert gaussian_divergence(pairs, pairs) == pytest.approx(0, abs=1e-12)
    # Moving by one deviation costs half a nat.
    shifted = (pairs - pairs.mean(0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(pairs.T))).T
    assert gaussian_divergence(shifted, shifted + np.array([1.0, 0.0])) == pytest.approx(0.5)


def test_shares_become_whole_numbers():
    histogram = JointHistogram({(3, 1): 1, (4, 1): 1, (5, 1): 1})
    assert proportional(histogram, 100).counts == {(3, 1): 34, (4, 1): 33, (5, 1): 33}
    released = released_histogram()
    assert proportional(released, 14_581).counts == released.counts
    assert proportional(released, 97_203).counts.total() == 97_203


def test_the_shortcut_is_generating_and_resampling():
    """Step 5 by two roads: trees of every size are equally distributed, function by function."""
    productions = released_productions()
    rng = np.random.default_rng(5)
    free = free_skeletons(rng, 200_000, productions, 9)
    kept = free.take(resample(rng, free.pairs(), pairs_of(TARGET)))
    exact = skeletons(rng, 20_000, productions, TARGET)
    assert JointHistogram(map(tuple, exact.pairs().tolist())).distance(TARGET) < 1e-4
    assert JointHistogram(map(tuple, kept.pairs().tolist())).distance(TARGET) < 0.01
    assert len(kept) > 2_000
    for cell in TARGET.counts:
        slow = Counter(
            text for text, pair in zip(kept.texts(), kept.pairs().tolist(), strict=True) if tuple(pair) == cell
        )
        fast = Counter(
            text for text, pair in zip(exact.texts(), exact.pairs().tolist(), strict=True) if tuple(pair) == cell
        )
        for statistic in (
            num_functions,
            lambda text: text.split()[0],
            lambda text: text.count(","),
            lambda text: text.split()[1] == "A1",
        ):
            _same_distribution(_count(slow, statistic), _count(fast, statistic))


def _count(texts: Counter[str], statistic) -> Counter:
    counts: Counter = Counter()
    for text, n in texts.items():
        counts[statistic(text)] += n
    return counts


def _same_distribution(first: Counter, second: Counter) -> None:
    """Chi-squared test of two samples, at five deviations."""
    a, b = first.total(), second.total()
    value = sum(
        (first[key] * np.sqrt(b / a) - second[key] * np.sqrt(a / b)) ** 2 / (first[key] + second[key])
        for key in first | second
    )
    freedom = len(first | second) - 1
    assert value <= freedom + 5 * np.sqrt(2 * max(freedom, 1)), (value, freedom, first, second)


def test_the_released_histogram_is_met_and_productions_alone_do_not():
    rng = np.random.default_rng(0)
    target = released_histogram()
    exact = skeletons(rng, 20_000, released_productions(), target)
    pairs = exact.pairs()
    assert JointHistogram(map(tuple, pairs.tolist())).distance(target) < 1e-3 * 5
    assert pairs[:, 1].mean() == pytest.approx(4.40, abs=0.01) and pairs[:, 1].std() == pytest.approx(2.03, abs=0.01)
    free = free_skeletons(rng, 20_000, released_productions(), 200).pairs()
    assert JointHistogram(map(tuple, free.tolist())).distance(target) > 0.3
    assert (free[:, 1] == 1).mean() > 0.3  # single functions: 1.5% in the released data


def test_sizes_that_no_expression_has_get_none():
    target = JointHistogram({(3, 1): 1, (2, 1): 5, (9, 8): 2, (4, 0): 1})  # strings have two letters at least
    trees = skeletons(np.random.default_rng(0), 10, released_productions(), target)
    assert Counter(map(tuple, trees.pairs().tolist())) == {(3, 1): 10}
    with pytest.raises(UsageError, match="No expression of the grammar has a length and depth of the histogram"):
        skeletons(np.random.default_rng(0), 10, released_productions(), JointHistogram({(2, 1): 1}))


def test_any_list_of_lengths_and_depths_can_be_the_target():
    target = [(n, d) for n in range(12, 22) for d in (3, 4, 5) for _ in range(n)]
    found = naturalise(target, 0, sample=60_000)
    assert found.divergence < 0.05 and found.sample > 200
    again = naturalise(target, 0, sample=60_000)
    assert again == found
    assert naturalise(target, 1, sample=60_000) != found
    trees = skeletons(np.random.default_rng(0), 3_000, found.productions, JointHistogram(target))
    assert JointHistogram(map(tuple, trees.pairs().tolist())).distance(JointHistogram(target)) < 0.01
    # What it finds are the relative frequencies in the transformed sample, so most of them in data made with it.
    assert estimate(trees.texts()).unary == pytest.approx(found.productions.unary, abs=0.05)
    assert sum(found.productions.string_lengths.values()) == pytest.approx(1)


def test_a_target_that_has_nothing_to_do_with_trees():
    with pytest.raises(UsageError, match="almost none has a length and depth"):
        naturalise([(2, 7), (2, 8), (2, 9)], 0, sample=1_000)


def test_a_grammar_without_recursion():
    flat = uniform_productions(PCFG_SET, unary=0.5, function=0.0)
    trees = skeletons(np.random.default_rng(0), 100, flat, JointHistogram({(5, 1): 1, (6, 2): 1}))
    assert set(map(tuple, trees.pairs().tolist())) == {(5, 1)}
