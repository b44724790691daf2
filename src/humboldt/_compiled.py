"""Numba's compiler, in a form that works on any disk. No other module imports `njit`."""

from collections.abc import Callable
from typing import Any, overload

from numba import njit

Function = Callable[..., Any]


@overload
def compiled(function: Function) -> Any: ...


@overload
def compiled(*, cache: bool = True, **options: Any) -> Callable[[Function], Any]: ...


def compiled(function: Function | None = None, *, cache: bool = True, **options: Any) -> Any:
    """Decorator, with or without options: the function as machine code, kept on disk between runs.

    Numba keeps it in `NUMBA_CACHE_DIR`, else beside the source file, else in the user's cache folder, whichever can be
    written first. Where none can (a read-only installation, and no home folder), `njit(cache=True)` raises at import.
    Here every process compiles for itself instead.

    **Arguments:**

    - `cache`: whether to keep it at all. Numba looks for changes in the function's own file only, so a function must
      not be kept that calls compiled functions of *other* files (`mdl/jit.py` has a way round that), and one that only
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
