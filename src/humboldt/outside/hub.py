"""Data sets for a hub: `humboldt export hub`. A Parquet file for each part of each suite, and a card that names them.

There is no loading script: the card lists the files, and `datasets` or any reader of Parquet opens them.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError, named_extras
from humboldt.plugins import load_installed
from humboldt.storage import files
from humboldt.storage.output import write_file
from humboldt.suites import catalogue, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import OffersData

CARD = """---
{front}---

# Humboldt: strings of published benchmarks of generalisation

Strings with their right answers, drawn by Humboldt {version} with the preset `{preset}` and seed {seed}: at most
{count} of each task and part, spread evenly. A part `test` has strings that models are scored on. Symbols are separated
by single spaces.

| suite | question | tasks | rows | paper |
| --- | --- | --- | --- | --- |
{rows}

```python
from datasets import load_dataset

strings = load_dataset("PATH", "{example}", split="test")
```

Columns are `task`, `input` and `target`. In `bias`, hold-out inputs have an output for each rule, and none of them is
the right one; the column `rule` names it. Made by `humboldt export hub`; the same command gives the same files. Cite
the paper whose suite you use.
"""


@dataclass(frozen=True)
class Part:
    """A file of a data set: the rows of one part of a suite."""

    suite: str
    part: str
    rows: int

    @property
    def file(self) -> str:
        """The place of the file in the folder."""
        return f"{self.suite}/{self.part}.parquet"


def export_hub(
    out: Path, *, suite_names: Sequence[str] = (), preset: str = "quick", count: int = 500, seed: int = 0
) -> list[Part]:
    """Writes the strings of suites as Parquet files, with a card; returns the parts.

    **Arguments:**

    - `out`: the folder, which must be new or empty. `suite_names`: all suites with examples if there are none.
    - `preset`: of the strings. `count`: the largest number of each task and part. `seed`: of strings that are drawn.
    """
    from humboldt import __version__

    with named_extras():
        import pyarrow  # noqa: F401  before anything is made
    load_installed()
    able = [name for name in suites.names() if isinstance(suites.get(name), OffersData)]
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"`{out}` exists and is not an empty folder. Give a new one, so that nothing old is uploaded.")
    parts = [part for name in suite_names or able for part in _write_suite(suites.get(name), out, preset, count, seed)]
    written = list(dict.fromkeys(part.suite for part in parts))
    rows = [_row(suites.get(name), sum(part.rows for part in parts if part.suite == name)) for name in written]
    about = {"version": __version__, "preset": preset, "seed": seed, "count": f"{count:,}", "example": written[0]}
    write_file(out / "README.md", CARD.format(front=_front(parts), rows="\n".join(rows), **about))
    return parts


def _write_suite(suite: Any, out: Path, preset: str, count: int, seed: int) -> Iterator[Part]:
    catalogue.preset(suite, preset)  # raises if there is none of this name
    folder = out / suite.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"`{out}` cannot be written: {error}. Give another folder.") from error
    names = list(dict.fromkeys(split.part for task in suite.printed_tasks for split in suite.shared_splits(task)))
    for part in names:
        rows = (row for task in suite.printed_tasks for row in _rows(suite, task, part, preset, count, seed))
        yield Part(suite.name, part, files.write(folder / f"{part}.parquet", rows))


def _rows(suite: Any, task: str, part: str, preset: str, count: int, seed: int) -> Iterator[dict[str, str]]:
    """Yields the rows of one task and part. Strings that are drawn without end are limited by their number."""
    for split in suite.shared_splits(task):
        if split.part != part:
            continue
        wanted = count if split.split is None else None
        about: dict[str, Any] = {"split": split.split, "count": wanted, "length": None, "seed": seed}
        drawn = list(suite.data(task, **about, settings=split.settings, preset=preset))
        for i in range(min(count, len(drawn))):
            source, target = drawn[i * len(drawn) // min(count, len(drawn))]
            yield {"task": task, **split.columns, "input": " ".join(source), "target": " ".join(target)}


def _row(suite: AbstractSuite, rows: int) -> str:
    return f"| `{suite.name}` | {suite.question} | {len(suite.printed_tasks)} | {rows:,} | {suite.paper} |"


def _front(parts: Sequence[Part]) -> str:
    """Returns the metadata of the card as YAML, which includes JSON."""
    configs = [
        {"config_name": name, "data_files": [{"split": part.part, "path": part.file} for part in rows]}
        for name, rows in ((name, list(rows)) for name, rows in itertools.groupby(parts, lambda part: part.suite))
    ]
    values = {
        "pretty_name": "Humboldt",
        "license": "mit",
        "language": ["art"],
        "tags": ["formal-languages", "generalization", "synthetic"],
        "configs": configs,
    }
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())
