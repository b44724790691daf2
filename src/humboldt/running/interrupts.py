"""Handles the signals that request a stop."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from humboldt.report.words import tell

STOPPING = "Stopping: what is being compiled or computed is finished first, then everything is saved."
AGAIN = "Ctrl-C again stops without saving."
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stop_on_interrupt(say: Callable[[str], None] | None = None) -> Iterator[Callable[[], bool]]:
    """Yields a function that returns whether a stop was requested.

    The first Ctrl-C requests it, and the run polls it; the second raises `KeyboardInterrupt`. SIGTERM, which
    cluster schedulers send before the time limit, and SIGHUP count as Ctrl-C. `say` is called with an answer to the
    first one at once; see `acknowledged`.
    """
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield requested.is_set
        return

    def handler(number: int, frame: Any) -> None:
        del number, frame
        if requested.is_set():
            raise KeyboardInterrupt
        requested.set()

    before = {number: signal.signal(number, handler) for number in STOPS}
    try:
        with acknowledged(f"{STOPPING} {AGAIN}", say):
            yield requested.is_set
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def acknowledged(message: str, say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Prints a message as soon as a signal requests a stop, also while the main thread is in a compiler, where Python
    runs no handler. `say` prints it, on a thread of its own; by default to stderr.

    Does nothing outside the main thread, and in programs that watch signals themselves (notebooks).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    earlier = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if earlier != -1:
        signal.set_wakeup_fd(earlier)
        os.close(reading)
        os.close(writing)
        yield
        return

    def watch() -> None:
        while numbers := os.read(reading, 1):
            if numbers[0] in STOPS:
                (say or _print)(message)
                return

    thread = threading.Thread(target=watch, daemon=True, name="humboldt-interrupts")
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        os.close(writing)  # the thread then reads the end
        thread.join(timeout=1)
        os.close(reading)


def _print(message: str) -> None:
    tell(f"\n{message}")
