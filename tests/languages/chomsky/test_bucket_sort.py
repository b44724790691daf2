from chomsky_support import drawn, every_string, make, oracle
from hypothesis import given
from hypothesis import strategies as st

TASK = make("bucket_sort")


def test_all_short_strings():
    for length in range(1, 6):
        for source in every_string("01234", length):
            assert oracle(TASK, source) == " ".join(sorted(source.split(" ")))


def test_sampler_draws_every_short_string():
    assert {source for source, _ in drawn(TASK, 4000, 3)} == set(every_string("01234", 3))


@given(st.lists(st.sampled_from("01234"), min_size=1))
def test_order_of_the_input_does_not_matter(symbols: list[str]):
    assert TASK.oracle(symbols) == TASK.oracle(symbols[::-1]) == TASK.oracle(TASK.oracle(symbols))
