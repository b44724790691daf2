import json

from humboldt.report.tables import MissingCell, Table, TableCell, TableEntry, as_csv, as_json, as_text

RECORDS = [{"task": "a", "value": 1.5, "published": None}, {"task": "b,c", "value": 2.0, "published": 3}]


def column(*entries: TableEntry) -> list[str]:
    """The lines of a table with a column of labels and one of these entries."""
    return as_text([Table("T", ("Task", "a wide column"), tuple(("x", entry) for entry in entries))]).splitlines()[4:-1]


def test_the_type_decides_about_the_alignment():
    left, right = "x     1", f"x     {'1':>13}"
    assert column("1") == [left] and column(TableCell(value=1)) == [right]
    assert column(TableCell(value="1"), MissingCell("parity", "rnn"), TableCell())[0] == right
    assert column(TableCell(value=1), "diverged")[0] == left  # one text is enough
    assert column(TableCell(value=1), TableCell(value=2.0, form=".1f", deviation=0.5)) == [left, "x     2.0 ± 0.5"]


def test_text_is_aligned_with_numbers_to_the_right():
    rows = (
        ("parity", TableCell(value=9.5, form=".1f", mark=" "), TableCell(value=100.0, form=".1f")),
        ("x", TableCell(value=100.0, form=".1f", mark="*"), TableCell()),
    )
    table = Table("T", ("Task", "RNN", "paper"), rows, ("A note.",))
    lines = as_text([table]).splitlines()
    assert lines[0] == "T" and lines[-1] == "A note."
    assert lines[2] == "Task       RNN  paper"
    assert lines[4] == "parity    9.5   100.0"
    assert lines[5] == "x       100.0*      –"


def test_csv_and_json():
    assert as_csv(RECORDS) == 'task,value,published\na,1.5,\n"b,c",2.0,3\n'
    assert as_csv([]) == "" and json.loads(as_json([])) == []
    assert json.loads(as_json(RECORDS)) == RECORDS


def test_a_table_that_is_too_wide_comes_in_parts():
    ours = [TableCell(value=value, form=".1f", cell="key") for value in (11.0, 22.0, 33.0)]
    paper = [TableCell(value=value) for value in (1.5, 2.5, 3.5)]
    row = ("parity", ours[0], paper[0], ours[1], paper[1], ours[2], paper[2])
    table = Table("t", ("Task", "RNN", "paper", "LSTM", "paper", "GRU", "paper"), (row,), ("A note.",))
    assert as_text([table], width=47) == as_text([table])
    assert as_text([table], width=32).splitlines() == [
        "t",
        "─" * 32,
        "Task     RNN  paper  LSTM  paper",
        "─" * 32,
        "parity  11.0    1.5  22.0    2.5",
        "─" * 19,
        "Task     GRU  paper",
        "─" * 19,
        "parity  33.0    3.5",
        "─" * 19,
        "A note.",
    ]
    assert as_text([table], width=5).count("Task") == 3  # ours and the paper's number are never parted


def test_a_table_without_results_comes_in_parts_after_its_columns_of_text():
    row = ("GRU", "quick", TableCell(value=3), TableCell(value=4), "humboldt bench gru")
    table = Table("t", ("Model", "Preset", "bias", "syntax", "Command"), (row,))
    assert as_text([table], width=34).splitlines()[2::4] == [
        "Model  Preset  bias  syntax",
        "Model  Preset  Command",
    ]
    only_text = Table("t", ("Model", "Command"), (("GRU", "humboldt bench gru"),))
    assert as_text([only_text], width=10) == as_text([only_text])  # a command is to be copied whole


def test_a_part_that_is_too_wide_has_its_widest_text_folded():
    answers = ("0.33 (0.27 to 0.39); 2 terminals 0/3", "1.00 (1.00 to 1.00); abelian 1/1, solvable 1/1")
    table = Table("t", ("Model", "From", "syntax", "tracking"), (("GRU", "bench", *answers),), labels=2)
    assert as_text([table], width=40).splitlines()[1:] == [
        "─" * 40,
        "Model  From   syntax",
        "─" * 40,
        "GRU    bench  0.33 (0.27 to 0.39); 2",
        "              terminals 0/3",
        "─" * 40,
        "Model  From   tracking",
        "─" * 40,
        "GRU    bench  1.00 (1.00 to 1.00);",
        "              abelian 1/1, solvable 1/1",
        "─" * 40,
    ]
    assert max(map(len, as_text([table], width=200).splitlines())) == len("GRU    bench    ") + sum(map(len, answers))
