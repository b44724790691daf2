from math import isqrt

import pytest
from chomsky_support import assert_frequency, drawn, every_string, make
from hypothesis import given
from hypothesis import strategies as st

LITTLE, BIG = make("compute_sqrt"), make("compute_sqrt", endian="big")


def number(symbols: list[str]) -> int:
    return int("".join(symbols[::-1]), 2)


def test_all_short_numbers():
    for length in range(1, 11):
        for source in every_string("01", length):
            symbols = source.split(" ")
            root = LITTLE.oracle(symbols)
            assert number(root) == isqrt(number(symbols)) and len(root) == (length + 1) // 2
            assert BIG.oracle(symbols[::-1]) == root[::-1]


@given(st.lists(st.sampled_from("01"), min_size=1, max_size=300))
def test_squares_enclose_the_number(symbols: list[str]):
    root = number(LITTLE.oracle(symbols))
    assert root**2 <= number(symbols) < (root + 1) ** 2


@pytest.mark.parametrize("length", range(1, 7))
def test_sampler_draws_every_positive_number(length: int):
    sources = {source for source, _ in drawn(LITTLE, 5000, length)}
    assert sources == {source for source in every_string("01", length) if "1" in source}


def test_all_positive_numbers_are_equally_likely():
    sources = [source for source, _ in drawn(LITTLE, 10_000, 3)]
    for source in set(sources):
        assert_frequency(sources.count(source), 10_000, 1 / 7)
