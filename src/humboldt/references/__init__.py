"""Reference results that ship with the package: trained members of the families under the presets of the bench.

They are exported members (`humboldt archive`) without curves and outputs, compressed, one file for each suite. They are
found by identity like any result: a reference of a superseded version is never shown as current.
"""

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError
from humboldt.storage.output import check_output, write_file

ENDING = ".jsonl.gz"
MOST_BYTES = 200_000_000  # of an uncompressed file; those that ship are a thousand times smaller


def entries(folder: Path | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the exported trainings of all references, each after the place where it is written."""
    try:
        paths = list((files("humboldt.references") if folder is None else folder).iterdir())
    except (OSError, ValueError) as error:
        raise UsageError(f"`{folder}` cannot be read: {error}. Give a folder for references.") from error
    for path in sorted(paths, key=lambda path: path.name):
        if path.name.endswith(ENDING):
            for number, line in enumerate(_text(path).splitlines(), 1):
                yield f"{path.name}, line {number}", _entry(path, number, line)


def write(folder: Path, suite: str, lines: Iterable[Mapping[str, Any]]) -> Path:
    """Writes the references of a suite; the same lines give the same bytes."""
    path = folder / f"{suite}{ENDING}"
    check_output(path, "--to")
    text = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines)
    write_file(path, gzip.compress(text.encode(), compresslevel=9, mtime=0), "--to")
    return path


def _text(path: Traversable) -> str:
    try:
        if not path.is_file():
            raise UsageError(f"`{path}` is not a file. Give a folder with reference files.")
        with gzip.open(io.BytesIO(path.read_bytes())) as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UsageError(f"`{path}` has more than {MOST_BYTES:,} bytes. Restore the file.")
        return content.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` is not a file of references: {error}. Restore the file.") from error


def _entry(path: Traversable, number: int, line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
        if isinstance(entry["training"], dict) and isinstance(entry["evaluation"], dict):
            return entry
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise UsageError(f"`{path}`, line {number} is not a reference: {error!s:.200}. Restore the file.") from error
    raise UsageError(f"`{path}`, line {number} is not a reference. Restore the file.")
