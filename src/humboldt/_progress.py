"""Progress on stderr: a live bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from humboldt.report.words import duration

LINE_SECONDS = 10.0  # between plain lines


class Progress(Protocol):
    """Where a run tells how far it is."""

    def update(self, name: str, done: int, total: int, remark: str) -> None:
        """`done` of `total`; a new `name` starts a new bar."""

    def say(self, message: str) -> None:
        """A line that stays."""


class _Lines:
    """One line every few seconds, and one at the end of each bar."""

    def __init__(self) -> None:
        self._name, self._begun, self._first, self._told = "", 0.0, 0, 0.0

    def update(self, name: str, done: int, total: int, remark: str) -> None:
        now = time.monotonic()
        if name != self._name:
            self._name, self._begun, self._first, self._told = name, now, done, now
        if done < total and now - self._told < LINE_SECONDS:
            return
        self._told = now
        rate = (done - self._first) / (now - self._begun) if now > self._begun else 0.0
        left = f", {duration((total - done) / rate)} left" if rate > 0 and done < total else ""
        self.say(f"{name}: {done:,}/{total:,}, {rate:,.1f}/s{left}{', ' + remark if remark else ''}")

    def say(self, message: str) -> None:
        print(message, file=sys.stderr, flush=True)


class _Bar:
    """A live bar with rate and time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[remark]}"),
            console=Console(stderr=True),
        )
        self._task = None
        self._name, self._begun, self._first = "", 0.0, 0
        self._bars.start()

    def update(self, name: str, done: int, total: int, remark: str) -> None:
        now = time.monotonic()
        if name != self._name or self._task is None:
            self._name, self._begun, self._first = name, now, done
            self._task = self._bars.add_task(name, total=total, rate="", remark="")
        rate = (done - self._first) / (now - self._begun) if now > self._begun else 0.0
        self._bars.update(self._task, completed=done, total=total, rate=f"{rate:,.0f}/s", remark=remark)

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
