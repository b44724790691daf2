"""Decorators for compiled functions, and for compiled entry points that are cached on disk between processes.

Numba's cache checks the file of the function it caches, not the files of the functions it calls: after an edit to a
callee it would still run the old code. Two rules make it safe here:

- functions that are only called by compiled code are decorated with `inner` or `inlined` (never cached);
- the few that Python calls are made by `entry`, inside a function that passes them `SOURCES`. The key of Numba's cache
  includes the closure's values, so any edit in this folder or in `search/` leads to a new compilation.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from humboldt.compiled import compiled

FOLDER = Path(__file__).parent


def _digest_of_this_folder() -> int:
    digest = hashlib.sha256()
    for path in sorted(FOLDER.rglob("*.py")):
        digest.update(str(path.relative_to(FOLDER)).encode() + path.read_bytes())
    return int.from_bytes(digest.digest()[:7], "big")


SOURCES = _digest_of_this_folder()


# `error_model="numpy"`: a division by zero gives infinity or NaN. Python's model adds an error path to every function
# that divides, and with it reference counting that Numba cannot remove: it cost more than the arithmetic.
inner = compiled(cache=False, error_model="numpy")
inlined = compiled(cache=False, error_model="numpy", inline="always")


def entry(make: Callable[[int], Callable[..., Any]]) -> Any:
    """Compiles the function that `make(SOURCES)` returns, cached on disk where a cache folder is available."""
    return compiled(error_model="numpy")(make(SOURCES))
