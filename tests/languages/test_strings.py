import numpy as np

from humboldt.languages import Alphabet, Pairs

DIGITS = Alphabet(("0", "1", "2"))


def test_concatenate_pads_and_symbols_leave_padding_out():
    short = Pairs.full(np.array([[1]]), np.array([[2]]))
    long = Pairs.full(np.array([[1, 2, 2]]), np.array([[2, 0]]), np.array([1]))
    both = Pairs.concatenate([short, long])
    assert list(both.symbols(DIGITS, DIGITS)) == [(["1"], ["2"]), (["1", "2", "2"], ["2"])]
    assert both.slots.tolist() == [1, 2] and both.target_lengths.tolist() == [1, 1]
    assert list(both.head(1).symbols(DIGITS, DIGITS)) == [(["1"], ["2"])]
