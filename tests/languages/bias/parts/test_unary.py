"""What the three arithmetic tasks share."""

import pytest

from humboldt.errors import UsageError
from humboldt.languages.bias.add_or_multiply import AddOrMultiply
from humboldt.languages.bias.count_or_memorization import CountOrMemorization


def test_hold_out_lengths_include_both_ends_and_leave_the_training_length_out():
    lengths = [len(source) for source in CountOrMemorization(l=20).holdout()]
    assert lengths == [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]
    assert [len(source) for source in AddOrMultiply(l=5).holdout()] == [2, 3, 4, 6, 7, 8]
    assert {symbol for source in AddOrMultiply().holdout() for symbol in source} == {"a"}


def test_the_empty_input_is_there_at_l_10():
    assert CountOrMemorization(l=10).holdout()[0] == ()


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"l": 0}, "l=0: l must be a whole number of at least 1"), ({"l": 9}, "span=10 is more than l=9.*at most 9")],
)
def test_settings_that_make_no_task(settings: dict[str, int], words: str):
    with pytest.raises(UsageError, match=words):
        CountOrMemorization(**settings)
