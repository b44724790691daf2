"""`humboldt show`: its output for stored results, and the alignment of all tables."""

import csv
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_support import STORE
from pages import ROOT
from typer.testing import CliRunner

from humboldt import cli
from humboldt.core.results import Scores, State
from humboldt.report.tables import Table, TableCell, as_text
from humboldt.suites import suites
from humboldt.suites.reading import stored, tables

SHOWN = Path(__file__).parent / "shown"  # recorded with `humboldt show tests/page/store`, without and with --csv


def show(*options: str) -> str:
    done = CliRunner().invoke(cli.app, ["show", str(STORE), *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_tables_are_those_on_record():
    assert show() == (SHOWN / "store.txt").read_text(encoding="utf-8")


def test_csv_and_json_hold_the_records_on_record():
    wanted = list(csv.DictReader((SHOWN / "store.csv").read_text(encoding="utf-8").splitlines()))
    rows = list(csv.DictReader(show("--csv").splitlines()))
    assert rows == [
        {key: "" if value is None else str(value) for key, value in r.items()} for r in json.loads(show("--json"))
    ]
    assert [list(row) for row in rows] == [list(row) for row in wanted]
    numbers = ("value", "published")
    assert [{**row, **dict.fromkeys(numbers)} for row in rows] == [{**row, **dict.fromkeys(numbers)} for row in wanted]
    for row, other in zip(rows, wanted, strict=True):
        for name in numbers:
            if _looks_like_a_number(row[name]) and not row[name].startswith("<"):
                assert float(row[name]) == pytest.approx(float(other[name]), rel=1e-9), (row, name)
            else:
                assert row[name] == other[name], (row, name)


def _variants(results: list[Scores]) -> Iterator[list[Scores]]:
    """The results; with one member each; with every third training diverged; with all members failed or diverged."""
    yield results
    yield [dataclasses.replace(scores, results=scores.results[:1]) for scores in results]
    yield [_ended(scores, State.DIVERGED) if i % 3 == 0 else scores for i, scores in enumerate(results)]
    yield [_ended(scores, State.DIVERGED, State.FAILED) for scores in results]


def _ended(scores: Scores, *states: State) -> Scores:
    results = [
        dataclasses.replace(result, state=states[i % len(states)], measures={}, detail={})
        for i, result in enumerate(scores.results)
    ]
    return dataclasses.replace(scores, results=tuple(results))


@pytest.mark.parametrize("folder", [STORE, ROOT / "reproductions"], ids=["store", "reproductions"])
def test_columns_are_aligned_as_their_texts_look(folder: Path):
    """The type of an entry decides about alignment. The slow and obvious form, which looks at the printed texts, agrees
    for all stored results."""
    seen = 0
    for found in _variants(stored(folder)):
        for name in dict.fromkeys(scores.training.suite for scores in found):
            for table in tables(suites.get(name), [scores for scores in found if scores.training.suite == name]):
                assert as_text([table]) == as_text([_by_texts(table)]), table.title
                seen += 1
    assert seen > 40


def _by_texts(table: Table) -> Table:
    """The same table with an entry for each text, whose type is that of the text."""
    return dataclasses.replace(
        table,
        rows=tuple(
            tuple(TableCell(value=text) if _looks_like_a_number(text) else text for text in row) for row in table.texts
        ),
    )


def _looks_like_a_number(text: str) -> bool:
    try:
        float(text.strip("* <").replace("–", "0"))
    except ValueError:
        return False
    return True
