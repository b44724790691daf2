"""The rules, written a second time symbol by symbol."""

import pytest

from humboldt.languages.bias import Symbols
from humboldt.languages.bias.add_or_multiply import AddOrMultiply


def add(symbols: Symbols, l: int) -> list[str]:  # noqa: E741
    """As many symbols as were read, and then l more."""
    outputs = ["b" for _ in symbols]
    for _ in range(l):
        outputs.append("b")
    return outputs


def multiply(symbols: Symbols, l: int) -> list[str]:  # noqa: E741
    """Two symbols for each that was read."""
    outputs: list[str] = []
    for _ in symbols:
        outputs.append("b")
        outputs.append("b")
    return outputs


def memorize(symbols: Symbols, l: int) -> list[str]:  # noqa: E741
    """The output of the training example: two symbols for each of its l."""
    return multiply(("a",) * l, l)


@pytest.mark.parametrize("l", [3, 5, 10, 15, 20])
def test_rules_equal_the_slow_ones(l: int):  # noqa: E741
    task = AddOrMultiply(l=l)
    for name, slow in (("add", add), ("mul", multiply), ("mem", memorize)):
        for source, target in task.holdout_pairs(name):
            assert list(target) == slow(source, l)
    assert task.training_pairs == ((("a",) * l, ("b",) * 2 * l),)
