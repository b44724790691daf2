"""Progress on stderr: a live bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from humboldt.report.words import duration

LINE_SECONDS = 10.0  # between plain lines
WIDE = 110  # columns of a terminal that has room for remarks


class Progress(Protocol):
    """Where a run tells how far it is."""

    def update(self, name: str, done: int, total: int, remark: str) -> None:
        """`done` of `total`; a new `name` starts a new bar."""

    def say(self, message: str) -> None:
        """A line that stays."""


class _Pace:
    """How fast things go, counted from the first time that anything was done."""

    def __init__(self, done: int) -> None:
        self._begun, self._first = time.monotonic(), done

    def rate(self, done: int) -> float:
        """How many per second; 0 as long as that is not known."""
        seconds = time.monotonic() - self._begun
        return (done - self._first) / seconds if seconds > 0 else 0.0

    def words(self, done: int) -> str:
        """`12.5/s`, or for what takes long `2 min each`; nothing as long as it is not known."""
        rate = self.rate(done)
        if not rate:
            return ""
        if rate < 0.1:
            return f"{duration(1 / rate)} each"
        return f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.1f}/s"


class _Lines:
    """One line every few seconds, and one at the end of each bar."""

    def __init__(self) -> None:
        self._name, self._pace, self._told = "", _Pace(0), 0.0

    def update(self, name: str, done: int, total: int, remark: str) -> None:
        now = time.monotonic()
        if name != self._name:
            self._name, self._pace, self._told = name, _Pace(done), now
        if done < total and now - self._told < LINE_SECONDS:
            return
        self._told = now
        rate = self._pace.rate(done)
        left = f"{duration((total - done) / rate)} left" if rate and done < total else ""
        self.say(", ".join(filter(None, [f"{name}: {done:,}/{total:,}", self._pace.words(done), left, remark])))

    def say(self, message: str) -> None:
        print(message, file=sys.stderr, flush=True)


class _Bar:
    """A live bar with rate and time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress
        from rich.table import Column

        console = Console(stderr=True)
        columns = [
            TextColumn("{task.description}", table_column=Column()),  # folded where there is no room; numbers are not
            BarColumn(bar_width=10),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
        ]
        if console.width >= WIDE:
            columns.append(TextColumn("{task.fields[remark]}"))
        self._bars = RichProgress(*columns, console=console)
        self._task = None
        self._name, self._pace = "", _Pace(0)
        self._bars.start()

    def update(self, name: str, done: int, total: int, remark: str) -> None:
        if name != self._name or self._task is None:
            self._name, self._pace = name, _Pace(done)
            self._task = self._bars.add_task(name, total=total, rate="", remark="")
        self._bars.update(self._task, completed=done, total=total, rate=self._pace.words(done), remark=remark)

    def say(self, message: str) -> None:
        self._bars.console.print(message, markup=False, highlight=False)

    def stop(self) -> None:
        self._bars.stop()


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar if stderr is a terminal, lines otherwise."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.stop()
