"""The rules, written a second time: peel the nest from outside, or walk d symbols from the left."""

import pytest

from humboldt.errors import UsageError
from humboldt.languages.bias import Symbols
from humboldt.languages.bias.hierarchical_or_linear import HierarchicalOrLinear

WRITTEN = {"a": "A", "b": "B"}


def peel(symbols: Symbols) -> list[str]:
    nest = list(symbols)
    while len(nest) > 1:
        assert nest.pop(0) == nest.pop()
    return [WRITTEN[nest[0]]]


def walk(symbols: Symbols, d: int) -> list[str]:
    reader = iter(symbols)
    for _ in range(d):
        next(reader)
    return [WRITTEN[next(reader)]]


@pytest.mark.parametrize(("d", "span"), [(2, 1), (4, 2), (5, 2), (8, 4)])
def test_rules_equal_the_slow_ones(d: int, span: int):
    task = HierarchicalOrLinear(d=d, span=span)
    task.verify()
    for source, target in task.holdout_pairs("hierar"):
        assert list(target) == peel(source)
    for source, target in task.holdout_pairs("linear"):
        assert list(target) == walk(source, d)


def test_the_four_training_examples_of_footnote_3():
    pairs = {"".join(source): target for source, target in HierarchicalOrLinear().training()}
    assert pairs == {"aaaabaaaa": ("B",), "aaaaaaaaa": ("A",), "bbbbabbbb": ("A",), "bbbbbbbbb": ("B",)}


def test_hold_out_depths_are_two_to_six_without_four():
    assert sorted({len(source) // 2 for source in HierarchicalOrLinear().holdout()}) == [2, 3, 5, 6]
    assert len(HierarchicalOrLinear().holdout()) == 16


def test_depths_at_which_linear_is_not_defined():
    with pytest.raises(UsageError, match=r"span=3 with d=4 asks for depths below d / 2.*at most 2"):
        HierarchicalOrLinear(d=4, span=3)
