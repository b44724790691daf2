import json

from humboldt.report.tables import Table, as_csv, as_json, as_text

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
