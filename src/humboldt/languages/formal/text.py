"""The tokens of `.regex`, `.automaton` and `.grammar` files, each with its line and column.

Symbols have one or more characters and are separated by white space. `#` starts a comment. Operators, brackets, quotes
and `#` are symbols only in quotes. A number in square brackets is a weight. The same rules hold in all three kinds of
file, so that a symbol is spelled the same everywhere.

>>> [str(token) for token in tokens("odd 1 even [0.5]  # a weight", file="my.automaton")]
['odd', '1', 'even', '[0.5]', 'the end of the file']
>>> [str(token) for token in tokens("( a b | '|' )*")][:-1]
['(', 'a', 'b', '|', "'|'", ')', '*']
>>> tokens("a [half]", file="my.grammar")
Traceback (most recent call last):
    ...
humboldt.languages.formal.text.ParseError: my.grammar, line 1, column 3: found `[half]`, expected a weight such as ...
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from humboldt.errors import UsageError

MOST_BYTES = 1_000_000
MOST_TOKENS = 100_000
MOST_CHARACTERS = 100  # of one symbol
DEEPEST = 200  # brackets inside brackets
TOLERANCE = Fraction(1, 10**9)  # by which weights that are all written down may miss a sum of 1

EMPTY = "ε"  # unquoted: the empty string
OPERATORS = ("->", "|", "*", "+", "?", "(", ")", "{", "}")
RESERVED = r"()\[\]{}|*+?#'\""
WORD = re.compile(
    rf"""(?P<space>\s+) | (?P<comment>\#.*)
    | (?P<quoted>'[^']*'|"[^"]*") | (?P<open>['"].*)
    | (?P<weight>\[[^\[\]]*\]) | (?P<bracket>[\[\]])
    | (?P<operator>->|→|[()|*+?{{}}])
    | (?P<symbol>(?:(?!->|→)[^\s{RESERVED}])+)""",
    re.VERBOSE,
)
NUMBER = re.compile(r"\s*(\d{1,18}\s*/\s*\d{1,18}|(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,2})?)\s*")
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ufeff]")

Kind = Literal["symbol", "operator", "weight", "newline", "end"]


class ParseError(UsageError):
    """A file does not follow its format. The message names the file, the line and the column, both from 1 on."""

    def __init__(self, file: str, line: int, column: int, problem: str) -> None:
        super().__init__(f"{file}, line {line}, column {column}: {problem}")
        self.file, self.line, self.column, self.problem = file, line, column, problem

    def __reduce__(self) -> tuple[type["ParseError"], tuple[str, int, int, str]]:
        return ParseError, (self.file, self.line, self.column, self.problem)


@dataclass(frozen=True)
class Token:
    """One word of a file. `weight` is set for the kind `weight`; `text` of a quoted symbol has no quotes."""

    kind: Kind
    text: str
    line: int
    column: int
    quoted: bool = False
    weight: Fraction | None = None
    file: str = "text"

    def __str__(self) -> str:
        if self.kind == "newline":
            return "the end of the line"
        if self.kind == "end":
            return "the end of the file"
        return spelled(self.text) if self.kind == "symbol" and self.quoted else self.text

    def is_operator(self, *operators: str) -> bool:
        """Returns whether this is one of `operators`, or any operator if none is named. A quoted one is a symbol."""
        return self.kind == "operator" and (not operators or self.text in operators)

    def is_word(self, *words: str) -> bool:
        """Returns whether this is one of `words` without quotes, as keywords and `ε` are written."""
        return self.kind == "symbol" and not self.quoted and self.text in words

    def error(self, expected: str, *, hint: str = "") -> ParseError:
        """Returns the error for this token in place of `expected`, with the way out for unquoted operators.

        >>> tokens("| a")[0].error("a symbol").problem
        "found `|`, expected a symbol. To use `|` as a symbol, quote it: '|'."
        """
        shown = str(self) if self.kind in ("newline", "end") else f"`{shortened(str(self))}`"
        if self.kind == "operator" and "symbol" in expected and not hint:
            hint = f"To use `{self.text}` as a symbol, quote it: {spelled(self.text)}."
        return self.problem(f"found {shown}, expected {expected}." + (f" {hint}" if hint else ""))

    def problem(self, sentence: str) -> ParseError:
        """Returns an error at this token."""
        return ParseError(self.file, self.line, self.column, sentence)


def read(path: str | Path) -> str:
    """Returns the text of a file in UTF-8 of at most `MOST_BYTES` bytes."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}. Give the path of a text file.") from None
    if len(content) > MOST_BYTES:
        raise UsageError(
            f"{path} has more than {MOST_BYTES:,} bytes, the limit for a language's file. Write a shorter description."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        problem = f"found the byte 0x{content[error.start]:02x}, expected text in UTF-8. Save the file as UTF-8."
        raise ParseError(str(path), line, column, problem) from None


def tokens(text: str, file: str = "text") -> list[Token]:
    """Returns the tokens of a text. Non-empty lines are separated by a `newline`; the last token is `end`.

    `file` names the text in errors. Lines and columns count from 1, columns in characters.
    """
    if len(text) > MOST_BYTES:
        raise UsageError(
            f"{file} has {len(text):,} characters; the limit for a language is {MOST_BYTES:,}. "
            "Write a shorter description."
        )
    words: list[Token] = []
    line = end = last_line = last_end = 1
    depth = 0
    for line, content in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        end = len(content) + 1
        first = True
        touching = False  # whether a symbol ended just before
        for match in WORD.finditer(content):
            token = _token(match, line, file)
            if token is None:
                touching = False
                continue
            if token.kind == "symbol" and touching:
                raise token.error("white space between two symbols", hint="Quote a whole symbol or none of it.")
            touching = token.kind == "symbol"
            if first and words:
                words.append(Token("newline", "\n", last_line, last_end, file=file))
            first = False
            depth += token.is_operator("(", "{") - token.is_operator(")", "}")
            if depth > DEEPEST:
                raise token.problem(f"brackets are nested more than {DEEPEST} deep, the limit. Nest them less.")
            if len(words) >= MOST_TOKENS:
                raise token.problem(f"the text has more than {MOST_TOKENS:,} words, the limit. Shorten it.")
            words.append(token)
        if not first:
            last_line, last_end = line, end
    words.append(Token("end", "", line, end, file=file))
    return words


def statements(words: Iterable[Token]) -> Iterator[list[Token]]:
    """Yields the tokens line by line; each list ends with the `newline` or `end` that closes the line.

    A text without statements yields nothing.
    """
    statement: list[Token] = []
    for token in words:
        statement.append(token)
        if token.kind in ("newline", "end"):
            if len(statement) > 1:
                yield statement
            statement = []


def shares(weights: Sequence[Fraction | None], of: str, at: Token) -> list[Fraction]:
    """Returns a distribution over alternatives: those without a weight share equally what the others leave.

    `of` names the alternatives in the error, which points to token `at`.

    >>> [str(share) for share in shares([Fraction(1, 2), None, None], "state 'even'", tokens("even")[0])]
    ['1/2', '1/4', '1/4']
    """
    given = sum((weight for weight in weights if weight is not None), Fraction(0))
    free = sum(weight is None for weight in weights)
    if free and given >= 1:
        raise at.problem(
            f"the weights of {of} sum to {float(given):g}, which leaves nothing for the {free} without a weight. "
            "Lower the weights, or give one to each."
        )
    if not free and abs(given - 1) > TOLERANCE:
        raise at.problem(
            f"the weights of {of} sum to {float(given):g}. They must sum to 1: change them, or leave one out."
        )
    if free:
        return [(1 - given) / free if weight is None else weight for weight in weights]
    return [weight / given for weight in weights if weight is not None]


def spelled(symbol: str) -> str:
    """Returns a symbol as a file must spell it: in quotes where it would otherwise be something else.

    >>> print(spelled("even"), spelled("*"), spelled("don't"))
    even '*' "don't"
    """
    match = WORD.fullmatch(symbol)
    if match and match.lastgroup == "symbol" and symbol != EMPTY:
        return symbol
    return f'"{symbol}"' if "'" in symbol else f"'{symbol}'"


def shortened(text: str, most: int = 40) -> str:
    """Returns a text for an error, cut where it is long."""
    return text if len(text) <= most else text[: most - 3] + "..."


def _token(match: re.Match[str], line: int, file: str) -> Token | None:
    kind, text, column = match.lastgroup, match.group(), match.start() + 1

    def refused(problem: str) -> ParseError:
        return ParseError(file, line, column, problem)

    if kind in ("space", "comment"):
        return None
    if kind == "open":
        raise refused(f"found `{shortened(text)}`, expected a closing {text[0]} on the same line. Close the quote.")
    if kind == "bracket":
        raise refused(
            f"found `{text}` alone, expected a weight such as `[0.5]`. To use `{text}` as a symbol, quote it: '{text}'."
        )
    if kind == "weight":
        return Token("weight", text, line, column, weight=_weight(text, refused), file=file)
    if kind == "operator":
        return Token("operator", text.replace("→", "->"), line, column, file=file)
    symbol = text[1:-1] if kind == "quoted" else text
    if not symbol or any(character.isspace() for character in symbol):
        raise refused(f"found `{shortened(text)}`, expected a symbol without white space between the quotes.")
    if control := CONTROL.search(symbol):
        raise refused(f"found the control character U+{ord(control.group()):04X}, expected text. Delete it.")
    if len(symbol) > MOST_CHARACTERS:
        raise refused(
            f"the symbol `{shortened(symbol)}` has {len(symbol):,} characters; the limit is {MOST_CHARACTERS}. "
            "Separate symbols by spaces."
        )
    return Token("symbol", symbol, line, column, quoted=kind == "quoted", file=file)


def _weight(text: str, refused: Callable[[str], ParseError]) -> Fraction:
    number = NUMBER.fullmatch(text[1:-1])
    form = "a weight such as `[0.5]` or `[1/3]`"
    if number is None:
        raise refused(f"found `{shortened(text)}`, expected {form}. Classes of characters are written ( a | b ).")
    try:
        weight = Fraction(number.group(1).replace(" ", "").replace("\t", ""))
    except (ValueError, ZeroDivisionError):
        raise refused(f"found `{shortened(text)}`, expected {form}.") from None
    if not 0 < weight <= 1:
        raise refused(f"found the weight `{shortened(text)}`, expected one above 0 and at most 1.")
    return weight
