"""Doctests of files that import PyTorch at the top are collected only where it is installed: `make test` has none."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/humboldt/training/pytorch/*.py"]
