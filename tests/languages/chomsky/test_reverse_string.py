from chomsky_support import drawn, every_string, make, oracle
from hypothesis import given
from hypothesis import strategies as st

TASK = make("reverse_string")


def test_all_short_strings():
    for length in range(1, 10):
        for source in every_string("ab", length):
            assert oracle(TASK, source) == source[::-1]


def test_sampler_draws_every_short_string():
    assert {source for source, _ in drawn(TASK, 2000, 5)} == set(every_string("ab", 5))


@given(st.lists(st.sampled_from("ab"), min_size=1))
def test_twice_is_the_string_itself(symbols: list[str]):
    assert TASK.oracle(TASK.oracle(symbols)) == symbols
