"""A decorator around Numba's compiler that works on read-only disks. No other module imports `njit`."""

from collections.abc import Callable
from typing import Any, overload

from numba import njit

Function = Callable[..., Any]


@overload
def compiled(function: Function) -> Any: ...


@overload
def compiled(*, cache: bool = True, **options: Any) -> Callable[[Function], Any]: ...


def compiled(function: Function | None = None, *, cache: bool = True, **options: Any) -> Any:
    """Decorator, with or without options, that compiles a function and caches the machine code on disk.

    Numba's cache is the first writable one of `NUMBA_CACHE_DIR`, the folder of the source file, and the user's cache
    folder. If there is none (a read-only installation without a home folder), `njit(cache=True)` raises at import; here
    every process compiles for itself instead.

    **Arguments:**

    - `cache`: whether to cache it. Numba detects changes only in the function's own file, so a function that calls
      compiled functions of *other* files must not be cached (`mdl/jit.py` works around that), and one that only
      compiled code calls need not be.
    - `options`: those of `numba.njit`, such as `fastmath=True`.

    >>> @compiled(fastmath=True)
    ... def half(x):
    ...     return x / 2
    >>> half(5)
    2.5
    """

    def compile_one(function: Function) -> Any:
        if cache:
            try:
                return njit(cache=True, **options)(function)
            except RuntimeError as error:
                if "cannot cache function" not in str(error):
                    raise
        return njit(**options)(function)

    return compile_one if function is None else compile_one(function)
