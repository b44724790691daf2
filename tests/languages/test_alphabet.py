import pytest
from hypothesis import given
from hypothesis import strategies as st

from humboldt.errors import UsageError
from humboldt.languages import Alphabet

LETTERS = Alphabet(("a", "b", "PUSH_a"))


@given(st.lists(st.sampled_from(LETTERS.symbols)))
def test_decode_undoes_encode(symbols: list[str]):
    assert LETTERS.decode(LETTERS.encode(symbols)) == symbols


def test_an_unknown_symbol_is_named_with_its_place():
    with pytest.raises(UsageError, match="Symbol 'c' at position 1 is not in the alphabet a b PUSH_a"):
        LETTERS.encode(["a", "c"])


@pytest.mark.parametrize("symbols", [("a", "a"), ("",), ("a b",)])
def test_symbols_must_be_distinct_words(symbols: tuple[str, ...]):
    with pytest.raises(ValueError):
        Alphabet(symbols)
