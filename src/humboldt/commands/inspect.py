"""`humboldt inspect`: the answer and the internals of a kept member."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import Folder, Plugins
from humboldt.errors import UsageError
from humboldt.inspecting.kept import load
from humboldt.plugins import load_files
from humboldt.report.words import printable
from humboldt.settings import parse_assignments
from humboldt.storage.output import check_output


def inspect(
    folder: Folder,
    input_: Annotated[str, typer.Option("--input", help="A string: symbols with spaces between them.")],
    suite: Annotated[str | None, typer.Option(help="The suite, e.g. chomsky.")] = None,
    task: Annotated[str | None, typer.Option(help="The task, e.g. parity_check.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, e.g. rnn.")] = None,
    member: Annotated[
        list[str], typer.Option(help="Which of several kept members: key=value, may be repeated; or best.")
    ] = [],  # noqa: B006
    set_: Annotated[
        list[str],
        typer.Option("--set", help="Which of several trainings: key=value; may be repeated.", metavar="KEY=VALUE"),
    ] = [],  # noqa: B006
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON, with all numbers.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Draw it: a page (.html), or figures (.pdf, .png, .svg).", metavar="FILE")
    ] = None,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Show a kept member's answer to a string, and its internals."""
    if as_records and output is not None:
        raise UsageError(f"--json and --output {output} were both given, but there is one output. Choose one of them.")
    if output is not None:
        from humboldt.page.charts import kind_of

        kind_of(output, "html", "htm")  # an error before weights are loaded
        check_output(output)
    load_files(plugin)
    chosen = "best" if member == ["best"] else parse_member(member)
    settings = parse_assignments(set_)
    inspection = load(folder, suite=suite, task=task, model=model, member=chosen, settings=settings).inspect(input_)
    if output is not None:
        from humboldt.page.inside import draw

        draw(inspection, output)
        print(output)
        return
    print(printable(json.dumps(inspection.to_dict(), ensure_ascii=False) if as_records else str(inspection)))


def parse_member(assignments: Sequence[str]) -> dict[str, object] | None:
    """`["seed=1", "penalty=l1"]` to `{"seed": 1, "penalty": "l1"}`: values that are JSON are read so.

    >>> parse_member(["seed=1", "penalty=l1", "learning_rate=1e-3"])
    {'seed': 1, 'penalty': 'l1', 'learning_rate': 0.001}
    """

    def value(text: str) -> object:
        try:
            return None if text == "none" else json.loads(text)
        except (ValueError, RecursionError):  # a number of thousands of digits, or brackets without end, too
            return text

    return {key: value(text) for key, text in parse_assignments(assignments, "--member").items()} or None
