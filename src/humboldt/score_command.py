"""The command `humboldt score`: anybody's predictions, scored without any framework."""

import json
from pathlib import Path
from typing import Annotated

import typer

from humboldt.errors import UsageError
from humboldt.plugins import load_files
from humboldt.suites import suites
from humboldt.suites.capabilities import OffersScore, TextFile


def score(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. pcfg_set.")],
    test: Annotated[str, typer.Argument(help="The test, e.g. systematicity.")],
    file: Annotated[Path, typer.Argument(help="Predictions: tab-separated, with a line that names the columns.")],
    twin: Annotated[Path | None, typer.Option(help="A second file, for tests that compare two outputs.")] = None,
    plugin: Annotated[list[Path], typer.Option("--plugin", help="A Python file that adds suites.")] = [],  # noqa: B006
) -> None:
    """Score anybody's predictions; print JSON."""
    load_files(plugin)
    its_suite = suites.get(suite)
    if not isinstance(its_suite, OffersScore):
        able = [name for name in suites.names() if isinstance(suites.get(name), OffersScore)]
        raise UsageError(f"The suite {suite} scores no files of predictions. These do: {', '.join(able)}.")
    result = its_suite.score_file(test, _read(file), twin=None if twin is None else _read(twin))
    print(json.dumps(result, ensure_ascii=False, indent=1))


def _read(path: Path) -> TextFile:
    try:
        return TextFile(str(path), path.read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {error}. Give a text file.") from error
