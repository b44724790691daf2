"""The rules, written a second time symbol by symbol."""

import pytest

from humboldt.languages.bias import Symbols
from humboldt.languages.bias.count_or_memorization import CountOrMemorization


def count(symbols: Symbols, l: int) -> list[str]:  # noqa: E741
    """One output symbol whenever an input symbol has been read."""
    outputs = []
    for _ in symbols:
        outputs.append("b")
    return outputs


def memorize(symbols: Symbols, l: int) -> list[str]:  # noqa: E741
    """The output of the training example, whatever was read."""
    outputs = []
    while len(outputs) < l:
        outputs.append("b")
    return outputs


@pytest.mark.parametrize("l", [1, 2, 10, 20, 30, 40])
def test_rules_equal_the_slow_ones(l: int):  # noqa: E741
    task = CountOrMemorization(l=l, span=min(l, 10))
    for name, slow in (("count", count), ("mem", memorize)):
        for source, target in task.holdout_pairs(name):
            assert list(target) == slow(source, l)
    assert task.training_pairs == ((("a",) * l, ("b",) * l),)
