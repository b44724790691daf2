import pytest

from humboldt import published


@pytest.mark.parametrize(("name", "count"), [("chomsky", 726), ("bliss", 48), ("bias", 1198), ("pcfg_set", 99)])
def test_all_rows_are_there(name: str, count: int):
    assert len(published.rows(name)) == count


def test_lookup():
    cell = {"paper_table": "table_b1", "task": "parity_check", "architecture": "rnn"}
    assert published.lookup("chomsky", "value", **cell, statistic="mean") == "95.5"
    assert published.lookup("chomsky", "value", **cell, statistic="median") is None
    with pytest.raises(ValueError, match="2 rows"):
        published.lookup("chomsky", "value", **cell)
