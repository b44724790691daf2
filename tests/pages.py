"""Reads the pages of the repository, so that tests can hold what they show to the records beside them."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [path.relative_to(ROOT) for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"))]
PAGES.sort()


class Block(NamedTuple):
    """Code of a page, between fences. `needs` is what a remark before it names: `<!-- needs torch -->`."""

    needs: str
    kind: str
    text: str


def blocks(page: Path | str) -> list[Block]:
    """All of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^(?:<!-- needs (\w+) -->\n)?```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Block(*parts) for parts in found]


def make_tools(folder: Path, python: str = sys.executable) -> Path:
    """Makes `humboldt` and `python` of an environment as programs in a folder, which is returned."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name, line in (("humboldt", f'exec "{python}" -m humboldt "$@"'), ("python", f'exec "{python}" "$@"')):
        (tools / name).write_text(f"#!/bin/sh\n{line}\n")
        (tools / name).chmod(0o755)
    return tools


def run_block(kind: str, text: str, folder: Path, python: str = sys.executable) -> str:
    """What a block prints in a process of its own; `humboldt` and `python` are those of the environment."""
    tools = make_tools(folder, python)
    command = ["bash", "-euo", "pipefail", "-c", text] if kind == "bash" else [python, "-c", text]
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


def call(*arguments: str) -> None:
    """A command of humboldt in this process, which must do what it is told."""
    from humboldt import cli

    before, sys.argv = sys.argv, ["humboldt", *arguments]
    try:
        cli.main()
    except SystemExit as leaving:
        assert not leaving.code, arguments
    finally:
        sys.argv = before


def tables(page: Path) -> list[list[list[str]]]:
    """All tables of a page, each as its rows (without the head), each as its cells, without bold and code marks.

    A cell of the first columns that is left empty repeats the one above it: it is returned as empty.
    """
    text = page.read_text(encoding="utf-8").replace("**", "").replace("`", "")
    blocks = re.findall(r"(?:^ *\|.*\n)+", text, re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in b.splitlines()[2:]] for b in blocks
    ]


def filled(rows: list[list[str]], columns: int) -> list[list[str]]:
    """The rows with empty cells of the first columns taken from the row above."""
    found: list[list[str]] = []
    for row in rows:
        above = found[-1] if found else row
        found.append([cell or above[i] if i < columns else cell for i, cell in enumerate(row)])
    return found


def load(path: str) -> Any:
    """A JSON record, by its place in the repository."""
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


@cache
def measured(suite: str) -> list[dict[str, Any]]:
    """The flat records of all members of a suite on record; those of earlier versions are among them."""
    from humboldt.suites import suites
    from humboldt.suites.cells import cells_of, sort_results
    from humboldt.suites.reading import stored

    its = suites.get(suite)
    found = sort_results(its, stored(ROOT / "reproductions", suite))
    cells = [cell for of in (found.cells, cells_of(its, found.superseded)) for group in of.values() for cell in group]
    return [asdict(record) for cell in cells for record in its.presentation.records(cell)]


@cache
def trained(suite: str) -> list[dict[str, Any]]:
    """All trainings of a suite on record: settings, members, their scores in percent, seconds, details of the best."""
    from humboldt.suites.reading import stored

    found = []
    for scores in stored(ROOT / "reproductions", suite):
        names = list(scores.results[0].measures)
        details = [dict(result.detail) for result in scores.results]
        found.append(
            {
                **{"task": scores.training.task, "model": scores.training.model},
                "settings": {**scores.training.flat, **scores.evaluation.setting},
                "scored": [result.member for result in scores.results],
                "scores": {name: [100 * result.measures[name] for result in scores.results] for name in names},
                "seconds": sum(result.seconds for result in scores.results),
                "best": next((detail for detail in details if "accuracy_per_length" in detail), {}),
            }
        )
    return found


def script(path: str) -> Any:
    """A script of the repository, as a module."""
    place = ROOT / path
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
