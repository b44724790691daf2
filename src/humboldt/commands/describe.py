"""`humboldt describe`: a language from a file, in numbers."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import AsRecords
from humboldt.report.words import wrapped

MOST_LENGTH = 1_000  # of the strings that are counted


def describe(
    file: Annotated[Path, typer.Argument(help="A language: my.regex, my.automaton or my.grammar.")],
    length: Annotated[int, typer.Option(min=0, max=MOST_LENGTH, help="Count strings up to this length.")] = 20,
    as_records: AsRecords = False,
) -> None:
    """Describe a language from a file: its counts, growth and class."""
    from humboldt.languages.formal.describe import describe as describe_file

    description = describe_file(file, length)
    text = wrapped("\n".join(description.lines()), sys.stdout)
    print(json.dumps(description.to_json(), ensure_ascii=False) if as_records else text)
