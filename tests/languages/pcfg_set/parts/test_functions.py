"""Functions as a table: what it says, and what it refuses."""

import itertools

import pytest
from pcfg_set_support import BINARY, UNARY

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import PCFG_SET, Language, interpret, parse_functions


def test_the_table_is_figure_3():
    strings = [tuple(letters) for n in range(1, 5) for letters in itertools.product("AB", repeat=n)]
    assert {function.name for function in PCFG_SET.functions} == UNARY.keys() | BINARY.keys()
    for function in PCFG_SET.functions:
        if function.arity == 1:
            for x in strings:
                assert list(function(x)) == UNARY[function.name](list(x))
        else:
            for x, y in itertools.product(strings[:8], repeat=2):
                assert list(function(x, y)) == BINARY[function.name](list(x), list(y))


def test_the_alphabet():
    assert len(PCFG_SET.letters) == len(set(PCFG_SET.letters)) == 520
    assert (PCFG_SET.letters[0], PCFG_SET.letters[-1]) == ("A1", "Z20")
    assert all(PCFG_SET.is_letter(token) for token in ("A", "Q7", "Z20"))
    assert not any(PCFG_SET.is_letter(token) for token in ("a1", "AB", ",", "", "copy", "1"))


def test_every_spelling_of_a_function():
    assert {name for name, function in PCFG_SET.by_spelling.items() if function.name == "swap"} == {
        "swap",
        "swap_syn",
        "swap_twin",
        "swap_first_last",
        "swap_first_last_syn",
        "swap_first_last_twin",
    }
    assert len(PCFG_SET.by_spelling) == 11 * 3


def test_a_language_of_ones_own():
    language = Language(parse_functions("middle x -> x[1:-1] x[::2]\nzip x , y -> y[-2:] x[:1]"), "abc")
    assert interpret("middle a b c", language) == "b a c"
    assert interpret("zip middle a b c , a c c", language) == "c c b"


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("", "The table of functions is empty"),
        ("copy x x", "Line 1, 'copy x x', is not a function with its arguments and an arrow"),
        ("copy x -> x\n-> x", "Line 2"),
        ("append x y -> x y", "Line 1, 'append x y -> x y', is not a function"),
        ("f x , x -> x", "Line 1"),
        ("f x , y , z -> x", "the function 'f' has 3 arguments"),
        ("f -> A", "the function 'f' has 0 arguments"),
        ("f x -> y", "'y' is not an argument of 'f', nor a slice of one such as `x[1:]`"),
        ("f x -> x[1]", "`[1]` in 'x[1]' is not a slice"),
        ("f x -> x[::0]", "`[::0]` in 'x[::0]' is not a slice"),
        ("f x -> x[1:][1:][1:]", "takes 3 slices"),
        ("f x ->", "the function 'f' has no output"),
        ("f x -> x\nf x -> x x", "defines the function 'f' 2 times"),
    ],
)
def test_tables_that_say_nothing(table, text):
    with pytest.raises(UsageError) as error:
        parse_functions(table)
    assert text in str(error.value)


@pytest.mark.parametrize("letters", [("copy",), (",",), ("a b",), ("",), ("a", "a"), ()])
def test_letters_that_could_not_be_read(letters):
    with pytest.raises(UsageError, match=r"Rename it|must be distinct and at least one"):
        Language(parse_functions("copy x -> x"), letters)
