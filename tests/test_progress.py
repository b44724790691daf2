"""How far a study is: on a terminal of 80 x 24, and in a log."""

import io
import re

import pytest
from rich.console import Console

from humboldt import _progress
from humboldt._progress import Shown, View, _Live, _Study, progress
from humboldt.events import Event, Finished, Progress, Warned


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set by hand."""
    now = [100.0]
    monkeypatch.setattr("humboldt._progress.time.monotonic", lambda: now[0])
    return now


def send(view: View, name: str, *events: Event) -> None:
    for event in events:
        Shown(name, view, lambda: False).send(event)


def test_lines_tell_pace_and_time_left(clock: list[float], capsys: pytest.CaptureFixture[str]):
    with progress() as view:
        for step in range(100, 501, 100):
            send(view, "parity", Progress("training", step, 500, "loss 0.100"))
            clock[0] += 8
        send(view, "parity", Warned("mind the gap"), Finished("score 0.993 (best of 2 members), 40 s"))
    assert capsys.readouterr().err.splitlines() == [
        "parity · training: 300/500, 12.5/s, 16 s left, loss 0.100",
        "parity · training: 500/500, 12.5/s, loss 0.100",
        "Warning: mind the gap",
        "parity: score 0.993 (best of 2 members), 40 s [1 of 1 experiment finished]",
    ]


def test_what_takes_long_is_told_by_the_piece(clock: list[float], capsys: pytest.CaptureFixture[str]):
    with progress() as view:
        for member in (1, 2, 3):
            send(view, "an_bn", Progress("evaluation", member, 3))
            clock[0] += 40
    assert capsys.readouterr().err.splitlines() == [
        "an_bn · evaluation: 2/3, 40 s each, 40 s left",
        "an_bn · evaluation: 3/3, 40 s each",
    ]


def test_many_at_work_share_a_line_of_a_log(clock: list[float], capsys: pytest.CaptureFixture[str]):
    with progress(20) as view:
        for _ in range(3):
            for number in range(10):
                send(view, f"task_{number}", Progress("training", 1, 2))
            clock[0] += 11
        send(view, "task_0", Finished("score 1.000, 3 s"))
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "0 of 20 experiments finished, 10 at work.",
        "task_0: score 1.000, 3 s [1 of 20 experiments finished, 9 at work, 1 min 27 s left]",
    ]


def test_time_left_of_a_study_follows_its_estimates(clock: list[float]):
    study = _Study(2, {"short": 10.0, "long": 30.0})
    study.update("short", Progress("training", 50, 100))
    clock[0] += 10
    assert study.left() == pytest.approx(70)  # an eighth of the work in ten seconds
    study.finish("short", Finished("done"))
    assert study.left() == pytest.approx(30)
    study.update("long", Progress("evaluation", 0, 10))
    assert study.left() is None  # all but the scores


def screen(live: _Live, width: int) -> list[str]:
    shown = io.StringIO()
    Console(file=shown, width=width).print(live._bars.make_tasks_table([t for t in live._bars.tasks if t.visible]))
    return [line.rstrip() for line in shown.getvalue().splitlines()]


@pytest.mark.parametrize(("width", "remark"), [(80, False), (130, True)])
def test_live_lines_never_cut_numbers_short(
    clock: list[float], width: int, remark: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(width))
    name, live = "modular_arithmetic_simple · stack_rnn", _Live(_Study(20))
    live.update(name, Progress("training", 0, 1_000_000))
    clock[0] += 750
    live.update(name, Progress("training", 999_900, 1_000_000, "loss 1.258, accuracy 40.7%"))
    live.stop()
    shown = "\n".join(screen(live, width))
    assert "0/20 experiments" in shown and re.search(r"999,900/1,000,000 1,333/s +< 1 s left|1,333/s", shown)
    assert ("loss 1.258, accuracy 40.7%" in shown) is remark


@pytest.mark.parametrize("at_work", [1, 10])
def test_twenty_experiments_fit_a_small_terminal(
    at_work: int, clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Whatever is finished scrolls away; the live part never grows over the screen, and begins with the study."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    live = _Live(_Study(20))
    names = [f"modular_arithmetic_simple · stack_rnn, corpus_size={number}" for number in range(20)]
    for begun in range(0, 20, at_work):
        for name in names[begun : begun + at_work]:
            live.update(name, Progress("training", 300, 1000))
        clock[0] += 60
        shown = screen(live, 80)
        assert shown[0].startswith("study") and f"{begun}/20 experiments" in shown[0] + shown[1]
        assert len(shown) <= 18 and all(len(line) <= 80 for line in shown)
        assert (f"(and {at_work - _progress.MOST_LINES} more" in " ".join(shown)) == (at_work > _progress.MOST_LINES)
        for name in names[begun : begun + at_work]:
            live.finish(name, Finished("score 0.993 (best of 2 members), 60 s"))
    live.stop()
    assert len(screen(live, 80)) == 1
    told = capsys.readouterr().err
    assert all(name in told.replace("\n", " ") or name.split(" · ")[0] in told for name in names)
