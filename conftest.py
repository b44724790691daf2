"""Files that import PyTorch at the top are collected for doctests only where it is installed: `make test` has none."""

from importlib.util import find_spec

NEED_TORCH = ["src/humboldt/training/pytorch/*.py", "tests/agreement/make_*.py", "tests/torch_support.py"]
collect_ignore_glob = [] if find_spec("torch") else NEED_TORCH
