from chomsky_support import drawn, every_string, make, oracle
from hypothesis import given
from hypothesis import strategies as st

PAPER, CODE = make("odds_first"), make("odds_first", order="code")


def test_all_short_strings():
    for length in range(1, 10):
        for source in every_string("ab", length):
            symbols = source.split(" ")
            assert PAPER.oracle(symbols) == symbols[::2] + symbols[1::2]
            assert CODE.oracle(symbols) == symbols[1::2] + symbols[::2]


def test_worked_by_hand():
    assert oracle(CODE, "a b a b b") == "b b a a b"


def test_the_two_orders_draw_the_same_inputs_but_not_the_same_targets():
    paper, code = drawn(PAPER, 20, 9), drawn(CODE, 20, 9)
    assert [source for source, _ in paper] == [source for source, _ in code]
    assert paper != code


@given(st.lists(st.sampled_from("ab"), min_size=1))
def test_a_permutation(symbols: list[str]):
    assert sorted(PAPER.oracle(symbols)) == sorted(symbols)
    assert PAPER.oracle(symbols)[0] == symbols[0]
