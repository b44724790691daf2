"""Parses expressions into trees."""

import difflib

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.functions import COMMA, PCFG_SET, Language
from humboldt.languages.pcfg_set.parts.tree import Application, String, Tree


class ExpressionError(UsageError):
    """A text that is not an expression. `position` counts tokens and `column` characters, both from 1."""

    def __init__(self, tokens: list[str], index: int, problem: str) -> None:
        self.position = index + 1
        self.column = len(" ".join(tokens[:index])) + 1 + (index > 0)
        shown = repr(tokens[index]) if index < len(tokens) else "the end"
        super().__init__(f"Token {self.position}, {shown} (column {self.column}): {problem}")


def parse(expression: str, language: Language = PCFG_SET) -> Tree:
    """Returns the tree of an expression.

    >>> str(parse("append swap F G H , repeat I J"))
    'append swap F G H , repeat I J'
    >>> parse("append A B copy C")
    Traceback (most recent call last):
    ...
    humboldt.languages.pcfg_set.parts.parse.ExpressionError: Token 4, 'copy' (column 12): the string 'A B' is the \
first argument of 'append' (token 1), so a comma must follow it.
    """
    tokens = expression.split(" ")
    open_functions: list[tuple[int, list[Tree]]] = []  # incomplete functions: token index, arguments so far
    index = 0
    while True:
        # An argument must begin here.
        begin = index
        if index < len(tokens) and tokens[index] in language.by_spelling:
            open_functions.append((index, []))
            index += 1
            continue
        while index < len(tokens) and language.is_letter(tokens[index]):
            index += 1
        if index == begin:
            raise ExpressionError(tokens, index, _no_argument(tokens, index, open_functions, language))
        value: Tree = String(tuple(tokens[begin:index]))
        # It may complete open functions.
        while open_functions:
            place, arguments = open_functions[-1]
            function = language.function(tokens[place])
            arguments.append(value)
            if len(arguments) < function.arity:
                break
            value = Application(function, tokens[place], tuple(arguments))
            open_functions.pop()
        if not open_functions:
            if index == len(tokens):
                return value
            raise ExpressionError(tokens, index, _too_much(tokens, index, language))
        if index == len(tokens) or tokens[index] != COMMA:
            place, _ = open_functions[-1]
            raise ExpressionError(tokens, index, _no_comma(tokens, begin, index, place, language))
        index += 1


def _unreadable(tokens: list[str], index: int, language: Language) -> str | None:
    """Returns the problem of a token that is invalid at any position, or `None`."""
    token = tokens[index]
    if tokens == [""]:
        return "the expression is empty; it begins with a function or a letter."
    if token == "":
        return "tokens are separated by single spaces, with none before the first or after the last."
    if token == COMMA or token in language.by_spelling or language.is_letter(token):
        return None
    nearest = difflib.get_close_matches(token, language.by_spelling, n=1, cutoff=0.6)
    guess = f" Did you mean {nearest[0]!r}?" if nearest else ""
    names = ", ".join(function.name for function in language.functions)
    return f"this is neither a letter, such as {language.letters[0]!r}, nor a function.{guess} Functions: {names}."


def _no_argument(
    tokens: list[str], index: int, open_functions: list[tuple[int, list[Tree]]], language: Language
) -> str:
    if index < len(tokens):
        problem = _unreadable(tokens, index, language)
        if problem is not None:
            return problem
    if not open_functions:
        return "an expression begins with a function or a letter."
    place, arguments = open_functions[-1]
    number = ("first", "second")[len(arguments)]
    return (
        f"the {number} argument of {tokens[place]!r} (token {place + 1}) must begin here, with a function or a letter."
    )


def _no_comma(tokens: list[str], begin: int, index: int, place: int, language: Language) -> str:
    if index < len(tokens):
        problem = _unreadable(tokens, index, language)
        if problem is not None:
            return problem
    string = " ".join(tokens[begin:index])
    if place + 1 == begin:
        what = f"the string {string!r} is the first argument of {tokens[place]!r} (token {place + 1})"
    else:
        what = f"the first argument of {tokens[place]!r} (token {place + 1}) ends with {string!r}"
    return f"{what}, so a comma must follow it."


def _too_much(tokens: list[str], index: int, language: Language) -> str:
    problem = _unreadable(tokens, index, language)
    if problem is not None:
        return problem
    return "every function has its arguments already, so the expression must end before this token."
