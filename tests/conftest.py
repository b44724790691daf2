"""Shared fixtures. JAX is strict here: a silent promotion or broadcast is an error."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import pytest
from engine_support import clockwork as clockwork
from forking import Forked

from humboldt.languages import tasks
from humboldt.models import models
from humboldt.models.own import modules
from humboldt.suites import suites

# Most of the time of the tests is XLA compiling programs that run once. It reads these flags before it compiles the
# first one, here and in the processes that tests start. Without fusion emitters a program is compiled in half the time.
QUICK_TO_COMPILE = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
if jax.__version_info__ >= (0, 7):  # XLA aborts if it does not know a flag
    QUICK_TO_COMPILE += " --xla_cpu_use_fusion_emitters=false"
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICK_TO_COMPILE}"

# All processes of one run of the tests share what they compile. The first one makes the folder, and removes it.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    PROGRAMS = tempfile.mkdtemp(prefix="humboldt-tests-")
    atexit.register(shutil.rmtree, PROGRAMS, ignore_errors=True)
    smallest = {"jax_persistent_cache_min_compile_time_secs": 0, "jax_persistent_cache_min_entry_size_bytes": -1}
    for name, value in {"jax_compilation_cache_dir": PROGRAMS, **smallest}.items():
        os.environ[name.upper()] = str(value)
        jax.config.update(name, value)

# Estimates that were remembered by an earlier run of the tests, or by the user, are none of their business.
if "HUMBOLDT_TESTS_CACHE" not in os.environ:
    os.environ["HUMBOLDT_TESTS_CACHE"] = os.environ["XDG_CACHE_HOME"] = CACHE = tempfile.mkdtemp(
        prefix="humboldt-cache-"
    )
    atexit.register(shutil.rmtree, CACHE, ignore_errors=True)

# It registers a suite, which tests give to processes of their own; the other runs in an environment of its own.
collect_ignore = ["fault_plugin.py", "agreement/make_mixers.py"]

MOST_BYTES = 1.5e9  # of one process, before it forgets what it has compiled

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(scope="module", autouse=True)
def few_programs_in_memory() -> Iterator[None]:
    """Compiled programs stay in memory, those of all files of tests up to 4 GB."""
    yield
    resident_pages = int(Path("/proc/self/statm").read_text().split()[1])
    if resident_pages * os.sysconf("SC_PAGESIZE") > MOST_BYTES:
        jax.clear_caches()


@pytest.fixture(scope="module")
def forked() -> Iterator[Forked]:
    """A process that has imported the package, to be copied for each command."""
    forked = Forked()
    yield forked
    forked.stop()


@pytest.fixture
def getkey() -> Callable[[], Any]:
    """Fresh keys, the same in every run."""
    state = [jax.random.key(0)]

    def fresh() -> Any:
        state[0], key = jax.random.split(state[0])
        return key

    return fresh


@pytest.fixture
def registrations_undone() -> Iterator[None]:
    """What a test registers is gone after it; files of ours that it was the first to read stay."""
    yield from _registrations_undone()


@pytest.fixture(scope="module")
def registrations_undone_at_last() -> Iterator[None]:
    """The same after all tests of a file: a plugin is read once, whoever asks for it again."""
    yield from _registrations_undone()


def _registrations_undone() -> Iterator[None]:
    registries = (tasks, models, modules, suites)
    # Models of files that other tests have read: the same names may now be those of other files.
    aside = [
        {name: registry._entries.pop(name) for name in [*registry._entries] if ".py:" in name}
        for registry in registries
    ]
    before = [{*registry._files, *registry._entries} for registry in registries]
    yield
    for registry, names, others in zip(registries, before, aside, strict=True):
        for name in {*registry._entries} - names:
            del registry._entries[name]
        registry._entries.update(others)  # pyright: ignore[reportArgumentType, reportCallIssue]
