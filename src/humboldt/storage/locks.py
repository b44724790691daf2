"""Locks of trainings, for several processes that share a folder.

The operating system releases a lock when its process ends, however it ends.
"""

import fcntl
import os
from pathlib import Path


class Lock:
    """An exclusive claim on a file. `claim` never waits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def claim(self) -> bool:
        """Tries to lock the file; returns whether this process has the lock now."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.stat(self.path).st_ino == os.fstat(file).st_ino  # it was not removed in between
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Releases the lock."""
        if self._file is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None
