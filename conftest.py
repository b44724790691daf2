"""Files that import PyTorch at the top are collected for doctests only where it is installed: `make test` has none."""

import signal
from importlib.util import find_spec

NEED_TORCH = ["src/humboldt/training/pytorch/*.py", "tests/agreement/make_*.py", "tests/torch_*.py"]
collect_ignore_glob = [] if find_spec("torch") else NEED_TORCH

# A shell that starts the tests in the background ignores Ctrl-C for them, and for all commands that they interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
