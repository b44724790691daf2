"""Handles the signals that request a stop."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Yields a function that returns whether a stop was requested.

    The first Ctrl-C requests it, and the run polls it; the second raises `KeyboardInterrupt`. SIGTERM, which
    cluster schedulers send before the time limit, and SIGHUP count as Ctrl-C.
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

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield requested.is_set
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
