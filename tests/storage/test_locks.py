import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from humboldt.storage.locks import Lock


def test_a_claim_is_exclusive_and_never_waits(tmp_path: Path):
    path = tmp_path / "folder" / "one.lock"
    first, second = Lock(path), Lock(path)
    assert first.claim() and not second.claim()
    first.release()
    assert not path.exists() and second.claim()
    first.release()  # gives up nothing that is not its own
    assert path.exists() and not Lock(path).claim()
    second.release()


def test_a_killed_process_leaves_no_claim(tmp_path: Path):
    path = tmp_path / "one.lock"
    code = f"""
import time
from pathlib import Path
from humboldt.storage.locks import Lock
lock = Lock(Path({str(path)!r}))
print(lock.claim(), flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline().strip() == "True"
    assert not Lock(path).claim()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 10
    lock = Lock(path)
    while not lock.claim():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    lock.release()
