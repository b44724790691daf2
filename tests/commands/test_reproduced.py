"""`humboldt reproduced`: the text of its tables."""

from humboldt.commands.reproduced import as_table_of_disagreements
from humboldt.report.tables import as_text
from humboldt.suites.published_numbers import PublishedNumber


def number(task: str, cause: str) -> PublishedNumber:
    about = {"suite": "bliss", "table": "table_2", "task": task, "model": "lstm", "what": "B-index"}
    return PublishedNumber(**about, published="10", measured="2", cause=cause)


def test_each_cause_is_one_note():
    causes = {"an_bn": "few seeds", "dyck_1": "another order", "dyck_2": "few seeds", "an_bn_cn": ""}
    table = as_table_of_disagreements([number(task, cause) for task, cause in causes.items()])
    lines = as_text([table]).splitlines()
    assert [line.split()[-1] for line in lines[4:8]] == ["1", "2", "1", "–"]
    assert lines[9:] == ["4 numbers do not agree. Likely causes:", "1. Few seeds.", "2. Another order."]
