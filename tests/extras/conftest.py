"""Environments of their own, made once for all tests of this folder.

`HUMBOLDT_TORCH_PYTHON` and `HUMBOLDT_LM_EVAL_PYTHON` name the Python of an environment that is there already.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from extras_support import LM_EVAL, ROOT, TORCH, environment_upon, install

# `make test` collects this folder without PyTorch, which these files import at the top.
collect_ignore = (
    [] if importlib.util.find_spec("torch") else [path.name for path in Path(__file__).parent.glob("test_torch*.py")]
)


@pytest.fixture(scope="session")
def without_jax(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has the base and nothing else."""
    python = environment_upon(tmp_path_factory.mktemp("environment"))
    install(python, ROOT)
    return python


@pytest.fixture(scope="session")
def with_torch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with PyTorch and `transformers`: ours, unless it is an installation without them."""
    if "HUMBOLDT_TORCH_PYTHON" in os.environ:
        return Path(os.environ["HUMBOLDT_TORCH_PYTHON"])
    if all(importlib.util.find_spec(name) for name in ("torch", "transformers")):
        return Path(sys.executable)
    python = environment_upon(tmp_path_factory.mktemp("torch"), request.getfixturevalue("without_jax"))
    install(python, *TORCH)
    return python


@pytest.fixture(scope="session")
def with_lm_eval(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with lm-evaluation-harness, which brings some 87 packages."""
    if "HUMBOLDT_LM_EVAL_PYTHON" in os.environ:
        return Path(os.environ["HUMBOLDT_LM_EVAL_PYTHON"])
    python = environment_upon(tmp_path_factory.mktemp("lm_eval"), request.getfixturevalue("without_jax"))
    install(python, *LM_EVAL, *TORCH, PIP_CONSTRAINT="")  # it has opinions of its own about versions
    return python
