"""Reading expressions, and saying where one cannot be read."""

import pytest
from hypothesis import given, settings
from pcfg_set_support import EXPRESSIONS

from humboldt.languages.pcfg_set import ExpressionError, parse, show


@settings(deadline=None)
@given(EXPRESSIONS)
def test_printing_undoes_reading(expression):
    assert show(parse(expression)) == expression


def test_very_deep_expressions_can_be_read():
    expression = "copy " * 20_000 + "A B"
    assert show(parse(expression)) == expression


@pytest.mark.parametrize(
    ("expression", "position", "column", "text"),
    [
        ("", 1, 1, "the expression is empty"),
        (" copy A", 1, 1, "separated by single spaces"),
        ("copy  A", 2, 6, "separated by single spaces"),
        ("copy A ", 3, 8, "separated by single spaces"),
        (", A", 1, 1, "an expression begins with a function or a letter"),
        ("copy", 2, 6, "the first argument of 'copy' (token 1) must begin here"),
        ("append , A B", 2, 8, "the first argument of 'append' (token 1) must begin here"),
        ("append A B", 4, 12, "the string 'A B' is the first argument of 'append' (token 1), so a comma must follow"),
        ("append A B ,", 5, 14, "the second argument of 'append' (token 1) must begin here"),
        ("append copy A swap B , C", 4, 15, "the first argument of 'append' (token 1) ends with 'A'"),
        ("copy A , B", 3, 8, "every function has its arguments already"),
        ("append A , B , C", 5, 14, "every function has its arguments already"),
        ("copy A B swap C", 4, 10, "every function has its arguments already"),
        ("A , B", 2, 3, "every function has its arguments already"),
        ("remove_fist A , B", 1, 1, "Did you mean 'remove_first'?"),
        ("copy A b1", 3, 8, "neither a letter, such as 'A1', nor a function"),
        ("append A Append B", 3, 10, "Did you mean 'append'?"),
    ],
)
def test_what_is_no_expression(expression, position, column, text):
    with pytest.raises(ExpressionError) as error:
        parse(expression)
    assert (error.value.position, error.value.column) == (position, column)
    assert text in str(error.value)
    assert f"Token {position}, " in str(error.value) and f"(column {column})" in str(error.value)
