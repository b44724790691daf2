"""Checks the platform, and handles Ctrl-C while the command is still importing its packages, which takes a second."""

import importlib.util
import os
import sys
from types import TracebackType


def check_platform() -> None:
    """Raises an `ImportError`, or ends the command `humboldt`, where files cannot be locked as on Linux and macOS."""
    if importlib.util.find_spec("fcntl") is not None:
        return
    sentence = (
        f"Humboldt does not run on this platform ({sys.platform}): it locks files with Python's module `fcntl`, which "
        "exists only on Linux and macOS. On Windows, install it in the Windows Subsystem for Linux (WSL)."
    )
    if is_command():
        sys.exit(f"Error: {sentence}")
    raise ImportError(sentence)


def is_command() -> bool:
    """Returns whether this process is the command `humboldt`."""
    return os.path.basename(sys.argv[0] if sys.argv else "") in ("humboldt", "humboldt.exe", "-m")


def quiet_interrupts() -> None:
    """Makes Ctrl-C print a sentence instead of a traceback, if this process is the command `humboldt`."""
    if not is_command():
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):  # Python then ends as after SIGINT, which shells show as 130
            print("Stopped before anything was run.", file=sys.stderr, flush=True)
        else:
            before(kind, error, trace)

    sys.excepthook = hook


check_platform()
quiet_interrupts()
