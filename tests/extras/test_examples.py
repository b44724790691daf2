"""The examples are short, and print what they say."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.extras


def printed(*command: str | Path) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_short():
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 40, path.name


def test_a_network_in_bare_numpy_is_perfect():
    assert "100.0*" in printed(EXAMPLES / "numpy_model.py")


def test_predictions_in_a_file_are_right_as_far_as_they_go():
    out = printed(EXAMPLES / "prediction_file.py")
    assert '"181": 1.0' in out and '"201": 0.5' in out


def test_a_network_in_flax_is_trained_on_a_task_from_outside(tmp_path: Path):
    task = ["--plugin", EXAMPLES / "plugin/src/humboldt_example/__init__.py", "--task", "last_symbol"]
    small = "hidden_size=16 steps=150 train_lengths=1,10 test_lengths=11,30 num_test_lengths=1 strings_per_length=8"
    changes = [part for change in small.split() for part in ("--set", change)]
    model = ["--model", f"{EXAMPLES / 'flax_gru.py'}:gru", "--seeds", "2", "--no-estimate", "--out", tmp_path]
    out = printed("-m", "humboldt", "run", "chomsky", *task, *model, *changes)
    assert ["regular", "last_symbol", "50", "–", "100.0*", "–"] in [line.split() for line in out.splitlines()]
    assert "Best of 2 members" in out  # trained as one ensemble
