"""Caches compiled programs on disk."""

import os
from functools import cache
from pathlib import Path

import jax


@cache
def keep_compiled_programs() -> None:
    """Makes JAX cache the programs that it compiles for an accelerator in the user's cache folder.

    Compiling an ensemble of Transformers for a GPU takes most of a minute; a resumed or repeated study should not wait
    for it again. On a CPU nothing is cached: compiling takes seconds, and a program may not run on another machine that
    shares the folder. A folder set by JAX's `JAX_COMPILATION_CACHE_DIR` is used instead.

    Must be called before the first compilation, when JAX reads this setting.
    """
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if jax.default_backend() == "cpu" or chosen is not None:
        return
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    jax.config.update("jax_compilation_cache_dir", str(caches / "humboldt" / "compiled"))
