"""Numba's compiler, in a form that works on any disk."""

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as machine code, kept on disk between runs where some folder can be written.

    Numba tries the folder of the source file, then `NUMBA_CACHE_DIR`, then the user's cache. Where it may write to
    none of them (a read-only installation without a home folder) it raises; then every run compiles afresh.
    """
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:
        return numba.njit(function)
