import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from humboldt.training.ensemble.compiled import keep_compiled_programs

ANOTHER_DEVICE = """
import jax
from humboldt.training.ensemble.compiled import keep_compiled_programs

cpu = jax.default_backend
jax.default_backend = lambda: "gpu"
keep_compiled_programs()
jax.default_backend = cpu
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)  # a program that is quick to compile will do
jax.jit(lambda x: x + 1)(1.0)
"""


def test_on_a_cpu_nothing_is_kept():
    folder_of_the_tests = os.environ["JAX_COMPILATION_CACHE_DIR"]
    jax.config.update("jax_compilation_cache_dir", None)
    try:
        keep_compiled_programs.__wrapped__()  # also if another test has called it before
        assert jax.config.jax_compilation_cache_dir is None  # pyright: ignore[reportAttributeAccessIssue]
    finally:
        jax.config.update("jax_compilation_cache_dir", folder_of_the_tests)


@pytest.mark.parametrize("own_folder", [False, True])
def test_on_an_accelerator_programs_are_kept(tmp_path: Path, own_folder: bool):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "caches")
    wanted = tmp_path / "caches" / "humboldt" / "compiled"
    if own_folder:
        wanted = tmp_path / "own"
        environment["JAX_COMPILATION_CACHE_DIR"] = str(wanted)
    subprocess.run([sys.executable, "-c", ANOTHER_DEVICE], env=environment, check=True)
    assert list(wanted.glob("jit__lambda*"))
    assert (tmp_path / "caches").exists() is not own_folder
