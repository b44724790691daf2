"""Text for terminals: what is too long for a line goes on between words."""

import io
import sys

import pytest

from humboldt.report.words import tell

LINE = "my_file.py:GRU, syntax: 0.33 (0.27 to 0.39); 2 terminals 0/3, 3 of 3 tasks learnt. 8 min 13 s."


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_on_a_terminal_breaks_inside_a_word(width: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    tell(LINE)
    shown = terminal.getvalue()
    assert shown.split() == LINE.split() and max(map(len, shown.splitlines())) <= width


def test_a_log_gets_the_line_as_it_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(sys, "stderr", log := io.StringIO())
    tell(LINE)
    assert log.getvalue() == f"{LINE}\n"
