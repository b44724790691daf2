"""Reads the pages of the repository, so that tests can hold what they show to the records beside them."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


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


def script(path: str) -> Any:
    """A script of the repository, as a module."""
    place = ROOT / path
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
