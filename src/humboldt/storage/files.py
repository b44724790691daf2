"""Files of examples and predictions: one reader and one writer, chosen by a file's ending.

JSON lines and Parquet have the fields `input`, `target`, `prediction` and possibly others; tab-separated files
have a first line that names the columns, with `source` in place of `input`. Symbols are separated by single spaces.
Files are streamed in both directions; errors name the line.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from humboldt.errors import UsageError, named_extras
from humboldt.storage.output import appearing, reason, shortened

JSON_LINES, TABLE, PARQUET = "JSON lines", "tab-separated", "Parquet"
ENDINGS = {".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".tsv": TABLE, ".parquet": PARQUET}
PARQUET_ROWS = 8_192  # in memory at once
FORM = "The first line names the columns, separated by tabs: source, target, prediction."
LONGEST_SHOWN = 80  # characters of a wrong line, in an error


class Row(NamedTuple):
    """One example: its place (`mine.jsonl, line 3`), the number of its line, and its fields by name."""

    place: str
    line: int
    fields: Mapping[str, Any]


def form_of(path: Path) -> str:
    """Returns the format of a file, given by its extension."""
    form = ENDINGS.get(path.suffix.lower())
    if form is None:
        raise UsageError(
            f"`{path}`: the extension {path.suffix!r} is not one of {', '.join(ENDINGS)}. Rename or convert the file."
        )
    return form


def read(path: Path, needed: Sequence[str] = ()) -> Iterator[Row]:
    """Yields the rows of a file; raises a usage error if a row lacks one of the `needed` fields."""
    form = form_of(path)
    name = path.name
    if form == PARQUET:
        rows = _parquet_rows(path, name)
    else:
        rows = json_rows(name, _lines(path)) if form == JSON_LINES else table_rows(name, _lines(path), needed)
    return _with_fields(rows, needed)


def _with_fields(rows: Iterable[Row], needed: Sequence[str]) -> Iterator[Row]:
    for row in rows:
        for field in needed:
            if field not in row.fields:
                raise UsageError(f"{row.place}: there is no field `{field}`. Every line needs: {', '.join(needed)}.")
        yield row


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")  # a byte order mark is not a symbol
                except UnicodeDecodeError as error:
                    raise UsageError(f"{path.name}, line {number}: not UTF-8 text: {error}.") from error
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error}. Give a file of predictions.") from error


def json_rows(name: str, lines: Iterable[str]) -> Iterator[Row]:
    """Yields the rows of JSON lines; skips empty lines."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError: also for a number of thousands of digits
            cut = "" if line.endswith("\n") else " The file ends in the middle of it: it seems to be cut off."
            raise UsageError(f"{place}: {line.strip()[:LONGEST_SHOWN]!r} is not JSON ({error}).{cut}") from None
        if not isinstance(fields, dict):
            raise UsageError(
                f"{place}: {line.strip()[:LONGEST_SHOWN]!r} is not an object. Write "
                '{"input": "a b", "prediction": "b a"}.'
            )
        yield Row(place, number, _renamed(fields))


def table_rows(name: str, lines: Iterable[str], needed: Sequence[str] = ()) -> Iterator[Row]:
    """Yields the rows of tab-separated lines, of which the first names the columns."""
    lines = iter(lines)
    first = next(lines, None)
    if first is None:
        return
    header = _cells(first)
    known = [_in_json(column) for column in header]
    missing = [column for column in needed if column not in known]
    if missing or len(set(known)) != len(known):
        fault = f"; the column {_in_table(missing[0])!r} is missing. " if missing else ", which names a column twice. "
        raise UsageError(f"{name}, line 1: the header is {first.strip()!r}{fault}{FORM}")
    for number, line in enumerate(lines, 2):
        cells = _cells(line)
        if len(cells) != len(header):
            raise UsageError(
                f"{name}, line {number}: {len(cells)} columns, but the header has {len(header)}: "
                f"{', '.join(header)}. An empty prediction still needs its tab."
            )
        yield Row(f"{name}, line {number}", number, dict(zip(known, cells, strict=True)))


def _cells(line: str) -> list[str]:
    return [cell.strip(" ") for cell in line.rstrip("\r\n").split("\t")]


def _in_json(column: str) -> str:
    return "input" if column == "source" else column


def _in_table(field: str) -> str:
    return "source" if field == "input" else field


def _renamed(fields: dict[str, Any]) -> dict[str, Any]:
    return {_in_json(key): value for key, value in fields.items()} if "source" in fields else fields


def _parquet_rows(path: Path, name: str) -> Iterator[Row]:
    with named_extras():
        import pyarrow
        from pyarrow import parquet
    try:
        with parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(PARQUET_ROWS):
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(f"{name}, row {number}", number, _renamed(fields))
    except (OSError, pyarrow.ArrowException) as error:
        raise UsageError(f"`{path}` cannot be read: {error}. Give a Parquet file.") from error


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Writes rows with the same fields; returns their number. The file appears when it is complete."""
    form = form_of(path)
    rows = iter(rows)
    first = next(rows, None)
    everything: Iterator[Mapping[str, Any]] = iter(()) if first is None else itertools.chain([first], rows)
    try:
        with appearing(path) as file:
            if form == PARQUET:
                return _write_parquet(file, everything)
            count = 0
            for count, row in enumerate(everything, 1):
                if form == JSON_LINES:
                    line = json_line(row)
                else:
                    if count == 1:
                        file.write(("\t".join(map(_in_table, row)) + "\n").encode())
                    line = "\t".join(_text(value) for value in row.values())
                file.write(f"{line}\n".encode())
            return count
    except OSError as error:
        raise UsageError(
            f"`{shortened(path)}` cannot be written: {reason(error)}. Give a file in a folder that is there."
        ) from error


def json_line(row: Mapping[str, Any]) -> str:
    """Returns one row as JSON.

    >>> json_line({"input": "a b", "target": "b a"})
    '{"input": "a b", "target": "b a"}'
    """
    return json.dumps(row, ensure_ascii=False)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _write_parquet(file: IO[bytes], rows: Iterator[Mapping[str, Any]]) -> int:
    with named_extras():
        import pyarrow
        from pyarrow import parquet
    count, writer = 0, None
    try:
        while block := list(itertools.islice(rows, PARQUET_ROWS)):
            table = pyarrow.Table.from_pylist([dict(row) for row in block])
            writer = writer or parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
            count += len(block)
    finally:
        if writer is not None:
            writer.close()
    if not count:
        raise UsageError("There is no row to write, and a Parquet file needs columns. Ask for at least one.")
    return count
