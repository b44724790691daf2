"""The command line: its commands, their errors, the version."""

import os
import sys
from typing import Annotated

import typer

from humboldt import __version__
from humboldt.commands.check import check
from humboldt.commands.data import data
from humboldt.commands.export import export
from humboldt.commands.inspect import inspect
from humboldt.commands.list import list_
from humboldt.commands.merge import merge_
from humboldt.commands.prove import prove
from humboldt.commands.report import archive, plot, report
from humboldt.commands.run import RunCommand, demo, plan_, run
from humboldt.commands.score import score
from humboldt.commands.show import show
from humboldt.errors import HumboldtError, Interrupted
from humboldt.plugins import load_installed

app = typer.Typer(
    help="Does a sequence model make infinite use of finite means? Five published benchmarks, one command.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command("list")(list_)
app.command("plan")(plan_)
app.command(cls=RunCommand)(run)
app.command()(show)
app.command()(report)
app.command()(plot)
app.command()(inspect)
app.command()(data)
app.command()(check)
app.command()(score)
app.command()(export)
app.command()(prove)
app.command("merge")(merge_)
app.command()(archive)


def main() -> None:
    """Entry point: our own errors become a message and an exit code."""
    try:
        app(standalone_mode=True)
    except HumboldtError as error:
        print(f"Error: {error}" if not isinstance(error, Interrupted) else str(error), file=sys.stderr)
        sys.stderr.flush()
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def version(value: bool) -> None:
    """Prints the version and leaves."""
    if value:
        print(f"humboldt {__version__}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Does a sequence model make infinite use of finite means?"""
    del show_version
    load_installed()
