"""Reference results that ship with the package: trained members of the families under the presets of the bench.

They are exported members (`humboldt archive`) without curves and outputs, compressed, one file for each suite. They are
found by identity like any result: a reference of a superseded version is never shown as current.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

ENDING = ".jsonl.gz"


def entries(folder: Path | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the exported trainings of all references, each after the place where it is written."""
    paths = files("humboldt.references").iterdir() if folder is None else folder.iterdir()
    for path in sorted(paths, key=lambda path: path.name):
        if path.name.endswith(ENDING):
            for number, line in enumerate(gzip.decompress(path.read_bytes()).decode().splitlines(), 1):
                yield f"{path.name}, line {number}", json.loads(line)


def write(folder: Path, suite: str, lines: Iterable[Mapping[str, Any]]) -> Path:
    """Writes the references of a suite; the same lines give the same bytes."""
    path = folder / f"{suite}{ENDING}"
    text = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    return path
