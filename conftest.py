"""Files that import PyTorch or inspect_ai at the top are collected for doctests only where these are installed: `make
test` has neither."""

import signal
from importlib.util import find_spec

NEED_TORCH = ["src/humboldt/training/pytorch/*.py", "tests/agreement/make_*.py", "tests/torch_*.py"]
collect_ignore_glob = [] if find_spec("torch") else NEED_TORCH
collect_ignore = [] if find_spec("inspect_ai") else ["src/humboldt/outside/inspect_ai.py"]

# A shell that starts the tests in the background ignores Ctrl-C for them, and for all commands that they interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
