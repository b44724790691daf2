import json

from humboldt.report.tables import Number, Table, as_csv, as_json, as_text

RECORDS = [{"task": "a", "value": 1.5, "published": None}, {"task": "b,c", "value": 2.0, "published": 3}]


def test_text_is_aligned_with_numbers_to_the_right():
    table = Table("T", ("Task", "RNN", "paper"), (("parity", "9.5 ", "100.0"), ("x", "100.0*", "–")), ("A note.",))
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
    numbers = [Number(text, cell="", value=1.0) for text in ("11.0", "22.0", "33.0")]
    row = ("parity", numbers[0], "1.5", numbers[1], "2.5", numbers[2], "3.5")
    table = Table("t", ("Task", "RNN", "paper", "LSTM", "paper", "GRU", "paper"), (row,), ("A note.",))
    assert as_text([table], width=47) == as_text([table])
    assert as_text([table], width=32).splitlines() == [
        *("t", "─" * 32, "Task     RNN  paper  LSTM  paper", "─" * 32, "parity  11.0    1.5  22.0    2.5"),
        *("─" * 19, "Task     GRU  paper", "─" * 19, "parity  33.0    3.5", "─" * 19, "A note."),
    ]
    assert as_text([table], width=5).count("Task") == 3  # ours and the paper's number are never parted
