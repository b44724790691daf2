"""`humboldt merge`: several folders of results as one."""

from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import folder
from humboldt.report.words import counted, tell
from humboldt.storage.exports import add_reported, num_reported
from humboldt.storage.merging import merge
from humboldt.suites.reading import upgrade, warn


def merge_(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders with results, or files that `archive` wrote: reported results.", metavar="DIR..."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the joined results.", parser=folder, metavar="DIR")],
) -> None:
    """Join the results and kept weights of several folders. If two folders disagree, nothing is merged.

    The members in a file of `humboldt archive` are kept apart: a bench shows them as reported, not re-run.
    """
    files = [path for path in folders if path.suffix == ".jsonl"]
    counts = [num_reported(path, upgrade) for path in files]  # raises before anything is written
    if stores := [path for path in folders if path not in files]:
        done = merge(stores, out, warn=warn)
        added = f"{counted(done.members, 'member')} and {counted(done.weights, 'file')} of weights"
        tell(f"Added to `{out}`: {added}.")
    for path, count in zip(files, counts, strict=True):
        add_reported(path, out)
        tell(f"Added to `{out}`: {counted(count, 'reported member')} of `{path}`.")
