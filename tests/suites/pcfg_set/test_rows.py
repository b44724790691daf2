"""Files of predictions: what is read, and what is refused with its line."""

import pytest

from humboldt.errors import UsageError
from humboldt.storage import files
from humboldt.suites.pcfg_set.rows import Row, check_same_sources, disagreements, read_rows, replaced_functions

HEADER = "source\ttarget\tprediction"


def table(name: str, lines: list[str]) -> list[Row]:
    return read_rows(name, files.table_rows(name, lines, ("input", "prediction")))


def read(*lines: str, name: str = "mine.tsv") -> list[Row]:
    return table(name, [HEADER, *lines])


def test_rows():
    lines = ["prediction\tsource\ttarget\tepoch\n", "A\tswap_first_last A B\tB A \t3\r\n", "\trepeat_twin A\tA A\t4"]
    first, second = table("x", lines)
    assert (first.line, first.source, first.target, first.prediction) == (2, "swap A B", "B A", "A")
    assert first.meaning == "B A" and first.extra == {"epoch": "3"}
    assert (second.line, second.source, second.prediction) == (3, "repeat_syn A", "")


def test_rows_of_another_format():
    (row,) = read_rows("x", [files.Row("x, line 7", 7, {"input": "copy A", "target": "A", "prediction": "B"})])
    assert (row.line, row.meaning, row.extra) == (7, "A", {})
    with pytest.raises(UsageError, match="x, line 7: there is no prediction"):
        read_rows("x", [files.Row("x, line 7", 7, {"input": "copy A", "target": "A", "prediction": None})])


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([], "mine.tsv has no predictions"),
        (
            ["source\ttarget"],
            "mine.tsv, line 1: the header is 'source\\ttarget'; the column 'prediction' is missing",
        ),
        (["source,target,prediction"], "the column 'source' is missing"),
        ([HEADER + "\tsource"], "names a column twice"),
        ([HEADER], "mine.tsv has no predictions"),
        ([HEADER, "copy A\tA\tA", "copy A\tA"], "mine.tsv, line 3: 2 columns, but the header has 3"),
        (
            [HEADER, "copy A\tA\tA", "append A\tA\tA"],
            "mine.tsv, line 3: the source 'append A' is not an expression. Token 3, the end (column 10): the",
        ),
        (
            [HEADER, "swap_last A B\tB A\tB A"],
            "mine.tsv, line 2: the source 'swap_last A B' is not an expression. Token 1",
        ),
        ([HEADER, "copy  A\tA\tA"], "single spaces"),
        ([HEADER, ""], "mine.tsv, line 2: 1 columns"),
    ],
)
def test_files_that_cannot_be_read(lines, text):
    with pytest.raises(UsageError) as error:
        table("mine.tsv", lines)
    assert text in str(error.value)


def test_targets_are_checked_against_the_language():
    rows = read("copy A B\tA B\tA", "swap A B C\tC A B\tx", "reverse echo A B\tA B B\tx")
    found = disagreements(rows)
    assert [d["line"] for d in found] == [3, 4]
    assert found[0] == {"line": 3, "source": "swap A B C", "target": "C A B", "meaning": "C B A"}
    # The second is a known exception of the overgeneralisation test.
    assert [d["line"] for d in disagreements(rows, exceptions=True)] == [3]


def test_twins():
    rows = read("swap append swap A B , C\tC B A\tx", "copy append A , B\tA B\tx")
    twins = read("swap_syn append swap_twin A B , C\tx\tx", "copy append_twin A , B\tA B\tx", name="twin.tsv")
    assert replaced_functions(rows, twins, "mine.tsv", "twin.tsv") == ["swap", "append"]


@pytest.mark.parametrize(
    "twin",
    [
        "swap append swap A B , C",  # no synonym
        "swap_syn append swap A B , C",  # one of two occurrences
        "swap_syn append_syn swap_syn A B , C",  # two functions
        "swap_syn append swap_syn A B , D",  # another item
        "swap_syn append swap_syn A B , C C",
        "append swap_syn A B , C",
    ],
)
def test_twins_that_are_none(twin):
    rows = read("copy A\tA\tA", "swap append swap A B , C\tC B A\tx")
    twins = read("copy_syn A\tA\tA", f"{twin}\tx\tx", name="twin.tsv")
    with pytest.raises(UsageError) as error:
        replaced_functions(rows, twins, "mine.tsv", "twin.tsv")
    assert "twin.tsv, line 3: the source" in str(error.value) and "mine.tsv, line 3" in str(error.value)


def test_files_of_different_lengths_and_different_sources():
    rows, short = read("copy A\tA\tA", "copy B\tB\tB"), read("copy A\tA\tA", name="twin.tsv")
    with pytest.raises(UsageError) as error:
        check_same_sources(rows, short, "mine.tsv", "twin.tsv")
    assert "mine.tsv has 2 predictions and twin.tsv has 1. Line 3 of mine.tsv is the first without" in str(error.value)
    with pytest.raises(
        UsageError, match=r"twin.tsv, line 2: the source is 'copy C', but mine.tsv, line 2, has 'copy A'"
    ):
        check_same_sources(rows[:1], read("copy C\tC\tC", name="twin.tsv"), "mine.tsv", "twin.tsv")
