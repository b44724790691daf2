"""The command line: registers the commands, and turns errors into messages and exit codes."""

import functools
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from humboldt import __version__
from humboldt.commands.bench import bench, references
from humboldt.commands.check import check
from humboldt.commands.data import data
from humboldt.commands.describe import describe
from humboldt.commands.export import export
from humboldt.commands.inspect import inspect
from humboldt.commands.list import list_
from humboldt.commands.merge import merge_
from humboldt.commands.prove import prove
from humboldt.commands.report import archive, plot, report
from humboldt.commands.reproduced import reproduced
from humboldt.commands.run import RunCommand, demo, plan_, run
from humboldt.commands.score import score
from humboldt.commands.show import show
from humboldt.errors import HumboldtError, Interrupted, NotAnException, RunError, contained, named_paths
from humboldt.plugins import load_installed
from humboldt.report.words import printable, tell

app = typer.Typer(
    help="Does a sequence model make infinite use of finite means? Published benchmarks, one command.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the command, changed so that it fails if code from outside calls `sys.exit`."""

    @functools.wraps(command)
    def guarded(*arguments: Any, **options: Any) -> None:
        try:
            with contained(), named_paths():
                command(*arguments, **options)
        except NotAnException as error:
            raise RunError(f"A model or plugin raised {error}. Correct it, and run the command again.") from error

    return guarded


for name, command in {
    "demo": demo,
    "bench": bench,
    "list": list_,
    "plan": plan_,
    "run": run,
    "show": show,
    "report": report,
    "plot": plot,
    "reproduced": reproduced,
    "inspect": inspect,
    "data": data,
    "describe": describe,
    "check": check,
    "score": score,
    "export": export,
    "prove": prove,
    "merge": merge_,
    "archive": archive,
    "references": references,
}.items():
    app.command(name, cls=RunCommand if command is run else None)(_guarded(command))


def main() -> None:
    """Entry point. Turns Humboldt's errors into a message and an exit code."""
    try:
        app(standalone_mode=True)
    except HumboldtError as error:
        text = printable(f"Error: {error}" if not isinstance(error, Interrupted) else str(error))
        tell(text)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        tell("Stopped.")
        sys.exit(Interrupted.exit_code)
    except BrokenPipeError:  # the reader (head, less) has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # from a disk or a folder: only the system's message is known
        tell(printable(f"Error: {error}. Check the path, its permissions and the free space."))
        sys.exit(HumboldtError.exit_code)


def version(value: bool) -> None:
    """Prints the version and exits."""
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
