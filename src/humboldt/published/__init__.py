"""The tables of the papers, as printed. `NOTES.md` lists errors in the printed tables."""

import csv
from functools import cache
from importlib import resources


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Returns the rows of one file, such as `rows("chomsky")`, with values as text exactly as printed."""
    text = resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


@cache
def lookup(name: str, column: str, **criteria: str) -> str | None:
    """Returns the value of `column` in the row that matches all criteria; `None` if the paper has no such number.

    >>> lookup("chomsky", "value", paper_table="table_2", task="parity_check", architecture="rnn")
    '100.0'
    """
    matching = [row for row in rows(name) if all(row[key] == value for key, value in criteria.items())]
    if len(matching) > 1:
        raise ValueError(f"{len(matching)} rows of {name}.csv match {criteria}.")
    return matching[0][column] if matching else None
