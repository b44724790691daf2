"""How far a study is: on a terminal of 80 x 24, and in a log."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pyte
import pytest
from rich.console import Console

from humboldt.core.events import Event, Finished, Progress, Warned
from humboldt.running import progress as module
from humboldt.running.progress import Shown, View, _Live, _Study, progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set by hand."""
    now = [100.0]
    monkeypatch.setattr("humboldt.running.progress.time.monotonic", lambda: now[0])
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


def test_events_that_come_together_have_no_rate(clock: list[float]):
    """As those of processes that report the start and the first steps of their members at once."""
    study = _Study(1)
    study.update("parity", Progress("training", 0, 1000))
    clock[0] += 0.1
    event, pace = study.update("parity", Progress("training", 100, 1000))
    assert pace.words(event.done) == ""
    clock[0] += 9.9
    event, pace = study.update("parity", Progress("training", 200, 1000))
    assert pace.words(event.done) == "20.0/s"


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


@pytest.mark.parametrize("width", [80, 130])
def test_live_lines_never_cut_numbers_short(clock: list[float], width: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", str(width))
    name, live = "modular_arithmetic_simple · stack_rnn", _Live(_Study(20))
    live.update(name, Progress("training", 0, 1_000_000))
    clock[0] += 750
    live.update(name, Progress("training", 999_900, 1_000_000, "loss 1.258, accuracy 40.7%"))
    live.stop()
    shown = "\n".join(screen(live, width))
    assert "0/20 experiments" in shown and re.search(r"999,900/1,000,000 1,333/s +< 1 s left|1,333/s", shown)
    assert "loss 1.258, accuracy 40.7%" in shown


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
        assert (f"(and {at_work - module.MOST_LINES} more" in " ".join(shown)) == (at_work > module.MOST_LINES)
        for name in names[begun : begun + at_work]:
            live.finish(name, Finished("score 0.993 (best of 2 members), 60 s"))
    live.stop()
    assert len(screen(live, 80)) == 1
    told = capsys.readouterr().err
    assert all(name in told.replace("\n", " ") or name.split(" · ")[0] in told for name in names)


STUDY = ["run", "chomsky", "--no-estimate", "--set", "steps=500", "--set", "num_test_lengths=1"]  # 20 experiments


def study_command(out: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).parents[1] / "slow_clockwork.py"), *STUDY, "--out", str(out)]


def screens(command: list[str], height: int = 24) -> list[list[str]]:
    """What a terminal of 80 columns shows, each time that something was printed."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", height, 80, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    environment = {**kept, "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, env=environment)
    os.close(inner)
    terminal = pyte.Screen(80, height)
    stream, shown = pyte.ByteStream(terminal), []
    while True:
        try:
            printed = os.read(outer, 65536)
        except OSError:  # on Linux, the end
            break
        if not printed:
            break
        stream.feed(printed)
        shown.append([line.rstrip() for line in terminal.display])
    os.close(outer)
    assert process.wait() == 0
    return shown


def test_a_terminal_shows_the_study_what_is_at_work_and_what_is_finished(tmp_path: Path):
    shown = screens(study_command(tmp_path))
    live = [screen for screen in shown if any(line.startswith("study ") for line in screen)]
    pictures = ["\n".join(screen).rstrip() for screen in live]
    # A screen that is read while it is drawn again may still show the line before: the larger number is the new one.
    counts = [re.findall(r"^study .* (\d+)/20 experiments", picture, re.M) for picture in pictures]
    finished = [max(map(int, found)) for found in counts if found]
    assert finished == sorted(finished) and {0, 5, 19} <= set(finished)
    assert any(re.search(r"^\w+ · rnn · starting ━+( \d+ s)?$", picture, re.M) for picture in pictures)
    assert any(re.search(r"^\w+ · rnn · training ━+[╸╺]?━* [1-4]00/500( \d|$)", picture, re.M) for picture in pictures)
    assert any(re.search(r"^study .* \d+/20 experiments +\d+ s left", picture, re.M) for picture in pictures)
    assert re.search(r"^solve_equation · stack_rnn: score 0\.\d+ \(best of 2 members\), ", pictures[-1], re.M)
    whole = "\n".join("\n".join(screen) for screen in shown)
    assert "learning_rate 0.004" in whole and "\x1b" not in whole  # words are not broken, nothing is left of commands
    assert not any(line.startswith("study ") for line in shown[-1])  # the live part goes away; the table stays
    assert any(line.startswith("Level    Task  ") for line in shown[-1])


# Many short experiments, drawn as often as possible, with threads that take turns as often as possible.
HASTY = """
import sys
from humboldt.running import progress
from humboldt.core.events import Finished, Progress
sys.setswitchinterval(1e-6)
progress.REFRESH_SECONDS = 1e-4
with progress.progress(100) as view:
    for number in range(100):
        view.update(f"task {number}", Progress("training", 1, 2))
        view.finish(f"task {number}", Finished("done"))
"""


def test_lines_that_stay_are_neither_lost_nor_doubled_while_live_lines_are_drawn():
    shown = screens([sys.executable, "-c", HASTY], height=110)
    assert [line for line in shown[-1] if line] == [f"task {number}: done" for number in range(100)]


def test_a_log_has_a_line_for_each_experiment(tmp_path: Path):
    done = subprocess.run(study_command(tmp_path), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "\x1b" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if "] " in line or line.endswith("]")]
    assert len(lines) == 20
    assert re.fullmatch(
        r"even_pairs · rnn: score 0\.\d+ \(best of 2 members\), (< )?1 s \[1 of 20 experiments finished, \d+ s left\]",
        lines[0],
    )
    assert lines[-1].endswith("[20 of 20 experiments finished]")
