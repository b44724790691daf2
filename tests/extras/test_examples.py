"""The examples are short, and print what they say."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.extras


def printed(name: str) -> str:
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_short():
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 40, path.name


def test_a_network_in_bare_numpy_is_perfect():
    assert "100.0*" in printed("numpy_model.py")


def test_predictions_in_a_file_are_right_as_far_as_they_go():
    out = printed("prediction_file.py")
    assert '"181": 1.0' in out and '"201": 0.5' in out
