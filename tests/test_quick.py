"""What the pages say of the preset `quick` is what it prints: the same cells are solved, or captured."""

import re
from pathlib import Path

import pytest

import humboldt
from humboldt.report.tables import as_text
from humboldt.suites import suites
from humboldt.suites.reading import stored, tables

ROOT = Path(__file__).parents[1]


def shape(text: str, title: str) -> list[list[str]]:
    """The head and the rows of the table with this title, without the numbers, but with their stars."""
    _, _, head, _, *rest = text[text.index(f"{title}\n") :].splitlines()
    rows = rest[: next(i for i, row in enumerate(rest) if row.startswith("──"))]
    return [head.split(), *([re.sub(r"^[\d.]+", "number", word) for word in row.split()] for row in rows)]


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "page"), [("chomsky", "docs/start.md"), ("syntax", "docs/syntax.md")])
def test_quick_prints_what_its_page_shows(suite: str, page: str, tmp_path: Path):
    shown = shape((ROOT / page).read_text(), f"{suite}, quick")
    assert len(shown) > 8 and "number*" in shown[1]
    study = humboldt.run(suite, out=tmp_path)
    assert shape(study.table(), f"{suite}, quick") == shown


@pytest.mark.slow
def test_quick_learns_single_functions_and_more_than_copying(tmp_path: Path):
    study = humboldt.run("pcfg_set", tasks=["task_accuracy"], models=["conv_s2s"], out=tmp_path)
    found = {
        r["measure"]: r["value"] for r in study.records() if (r["task"], r["setting"]) == ("task_accuracy", "quick")
    }
    assert found["single_functions"] >= 0.9
    assert found["sequence_accuracy"] > 2 * found["first_string"]


@pytest.mark.parametrize(
    ("suite", "page", "count"),
    [("chomsky", "docs/start.md", 15), ("syntax", "docs/syntax.md", 8)],
    ids=["chomsky", "syntax"],
)
def test_the_table_on_the_page_is_that_of_the_record(suite: str, page: str, count: int):
    printed = as_text(tables(suites.get(suite), stored(ROOT / "reproductions/quick", suite))).splitlines()
    text = (ROOT / page).read_text(encoding="utf-8")
    rows = text[text.index(f"{suite}, quick\n") :].splitlines()[4 : 4 + count]
    assert all(row in printed for row in rows) and rows[-1] != rows[0]
