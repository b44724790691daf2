"""The rules, written a second time: how many of the three terms follow the input, and how many the training example."""

import pytest

from humboldt.languages.bias import Symbols
from humboldt.languages.bias.multiply_by_3 import MultiplyBy3

TERMS = {"mul1": "lml", "mul2": "mlm", "mul3": "mmm", "mem": "lll"}  # 3l = l + l + l at the training length


def slow(rule: str, symbols: Symbols, l: int) -> list[str]:  # noqa: E741
    outputs: list[str] = []
    for term in TERMS[rule]:
        outputs.extend("b" for _ in (symbols if term == "m" else range(l)))
    return outputs


@pytest.mark.parametrize("l", [3, 5, 10, 15, 20])
def test_rules_equal_the_slow_ones(l: int):  # noqa: E741
    task = MultiplyBy3(l=l)
    assert list(task.rules) == list(TERMS)
    for name in TERMS:
        for source, target in task.holdout_pairs(name):
            assert list(target) == slow(name, source, l)
    assert task.training_pairs == ((("a",) * l, ("b",) * 3 * l),)
