import io

import pytest
from rich.console import Console

from humboldt._progress import _Bar, progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set by hand."""
    now = [100.0]
    monkeypatch.setattr("humboldt._progress.time.monotonic", lambda: now[0])
    return now


def test_lines_tell_pace_and_time_left(clock: list[float], capsys: pytest.CaptureFixture[str]):
    with progress() as told:
        for step in range(100, 501, 100):
            told.update("parity · training", step, 500, "loss 0.100")
            clock[0] += 8
    assert capsys.readouterr().err.splitlines() == [
        "parity · training: 300/500, 12.5/s, 16 s left, loss 0.100",
        "parity · training: 500/500, 12.5/s, loss 0.100",
    ]


def test_no_pace_is_told_before_it_is_known(clock: list[float], capsys: pytest.CaptureFixture[str]):
    with progress() as told:
        told.update("parity · training", 20, 20, "")  # all in one go
        clock[0] += 3
        told.update("parity · evaluation", 50, 100, "")
        clock[0] += 5
        told.update("parity · evaluation", 100, 100, "")
    assert capsys.readouterr().err.splitlines() == [
        "parity · training: 20/20",
        "parity · evaluation: 100/100, 10.0/s",
    ]


def test_what_takes_long_is_told_by_the_piece(clock: list[float], capsys: pytest.CaptureFixture[str]):
    with progress() as told:
        for member in (1, 2, 3):
            told.update("an_bn · evaluation", member, 3, "")
            clock[0] += 40
    assert capsys.readouterr().err.splitlines() == [
        "an_bn · evaluation: 2/3, 40 s each, 40 s left",
        "an_bn · evaluation: 3/3, 40 s each",
    ]


@pytest.mark.parametrize(("width", "remark"), [(80, False), (130, True)])
def test_the_bar_never_cuts_numbers_short(
    clock: list[float], width: int, remark: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(width))
    bar = _Bar()
    bar.update("modular_arithmetic_simple · stack_rnn · training", 0, 1_000_000, "")
    clock[0] += 750
    bar.update("modular_arithmetic_simple · stack_rnn · training", 999_900, 1_000_000, "loss 1.258, accuracy 40.7%")
    bar.stop()
    shown = io.StringIO()
    Console(file=shown, width=width).print(bar._bars.make_tasks_table(bar._bars.tasks))
    assert " 999900/1000000 1,333/s " in shown.getvalue()
    assert ("loss 1.258, accuracy 40.7%" in shown.getvalue()) is remark
