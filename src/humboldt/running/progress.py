"""Shows the progress of a study: a few live lines on a terminal, plain lines in a log or a notebook.

There is one line for the whole study, one for each running experiment, and a permanent one for each finished experiment
with its score.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TextIO

from humboldt.core.events import AbstractSink, Event, Finished, Progress
from humboldt.report.words import counted, duration

LINE_SECONDS = 10.0  # between plain lines
MOST_LINES = 6  # for running experiments
WIDE = 110  # columns of a terminal that has room for remarks
FIRST_RATE = 0.5  # seconds of work before there is a rate: the first events may come together
REFRESH_SECONDS = 0.1  # between two drawings of the live lines


class View(Protocol):
    """Receives the progress of a study."""

    def update(self, name: str, event: Progress) -> None:
        """Shows progress of the experiment `name`."""

    def finish(self, name: str, event: Finished) -> None:
        """Shows that the experiment has ended."""

    def say(self, message: str) -> None:
        """Prints a permanent line."""


@dataclass(frozen=True)
class Shown(AbstractSink):
    """Passes the events of one experiment to a view."""

    name: str
    view: View
    stop_requested: Callable[[], bool]

    def send(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.view.update(self.name, event)
        elif isinstance(event, Finished):
            self.view.finish(self.name, event)
        else:
            self.view.say(f"Warning: {event.message}")

    def should_stop(self) -> bool:
        return self.stop_requested()


class _Pace:
    """The rate of work since the first event."""

    def __init__(self, done: int) -> None:
        self._begun, self._first = time.monotonic(), done

    def seconds(self) -> float:
        """Returns the seconds since the first event."""
        return time.monotonic() - self._begun

    def rate(self, done: int) -> float:
        """Returns the rate per second; 0 while it is not known."""
        seconds = self.seconds()
        return (done - self._first) / seconds if seconds >= FIRST_RATE else 0.0

    def words(self, done: int) -> str:
        """Returns the rate as text: `12.5/s`, or `2 min each` if it is low; empty while it is not known."""
        rate = self.rate(done)
        if not rate:
            return ""
        if rate < 0.1:
            return f"{duration(1 / rate)} each"
        return f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.1f}/s"


class _Study:
    """Counts finished and running experiments, and estimates the time left.

    `seconds` are estimated times of experiments, by name; with them, the time left is known from the beginning.
    """

    def __init__(self, total: int, seconds: Mapping[str, float] | None = None) -> None:
        self.total, self.finished = total, 0
        self.at_work: dict[str, tuple[Progress, _Pace]] = {}
        self._seconds = dict(seconds or {})
        self._begun, self._done = time.monotonic(), 0.0

    def update(self, name: str, event: Progress) -> tuple[Progress, _Pace]:
        before = self.at_work.get(name)
        pace = before[1] if before and before[0].phase == event.phase else _Pace(event.done)
        self.at_work[name] = (event, pace)
        return self.at_work[name]

    def finish(self, name: str, event: Finished) -> None:
        self.at_work.pop(name, None)
        self.finished += event.experiments
        self._done += self._weight(name) * event.experiments

    def _weight(self, name: str) -> float:
        return self._seconds.get(name, 1.0) if self._seconds else 1.0

    def left(self) -> float | None:
        """Returns the seconds left at the current rate; `None` while it is not known."""
        at_work = sum(
            self._weight(name) * event.done / max(1, event.total)
            for name, (event, _) in self.at_work.items()
            if event.phase != "evaluation"
        )
        at_work += sum(self._weight(name) for name, (event, _) in self.at_work.items() if event.phase == "evaluation")
        whole = sum(self._seconds.values()) if self._seconds else float(self.total)
        share, spent = (self._done + at_work) / max(whole, 1e-9), time.monotonic() - self._begun
        if not self.finished and not self._seconds:
            return None  # one training does not predict the others
        return spent * (1 - share) / share if 0.01 < share < 1 else None

    def words(self) -> str:
        """Returns the state as text: `3 of 20 experiments finished, 2 at work, 4 min left`."""
        left = self.left()
        parts = [f"{self.finished} of {counted(self.total, 'experiment')} finished"]
        parts += [f"{len(self.at_work)} at work"] if len(self.at_work) > 1 else []
        return ", ".join([*parts, *([f"{duration(left)} left"] if left is not None else [])])


class _Lines:
    """Prints a line every few seconds for each running experiment, or one for all if there are many; one at its end."""

    def __init__(self, study: _Study, file: TextIO | None = None) -> None:
        self._study, self._file = study, file
        self._printed: dict[str, float] = {}  # time of the last line, by experiment
        self._printed_all = time.monotonic()

    def update(self, name: str, event: Progress) -> None:
        event, pace = self._study.update(name, event)
        now = time.monotonic()
        if len(self._study.at_work) > MOST_LINES:
            if now - self._printed_all >= LINE_SECONDS:
                self._printed_all = now
                self.say(f"{self._study.words()}.")
            return
        if now - self._printed.setdefault(name, now) < LINE_SECONDS or not event.total:
            return
        self._printed[name] = now
        rate = pace.rate(event.done)
        left = f"{duration((event.total - event.done) / rate)} left" if rate and event.done < event.total else ""
        done = f"{name} · {event.phase}: {event.done:,}/{event.total:,}"
        self.say(", ".join(filter(None, [done, pace.words(event.done), left, event.remark])))

    def finish(self, name: str, event: Finished) -> None:
        self._study.finish(name, event)
        self._printed.pop(name, None)
        self.say(f"{name}: {event.summary} [{self._study.words()}]")

    def say(self, message: str) -> None:
        print(message, file=self._file or sys.stderr, flush=True)


class _Live:
    """Live lines below permanent ones.

    Rich's thread draws the live lines without waiting for a line that is being printed above them; then a live line may
    remain, or a permanent line may be lost. So a thread of this class draws them, under a lock.
    """

    def __init__(self, study: _Study) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress
        from rich.table import Column

        console = Console(stderr=True)
        columns = [
            TextColumn("{task.description}", table_column=Column()),  # folded if there is no room; numbers are not
            BarColumn(bar_width=10),
            TextColumn("{task.fields[numbers]}", table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True)),
        ]
        self._is_wide = console.width >= WIDE
        if self._is_wide:
            columns.append(TextColumn("{task.fields[remark]}"))
        self._study = study
        self._bars = RichProgress(*columns, console=console, transient=True, auto_refresh=False)
        self._one_at_a_time, self._ended = threading.RLock(), threading.Event()
        self._drawing = threading.Thread(target=self._draw, daemon=True)
        self._tasks = {}
        self._all = self._bars.add_task("study", total=study.total, numbers="", left="", remark="")
        self._update_all()
        self._bars.start()
        self._drawing.start()

    def _draw(self) -> None:
        while not self._ended.wait(REFRESH_SECONDS):
            with self._one_at_a_time:
                self._count_seconds()
                self._bars.refresh()

    def _count_seconds(self) -> None:
        """Shows the seconds of work whose end is not known, such as compilation, when a bar alone would not move."""
        for name, (event, pace) in self._study.at_work.items():
            if not event.total and name in self._tasks:
                self._bars.update(self._tasks[name], numbers=duration(pace.seconds()))

    def update(self, name: str, event: Progress) -> None:
        with self._one_at_a_time:
            self._update(name, event)

    def _update(self, name: str, event: Progress) -> None:
        event, pace = self._study.update(name, event)
        if name not in self._tasks:
            is_shown = len(self._tasks) < MOST_LINES
            self._tasks[name] = self._bars.add_task(name, visible=is_shown, numbers="", left="", remark="")
        rate = pace.rate(event.done)
        left = f"{duration((event.total - event.done) / rate)} left" if rate and event.done < event.total else ""
        self._bars.update(
            self._tasks[name],
            description=f"{name} · {event.phase}"
            + ("" if self._is_wide or not event.remark else f"\n  {event.remark}"),
            completed=event.done,
            total=event.total or None,  # a moving bar if the end is not known
            numbers=f"{event.done:,}/{event.total:,} {pace.words(event.done)}".rstrip() if event.total else "",
            left=left,
            remark=event.remark,
        )
        self._update_all()

    def finish(self, name: str, event: Finished) -> None:
        with self._one_at_a_time:
            self._remove(name, event)
            self.say(f"{name}: {event.summary}")

    def _remove(self, name: str, event: Finished) -> None:
        self._study.finish(name, event)
        if name in self._tasks:
            self._bars.remove_task(self._tasks.pop(name))
        hidden = [task for task in self._bars.tasks if not task.visible]
        if hidden and sum(task.visible for task in self._bars.tasks) <= MOST_LINES:
            self._bars.update(hidden[0].id, visible=True)
        self._update_all()

    def _update_all(self) -> None:
        left, hidden = self._study.left(), len(self._study.at_work) - MOST_LINES
        description = "study" + (f" (and {hidden} more at work)" if hidden > 0 else "")
        self._bars.update(
            self._all,
            description=description,
            completed=self._study.finished,
            numbers=f"{self._study.finished}/{counted(self._study.total, 'experiment')}",
            left=f"{duration(left)} left" if left is not None else "",
        )

    def say(self, message: str) -> None:
        with self._one_at_a_time:
            self._bars.console.print(message, markup=False, highlight=False)

    def stop(self) -> None:
        self._ended.set()
        self._drawing.join()
        self._bars.stop()


def _is_notebook() -> bool:
    """Returns whether this process is the kernel of a notebook; it may have loaded IPython without being one."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get_shell is not None and hasattr(get_shell(), "kernel")


@contextmanager
def progress(total: int = 1, seconds: Mapping[str, float] | None = None) -> Iterator[View]:
    """Yields a view: live lines if stderr is a terminal, plain ones otherwise.

    **Arguments:**

    - `total`: the number of experiments. `seconds`: their estimated times, by name.
    """
    study = _Study(total, seconds)
    if _is_notebook():  # it shows stderr as if an error had occurred
        yield _Lines(study, sys.stdout)
        return
    if not sys.stderr.isatty():
        yield _Lines(study)
        return
    live = _Live(study)
    try:
        yield live
    finally:
        live.stop()
