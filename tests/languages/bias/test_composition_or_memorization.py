"""The rules, written a second time with a table of what the training set says."""

import pytest

from humboldt.errors import UsageError
from humboldt.languages.bias import Symbols
from humboldt.languages.bias.composition_or_memorization import CompositionOrMemorization


def compose(symbols: Symbols, table: dict[Symbols, Symbols]) -> list[str]:
    """Look the primitive up, and write it down once more for each further time."""
    outputs: list[str] = []
    for _ in range(3 if "thrice" in symbols else 1):
        outputs.extend(table[(symbols[-1],)])
    return outputs


def memorize(symbols: Symbols, table: dict[Symbols, Symbols]) -> list[str]:
    """Look the input up; where it is not there, the primitive decides alone."""
    return list(table.get(symbols, table[(symbols[-1],)]))


@pytest.mark.parametrize(("N", "M"), [(2, 1), (40, 6), (40, 24), (40, 36), (1000, 10)])
def test_rules_equal_the_slow_ones(N: int, M: int):
    task = CompositionOrMemorization(N=N, M=M)
    table = task.training_targets
    assert len(task.training_pairs) == len(table) == N + M and len(task.holdout_inputs) == N - M
    for name, slow in (("comp", compose), ("mem", memorize)):
        for source, target in (*task.training_pairs, *task.holdout_pairs(name)):
            assert list(task.output(name, source)) == list(target) == slow(source, table)


def test_all_examples_with_thrice_leave_nothing_to_ask():
    with pytest.raises(UsageError, match=r"M=40 leaves no hold-out input.*N=40"):
        CompositionOrMemorization(M=40)
