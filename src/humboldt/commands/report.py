"""`humboldt report`, `plot` and `archive`: results as a page, one figure of it as a file, all members as lines."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.memory import without_collection
from humboldt.commands.options import Folder, Plugins, refuse
from humboldt.errors import UsageError, unknown_name
from humboldt.plugins import load_files
from humboldt.report.figures import AnyFigure
from humboldt.report.words import file_size, printable, tell
from humboldt.storage.exports import as_lines, exported, read_records
from humboldt.storage.output import check_output, write_file
from humboldt.suites import suites
from humboldt.suites.cells import cells_of, sort_results
from humboldt.suites.curves import training_curves
from humboldt.suites.reading import explained, reported, stored, warn

SUPERSEDED = ", superseded"  # ends the heading of figures of results of earlier versions
INSIDE = 4  # default number of saved members that a page shows


def report(
    folder: Folder,
    output: Annotated[Path | None, typer.Option(help="The file. Default: DIR/report.html.", metavar="FILE")] = None,
    inside: Annotated[int, typer.Option(min=0, help="How many kept members to look into (needs JAX).")] = INSIDE,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Write results as one HTML page: tables, figures, and settings."""
    load_files(plugin)
    path = write_report(folder, output, inside=inside)
    print(path)
    tell(f"Wrote `{path}`, {file_size(path.stat().st_size)}. Open it in a browser.")


@without_collection()
def write_report(folder: Path, output: Path | None = None, *, inside: int = INSIDE) -> Path:
    """Writes the page of a folder of results, and returns its path."""
    from humboldt.page.collect import collect
    from humboldt.page.inside import look_inside
    from humboldt.page.write import html, write

    path = folder / "report.html" if output is None else output
    if os.path.isdir(path):  # unlike `Path.is_dir`, it returns False for a name that is too long
        raise UsageError(
            f"--output {path}: that is a folder, and the page is one file. Give e.g. {path / 'report.html'}."
        )
    if output is not None:
        check_output(output)
    damage: list[str] = []
    with explained(folder):
        parts = shlex.quote(str(folder)), read_records(folder), reported(folder)
        page = collect(stored(folder, warn=damage.append), *parts)
    for sentence in damage:
        warn(sentence)
    members, remarks = look_inside(folder, inside)
    with explained(folder):
        text = html(page, members, remarks, damage)
    write(text, path)
    return path


def plot(
    folder: Folder,
    figure: Annotated[str, typer.Argument(help="Suite and name, e.g. chomsky/lengths; `list` lists them.")],
    output: Annotated[
        Path | None, typer.Option(help="The file: .pdf, .svg or .png. Default: FIGURE.pdf.", metavar="FILE")
    ] = None,
    heading: Annotated[
        str | None, typer.Option(help="If several settings have this figure: the heading of one, as on the page.")
    ] = None,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Write one figure of the page as a file for a paper."""
    from humboldt.page.charts import kind_of, save

    if output is not None:
        kind_of(output)  # an error before anything is read
        check_output(output)
    load_files(plugin)
    with explained(folder):
        figures = all_figures(folder)
    if figure == "list":
        refuse("plot DIR list", {"--output": output, "--heading": heading})
        lines = [f"{name}  ({where})" if where else name for name, where, _ in figures]
        print(printable("\n".join(lines)) or "No figures yet.")
        return
    matching = [(where, data) for name, where, data in figures if name == figure]
    if not matching:
        raise unknown_name("figure", figure, {name for name, _, _ in figures})
    if heading is not None:
        headings = [where for where, _ in matching]
        matching = [(where, data) for where, data in matching if where == heading]
        if not matching:
            raise unknown_name(f"setting with the figure {figure}", heading, headings)
    else:
        matching = [(where, data) for where, data in matching if not where.endswith(SUPERSEDED)] or matching
    if len(matching) > 1:
        choices = "; ".join(f"--heading {shlex.quote(where)}" for where, _ in matching)
        raise UsageError(f"{len(matching)} settings have a figure {figure!r}. Choose one: {choices}.")
    path = Path(f"{figure.replace('/', '-')}.pdf") if output is None else output
    save([matching[0][1]], path)
    print(path)


@without_collection()
def archive(
    folder: Folder,
    output: Annotated[Path | None, typer.Option(help="The file. Default: standard output.", metavar="FILE")] = None,
    suite: Annotated[str | None, typer.Option(help="Only this suite.")] = None,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Write the results of every member as lines of JSON.

    These can be kept, compared and shown again.
    """
    load_files(plugin)
    if output is not None:
        check_output(output)
    if suite is not None:
        suites.get(suite)
    with explained(folder):
        entries = []
        for scores in stored(folder, suite):
            if scores.training.suite in suites:
                its_suite = suites.get(scores.training.suite)
                entries.append(exported(scores, format=its_suite.format, headline=its_suite.headline))
        lines = as_lines(entries)
    if output is None:
        print(printable(lines), end="")
        return
    write_file(output, lines)
    print(output)


def all_figures(folder: Path) -> list[tuple[str, str, AnyFigure]]:
    """Returns all figures of a folder: name, heading, figure. Those of superseded results say so in their heading."""
    from humboldt.page.answers import answers_of

    results, figures = stored(folder), list[tuple[str, str, AnyFigure]]()
    for name in suites.names():
        suite = suites.get(name)
        of_suite = [scores for scores in results if scores.training.suite == name]
        if not of_suite:
            continue
        ordered = sort_results(suite, of_suite)
        of_headings = [(str(heading), cells) for heading, cells in ordered.cells.items()]
        for heading, cells in cells_of(suite, ordered.superseded).items():
            of_headings.append((f"{heading}{SUPERSEDED}", cells))
        parts = [
            (heading, [*suite.presentation.figures(suite, cells), *training_curves(suite, cells)])
            for heading, cells in of_headings
        ]
        everything = [cell for cells in ordered.cells.values() for cell in cells]
        parts.append(("", suite.presentation.figures_across(suite, everything)))
        figures += [(f"{name}/{figure.name}", heading, figure) for heading, of_part in parts for figure in of_part]
    return figures + [(f"bench/{part.preset}", f"bench {part.preset}", part.figure) for part in answers_of(results, "")]
