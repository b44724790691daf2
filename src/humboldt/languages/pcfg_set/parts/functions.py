"""Functions on strings, written as a table with one function per line (Figure 3 of the paper)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from humboldt.errors import UsageError

COMMA = ","
SYNONYM = "_syn"  # the paper's spelling of a synonym
SYNONYM_ENDINGS = (SYNONYM, "_twin")  # the paper's and that of the released data
MOST_SLICES = 2  # in one part of an output, as in `x[:-1][:1]`

FORM = "Write a function as `shift x -> x[1:] x[:1]` or `append x , y -> x y`."
PART = re.compile(r"(\w+)((?:\[[^\[\]]*\])*)")
SLICE = re.compile(r"(-?\d+)?:(-?\d+)?(?::(-?\d+)?)?")


@dataclass(frozen=True)
class Part:
    """A piece of a function's output: slices, one after the other, of an argument (a number from 0)."""

    argument: int
    slices: tuple[slice, ...] = ()

    def take(self, arguments: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        """Returns the letters of this piece."""
        letters = arguments[self.argument]
        for piece in self.slices:
            letters = letters[piece]
        return letters


@dataclass(frozen=True)
class Function:
    """A function of one or two strings. Its output is its `parts`, one after the other."""

    name: str
    arity: int
    parts: tuple[Part, ...]

    def __call__(self, *arguments: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(letter for part in self.parts for letter in part.take(arguments))


def parse_functions(table: str) -> tuple[Function, ...]:
    """Parses a table with one function per line: name, arguments, `->`, and the output as slices of the arguments.

    >>> shift, append = parse_functions("shift x -> x[1:] x[:1]\\nappend x , y -> x y")
    >>> shift(("A", "B", "C"))
    ('B', 'C', 'A')
    >>> append(("A",), ("B", "C"))
    ('A', 'B', 'C')
    """
    functions = [_parse_function(number, line) for number, line in enumerate(table.splitlines(), 1) if line.strip()]
    names = [function.name for function in functions]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"The table defines the function {name!r} {names.count(name)} times. Keep one line of it.")
    if not functions:
        raise UsageError(f"The table of functions is empty. {FORM}")
    return tuple(functions)


def _parse_function(number: int, line: str) -> Function:
    head, arrow, body = line.partition("->")
    name, *names = head.split() or [""]
    arguments = [argument for argument in names if argument != COMMA]
    separated = names == [token for argument in arguments for token in (argument, COMMA)][:-1]
    if not arrow or not name or not separated or len(set(arguments)) != len(arguments):
        raise UsageError(f"Line {number}, {line.strip()!r}, is not a function with its arguments and an arrow. {FORM}")
    if len(arguments) not in (1, 2):
        raise UsageError(
            f"Line {number}: the function {name!r} has {len(arguments)} arguments. The grammar has functions of one "
            "and of two arguments."
        )
    parts = []
    for text in body.split():
        match = PART.fullmatch(text)
        if match is None or match[1] not in arguments:
            raise UsageError(
                f"Line {number}: {text!r} is not an argument of {name!r}, nor a slice of one such as "
                f"`{arguments[0]}[1:]`. {FORM}"
            )
        slices = tuple(_parse_slice(number, text, piece) for piece in match[2][1:-1].split("][") if match[2])
        if len(slices) > MOST_SLICES:
            raise UsageError(f"Line {number}: {text!r} takes {len(slices)} slices; at most {MOST_SLICES} are possible.")
        parts.append(Part(arguments.index(match[1]), slices))
    if not parts:
        raise UsageError(f"Line {number}: the function {name!r} has no output. {FORM}")
    return Function(name, len(arguments), tuple(parts))


def _parse_slice(number: int, text: str, piece: str) -> slice:
    match = SLICE.fullmatch(piece)
    if match is None or match[3] == "0":
        raise UsageError(f"Line {number}: `[{piece}]` in {text!r} is not a slice such as `[1:]`, `[:-1]` or `[::-1]`.")
    return slice(*(None if bound is None else int(bound) for bound in match.groups()))


class Language:
    """Expressions over some functions and letters. Every function has synonyms: its name with `_syn` or `_twin`.

    **Arguments:**

    - `functions`: as returned by `parse_functions`.
    - `letters`: the letters of string arguments in a corpus.
    - `spellings`: other names of functions.
    - `letter_pattern`: a regular expression of further letters that expressions may hold; none by default.

    >>> tiny = Language(parse_functions("twice x -> x x\\nsecond x , y -> y"), ("a", "b"))
    >>> tiny.function("twice_syn").name
    'twice'
    """

    def __init__(
        self,
        functions: Sequence[Function],
        letters: Sequence[str],
        *,
        spellings: Mapping[str, str] | None = None,
        letter_pattern: str | None = None,
    ) -> None:
        self.functions = tuple(functions)
        self.letters = tuple(letters)
        self.letter_pattern = letter_pattern
        self._spellings = dict(spellings or {})
        by_name = {function.name: function for function in self.functions}
        by_name |= {spelling: by_name[name] for spelling, name in (spellings or {}).items()}
        self.by_spelling = by_name | {
            name + ending: function for name, function in by_name.items() for ending in SYNONYM_ENDINGS
        }
        self._letter_set = frozenset(letters)
        for letter in letters:
            if not letter or " " in letter or letter == COMMA or letter in self.by_spelling:
                raise UsageError(
                    f"The letter {letter!r} is empty, holds a space, or is a comma or the name of a function. "
                    "Rename it: expressions could not be parsed."
                )
        if len(self._letter_set) != len(self.letters) or not letters:
            raise UsageError(f"The {len(self.letters)} letters must be distinct and at least one.")

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        return re.compile(self.letter_pattern) if self.letter_pattern else None

    def is_letter(self, token: str) -> bool:
        """Returns whether a token is a letter."""
        return token in self._letter_set or (self._pattern is not None and self._pattern.fullmatch(token) is not None)

    def function(self, token: str) -> Function:
        """Returns the function that a token names, in any spelling."""
        return self.by_spelling[token]

    def with_letters(self, letters: Sequence[str]) -> "Language":
        """Returns the same language over another alphabet."""
        return Language(self.functions, letters, spellings=self._spellings, letter_pattern=self.letter_pattern)

    def of_arity(self, arity: int) -> tuple[Function, ...]:
        """Returns the functions with `arity` arguments."""
        return tuple(function for function in self.functions if function.arity == arity)


# `swap` takes its last piece from all letters but the last, so that a single letter is not doubled.
TABLE = """
copy          x     -> x
reverse       x     -> x[::-1]
shift         x     -> x[1:] x[:1]
echo          x     -> x x[-1:]
swap          x     -> x[-1:] x[1:-1] x[:-1][:1]
repeat        x     -> x x
append        x , y -> x y
prepend       x , y -> y x
remove_first  x , y -> y
remove_second x , y -> x
"""

RELEASED_SPELLINGS = {"swap_first_last": "swap"}

PCFG_SET = Language(
    parse_functions(TABLE),
    [f"{letter}{number}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for number in range(1, 21)],
    spellings=RELEASED_SPELLINGS,
    letter_pattern="[A-Z][0-9]*",  # the paper's examples use A, B, C
)
