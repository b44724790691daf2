import pytest
from chomsky_support import assert_frequency, drawn, make, oracle
from hypothesis import given
from hypothesis import strategies as st

from humboldt.errors import UsageError

TASK = make("binary_multiplication")
Number = tuple[int, int]  # and needless zeros
numbers = st.tuples(st.integers(0, 2**70), st.integers(0, 5))


def written(number: int, zeros: int = 0) -> str:
    return " ".join(f"{number:b}"[::-1] + "0" * zeros)


@pytest.mark.parametrize("length", range(3, 9))
def test_sampler_draws_every_short_product_rightly(length: int):
    expected = set()
    for size in range(1, length - 1):
        for first in range(1, 2**size):
            for second in range(1, 2 ** (length - 1 - size)):
                digits = [f"{first:0{size}b}"[::-1], f"{second:0{length - 1 - size}b}"[::-1]]
                expected.add((" ".join("*".join(digits)), f"{written(first * second)} #"))
    assert set(drawn(TASK, 20_000, length)) == expected


@given(numbers, numbers)
def test_python_agrees(first: Number, second: Number):
    assert oracle(TASK, f"{written(*first)} * {written(*second)}") == f"{written(first[0] * second[0])} #"


def test_the_operator_stands_anywhere_with_equal_probability():
    pairs = drawn(TASK, 10_000, 8)
    for place in range(1, 7):
        assert_frequency(sum(source.split(" ")[place] == "*" for source, _ in pairs), 10_000, 1 / 6)


@pytest.mark.parametrize("source", ["1 0 1", "* 1 1", "1 1 *", "1 * 1 * 1"])
def test_not_a_product(source: str):
    with pytest.raises(UsageError, match=r"is not two binary numbers around one '\*'"):
        oracle(TASK, source)
