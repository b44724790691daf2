"""Balanced strings that are drawn at random, or built."""

from collections import Counter
from itertools import product
from typing import cast

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.bliss import AbstractDyck, get

DYCK_1, DYCK_2 = cast(AbstractDyck, get("dyck_1")), cast(AbstractDyck, get("dyck_2"))


@pytest.mark.parametrize(("language", "length"), [(DYCK_1, 6), (DYCK_1, 8), (DYCK_2, 4), (DYCK_2, 0)])
def test_every_string_of_a_length_is_equally_probable(language: AbstractDyck, length: int):
    everything = {"".join(s) for s in product(language.input_alphabet.symbols[1:], repeat=length)}
    strings = sorted(string for string in everything if language.accepts(string))
    rng, per_string = np.random.default_rng(0), 400
    counts = Counter(language.random_string(rng, length) for _ in range(per_string * len(strings)))
    assert sorted(counts) == strings
    # Each count is binomial: five standard deviations.
    assert max(abs(count - per_string) for count in counts.values()) <= 5 * per_string**0.5


def test_long_ones_are_in_the_language_and_the_generator_decides():
    for language in (DYCK_1, DYCK_2):
        string = language.random_string(np.random.default_rng(3), 100)
        assert len(string) == 100 and language.accepts(string)
        assert string == language.random_string(np.random.default_rng(3), 100)
        assert string != language.random_string(np.random.default_rng(4), 100)


def test_depth_and_nesting():
    assert DYCK_1.nested(3) == "((()))" and DYCK_1.depth("((()))") == 3
    assert DYCK_2.nested(2) == "(())" and DYCK_2.depth("[(())[]]") == 3 and DYCK_2.depth("") == 0
    for k in range(1, 6):
        assert DYCK_2.accepts(DYCK_2.nested(k)) and DYCK_2.depth(DYCK_2.nested(k)) == k


def test_odd_lengths_are_refused():
    with pytest.raises(UsageError, match="No balanced string has 5 symbols"):
        DYCK_1.random_string(np.random.default_rng(0), 5)
