"""Files of predictions: every form comes back as it was written, and what is wrong is named with its line."""

import json
from pathlib import Path

import pytest

from humboldt.errors import UsageError
from humboldt.storage import files

ROWS = [
    {"input": "a b", "target": "b a", "prediction": "b a"},
    {"input": "∅ ü", "target": "", "prediction": ""},
    {"input": "b", "target": "b", "prediction": "a"},
]


@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".tsv", ".parquet"])
def test_every_form_comes_back_as_it_was_written(tmp_path: Path, ending: str):
    path = tmp_path / f"mine{ending}"
    assert files.write(path, iter(ROWS)) == 3
    read = list(files.read(path, ("input", "prediction")))
    assert [row.fields for row in read] == ROWS
    assert read[2].place == f"mine{ending}, {'row' if ending == '.parquet' else 'line'} {4 if ending == '.tsv' else 3}"
    assert list(tmp_path.iterdir()) == [path]  # no other file is left


def test_tables_name_the_input_source(tmp_path: Path):
    files.write(tmp_path / "mine.tsv", ROWS)
    assert (tmp_path / "mine.tsv").read_text("utf-8").splitlines()[0] == "source\ttarget\tprediction"


def test_lists_and_numbers(tmp_path: Path):
    files.write(tmp_path / "mine.tsv", [{"input": "#", "prediction": [[0.5, 0.5]], "seed": 3}])
    (row,) = files.read(tmp_path / "mine.tsv")
    assert json.loads(row.fields["prediction"]) == [[0.5, 0.5]] and row.fields["seed"] == "3"


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.jsonl", b'{"input": "a", "prediction": "a"}\n{"input": "b", "pred', 'a.jsonl, line 2: \'{"input": "b"'),
        ("a.jsonl", b'{"input": "a", "prediction": "a"}\n{"input": "b", "pred', "it seems to be cut off"),
        ("a.jsonl", b'\n\n["a"]\n', "a.jsonl, line 3: '[\"a\"]' is not an object"),
        ("a.jsonl", b'{"input": "a"}\n', "a.jsonl, line 1: there is no field `prediction`"),
        ("a.jsonl", b'{"input": "a", "prediction": "a"}\n\xff\n', "a.jsonl, line 2: not UTF-8"),
        ("a.tsv", b"source\tprediction\na\n", "a.tsv, line 2: 1 columns, but the header has 2"),
        ("a.tsv", b"source\ttarget\n", "the column 'prediction' is missing"),
        ("a.tsv", b"prediction\n", "the column 'source' is missing"),
        ("a.csv", b"", "the extension '.csv' is not one of .jsonl"),
        ("nothing/a.jsonl", None, "cannot be read"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, name: str, content: bytes | None, text: str):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        list(files.read(path, ("input", "prediction")))
    assert text in str(error.value)


def test_a_byte_order_mark_is_no_symbol(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("source\tprediction\na\tb\n", encoding="utf-8-sig")
    assert [row.fields for row in files.read(tmp_path / "a.tsv")] == [{"input": "a", "prediction": "b"}]


def test_files_are_streamed(tmp_path: Path):
    """The first rows are there before the last ones are looked at."""
    (tmp_path / "a.jsonl").write_text('{"input": "a"}\n' * 3 + "no JSON\n")
    rows = files.read(tmp_path / "a.jsonl")
    assert [next(rows).line for _ in range(3)] == [1, 2, 3]
    with pytest.raises(UsageError, match="line 4"):
        next(rows)


def test_a_file_appears_when_it_is_complete(tmp_path: Path):
    def rows():
        yield ROWS[0]
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        files.write(tmp_path / "a.jsonl", rows())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="cannot be written"):
        files.write(tmp_path / "nothing" / "a.jsonl", ROWS)
