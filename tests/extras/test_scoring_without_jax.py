"""As a new user would: the page's five examples, in an environment that has neither JAX nor PyTorch."""

import subprocess
from pathlib import Path

import pytest
from pages import run_block
from test_score_page import BLOCKS, SUITES

pytestmark = pytest.mark.extras
EXAMPLES = [text for needs_torch, kind, text in BLOCKS if kind == "python" and not needs_torch][: len(SUITES)]


@pytest.mark.parametrize("number", range(len(SUITES)), ids=SUITES)
def test_a_numpy_model_is_scored(number: int, without_jax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", "")
    for package in ("jax", "torch"):
        assert subprocess.run([without_jax, "-c", f"import {package}"], capture_output=True).returncode != 0
    assert run_block("python", EXAMPLES[number], tmp_path, str(without_jax))
