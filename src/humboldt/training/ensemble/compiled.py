"""Compiled programs outlive the process that made them."""

import os
from functools import cache
from pathlib import Path

import jax


@cache
def keep_compiled_programs() -> None:
    """From now on JAX keeps what it compiles for an accelerator in the user's cache folder.

    Compiling an ensemble of Transformers for a GPU takes most of a minute; a resumed or repeated study should not wait
    for it again. On a CPU, where compiling takes seconds and a program may not run on the next machine that shares the
    folder, nothing is kept. Who has set JAX's own `JAX_COMPILATION_CACHE_DIR` keeps that.

    Must be called before the first compilation: JAX then decides once and for all.
    """
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if jax.default_backend() == "cpu" or chosen is not None:
        return
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    jax.config.update("jax_compilation_cache_dir", str(caches / "humboldt" / "compiled"))
