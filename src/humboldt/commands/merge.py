"""`humboldt merge`: several folders of results as one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import folder
from humboldt.report.words import counted
from humboldt.storage.merging import merge
from humboldt.suites.reading import warn


def merge_(
    folders: Annotated[list[Path], typer.Argument(help="Folders with results.", metavar="DIR...")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the joined results.", parser=folder, metavar="DIR")],
) -> None:
    """Join the results and kept weights of several folders. If two folders disagree, nothing is merged."""
    done = merge(folders, out, warn=warn)
    added = f"{counted(done.members, 'member')} and {counted(done.weights, 'file')} of weights"
    print(f"Added to `{out}`: {added}.", file=sys.stderr)
