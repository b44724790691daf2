"""Ctrl-C is answered at once, also while the main thread runs code in which Python handles no signals."""

import hashlib
import os
import signal
import threading
import time

import pytest

from humboldt.commands.run import resumable
from humboldt.errors import Abandoned, Interrupted
from humboldt.running.interrupts import STOPPING, acknowledged, stop_on_interrupt


def later(seconds: float) -> None:
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def test_a_stop_is_acknowledged_while_the_main_thread_is_in_compiled_code():
    said: list[tuple[str, float]] = []
    with stop_on_interrupt(lambda message: said.append((message, time.monotonic()))) as should_stop:
        later(0.05)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 1_500_000)  # one call, without the lock of the interpreter
        ended = time.monotonic()
        assert should_stop()
    ((message, moment),) = said
    assert message.startswith(STOPPING) and moment < ended


def test_a_measurement_is_interrupted_after_an_answer(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(KeyboardInterrupt), acknowledged("Stopping soon."):
        later(0.05)
        time.sleep(5)
    assert capsys.readouterr().err == "\nStopping soon.\n"
    assert signal.set_wakeup_fd(-1) == -1  # everything is as before


def test_programs_that_watch_signals_themselves_keep_doing_so():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    try:
        with acknowledged("unsaid"):
            assert signal.set_wakeup_fd(writing) == writing
    finally:
        signal.set_wakeup_fd(-1)
        os.close(reading)
        os.close(writing)


def test_other_threads_are_left_alone():
    results: list[bool] = []

    def work() -> None:
        with acknowledged("unsaid"), stop_on_interrupt() as should_stop:
            results.append(should_stop())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [False]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_requests_a_stop_and_the_second_raises(number: signal.Signals):
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), stop_on_interrupt(lambda message: None) as should_stop:
        assert not should_stop()
        os.kill(os.getpid(), number)
        assert should_stop()
        os.kill(os.getpid(), number)
        pytest.fail("the second signal was ignored")
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(
    ("error", "is_saved"), [(Interrupted("x"), True), (Abandoned("x"), False), (KeyboardInterrupt(), False)]
)
def test_only_what_is_saved_is_called_saved(error: BaseException, is_saved: bool):
    with pytest.raises(Interrupted) as told, resumable():
        raise error
    assert ("everything so far is saved" in str(told.value)) == is_saved
    assert ("lost" in str(told.value)) != is_saved and "To resume, run:" in str(told.value)
