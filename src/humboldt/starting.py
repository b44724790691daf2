"""Handles Ctrl-C while the command is still importing its packages, which takes about a second."""

import os
import sys
from types import TracebackType


def quiet_interrupts() -> None:
    """Makes Ctrl-C a sentence in place of a traceback, if this process is the command `humboldt`."""
    if os.path.basename(sys.argv[0] if sys.argv else "") not in ("humboldt", "-m"):
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):  # Python then ends as after SIGINT, which shells show as 130
            print("Stopped before anything was run.", file=sys.stderr, flush=True)
        else:
            before(kind, error, trace)

    sys.excepthook = hook


quiet_interrupts()
