"""Formats numbers for people, and text for terminals."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import TextIO

#: Control characters except tabs and line ends, and marks that change the direction of writing.
_HARMFUL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]|\\r(?!\\n)")


def printable(text: str) -> str:
    r"""Returns text with control characters escaped, as in JSON.

    >>> print(printable("a \x1b[31mred\x1b[0m name"))
    a \u001b[31mred\u001b[0m name
    """
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def wrapped(text: str, stream: TextIO) -> str:
    """Returns text whose lines fit the terminal that a stream writes to, and break between words only.

    Nothing is changed for a file or a pipe, nor are lines with a command, which are to be copied.
    """
    return folded(text, shutil.get_terminal_size().columns) if stream.isatty() else text


def tell(text: str) -> None:
    """Prints text on stderr at once; on a terminal its lines break between words only."""
    print(wrapped(text, sys.stderr), file=sys.stderr, flush=True)


def folded(text: str, width: int) -> str:
    """Returns text with lines of at most `width` characters, broken between words only; see `wrapped`.

    >>> print(folded("  one two three\\n  humboldt run chomsky", 11))
      one two
        three
      humboldt run chomsky
    """
    lines = []
    for line in text.split("\n"):
        if len(line) <= width or line.lstrip().startswith("humboldt "):
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=indent + "  " * bool(indent),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def counted(numbers: int | Iterable[int], noun: str) -> str:
    """Returns a number with its noun, or several numbers joined by "or".

    >>> counted(1, "member"), counted(1200, "member"), counted({30, 9}, "member")
    ('1 member', '1,200 members', '9 or 30 members')
    """
    several = sorted({numbers} if isinstance(numbers, int) else numbers)
    ending = "" if several == [1] else "s"
    return f"{' or '.join(f'{number:,}' for number in several)} {noun}{ending}"


def gigabytes(count: float) -> str:
    """Returns a number of bytes as text.

    >>> gigabytes(24e9), gigabytes(3e6), gigabytes(4e15)
    ('24.0 GB', '0.1 GB', '4,000,000 GB')
    """
    size = count / 1e9
    return f"{size:,.0f} GB" if size >= 1000 else f"{max(0.1, size):.1f} GB"


def file_size(count: int) -> str:
    """Returns the size of a file as text.

    >>> file_size(3), file_size(4096), file_size(2_500_000), file_size(31_000_000_000)
    ('1 kB', '4 kB', '2.5 MB', '31.0 GB')
    """
    if count < 1e6:
        return f"{max(1, round(count / 1e3))} kB"
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:,.1f} GB"


def duration(seconds: float) -> str:
    """Returns seconds as text.

    >>> duration(0.4), duration(75), duration(7300), duration(200000)
    ('1 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    seconds = max(1, round(seconds))
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"
