"""A PyTorch module with a fault is named before it is trained, by `humboldt check model` and by `humboldt run`."""

import sys
from pathlib import Path
from typing import Any

import pytest

from humboldt import cli, plugins

pytestmark = pytest.mark.extras

SOUND = """
import torch
from torch import nn


class Mine(nn.Module):
    def __init__(self, input_size, output_size, hidden_size=8):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens):
        states = self.gru(self.embedding(tokens))[0]
        return self.readout(states)
"""
READS_BOTH_WAYS = (
    "hidden_size, hidden_size, batch_first=True",
    "hidden_size, hidden_size // 2, 1, True, True, 0, True",
)
# The file above with one text replaced by another, the task, and what the user reads.
FAULTS: dict[str, tuple[str, str, str, str]] = {
    "detached": ("self.readout(states)", "self.readout(states).detach()", "chomsky", "no parameter gets a gradient"),
    "without gradient": (
        "return self.readout(states)",
        "with torch.no_grad():\n            return self.readout(states)",
        "chomsky",
        "no parameter gets a gradient",
    ),
    "vocab_size": ("input_size", "vocab_size", "chomsky", "Rename `vocab_size` to `input_size`"),
    "num_classes": ("output_size", "num_classes", "chomsky", "Rename `num_classes` to `output_size`"),
    "no default": ("hidden_size=8", "hidden_size", "chomsky", "its parameter 'hidden_size' has no default"),
    "padding": ("(states)", "(states + states.mean(1, keepdim=True))", "chomsky", "of padding after a row of length"),
    "reads ahead": (*READS_BOTH_WAYS, "bliss", "a later symbol changes answers"),
    "time first": (
        "(states)",
        "(states).transpose(0, 1)",
        "chomsky",
        "Batch and time are swapped: use batch_first=True",
    ),
    "a pair": ("[0]\n        return self.readout(states)", "\n        return states", "chomsky", "returned a tuple"),
    "one answer": ("(states)", "(states)[:, -1]", "chomsky", "It answers once for each string"),
    "wrong outputs": ("hidden_size, output_size)", "hidden_size, 7)", "chomsky", "The last layer has 7 outputs"),
    "not finite": ("(states)", "(states) / 0.0", "chomsky", "logits that are not finite numbers"),
    "raises": ("(states)", "(states @ states)", "chomsky", "forward raised RuntimeError"),
}
TASKS = {"chomsky": "parity_check", "bliss": "an_bn"}
FEW = {
    "chomsky": ("--set", "steps=1", "--set", "num_test_lengths=1", "--set", "strings_per_length=1"),
    "bliss": ("--set", "epochs=1", "--set", "factors=1"),
}


@pytest.fixture(autouse=True)
def files_unread(registrations_undone: None):
    plugins._load_file.cache_clear()
    yield
    plugins._load_file.cache_clear()


def command(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str]:
    sys.argv = ["humboldt", *map(str, arguments)]
    try:
        cli.main()
        code = 0
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_a_sound_module_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "mine.py"
    path.write_text(SOUND)
    for suite, task in TASKS.items():
        code, told = command(capsys, "check", "model", f"{path}:Mine", "--on", f"{suite}/{task}")
        assert code == 0 and "Ready to be trained." in told and "of padding after a row of length" in told
    code, told = command(capsys, "check", "model", path, "--on", "chomsky/parity_check")
    assert code == 2 and "Say which of its models: Mine" in told
    code, told = command(capsys, "run", "chomsky", "--model", path)
    assert code == 2 and "Say which of its models: Mine" in told


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_is_named_before_training(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    old, new, suite, message = FAULTS[fault]
    assert old in SOUND
    path = tmp_path / "mine.py"
    path.write_text(SOUND.replace(old, new))
    code, told = command(capsys, "check", "model", f"{path}:Mine", "--on", f"{suite}/{TASKS[suite]}")
    assert code in (1, 2) and message in told and "Traceback" not in told
    options = "--task", TASKS[suite], "--seeds", "1", "--out", tmp_path / "out", *FEW[suite]
    code, told = command(capsys, "run", suite, "--model", f"{path}:Mine", *options)
    assert message in told and "Traceback" not in told
    is_warning = fault == "padding"  # the results of such a network depend on batches, but can be trained
    assert (code == 0) == is_warning and bool(list((tmp_path / "out").rglob("*.weights"))) == is_warning


def test_a_bidirectional_network_fails_both_checks_on_bliss(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "mine.py"
    path.write_text(SOUND.replace(*READS_BOTH_WAYS))
    code, told = command(capsys, "check", "model", f"{path}:Mine", "--on", "bliss/an_bn")
    assert code == 1 and "FAILED  padding" in told and "FAILED  causality" in told
