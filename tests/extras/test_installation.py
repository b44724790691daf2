"""Real installations: the base without JAX, and a package from outside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from extras_support import ROOT, install, run

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study, made with JAX."""
    out = tmp_path_factory.mktemp("results")
    small = [
        "--set",
        "steps=3",
        "--set",
        "hidden_size=2",
        "--set",
        "num_test_lengths=1",
        "--set",
        "strings_per_length=2",
        "--seeds",
        "1",
    ]
    cells = ["--task", "parity_check", "--model", "rnn"]
    run(sys.executable, "-m", "humboldt", "run", "chomsky", *cells, *small, "--out", out)
    return out


def test_the_base_lists_samples_plans_and_shows(without_jax: Path, results: Path, tmp_path: Path):
    def humboldt(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run(without_jax, "-m", "humboldt", *arguments, PYTHONPATH="")

    assert "jax" not in run(without_jax, "-m", "pip", "list", PYTHONPATH="").stdout.lower()
    assert "  parity_check " in humboldt("list", "tasks", "chomsky").stdout
    assert "  bilstm " in humboldt("list", "models", "syntax").stdout
    for suite, task in (("chomsky", "parity_check"), ("bliss", "an_bn"), ("syntax", "adj_n_np")):
        assert '"input"' in humboldt("data", suite, task, "--count", "1").stdout
        planned = humboldt("plan", suite, "--task", task, "--out", tmp_path / "none").stderr
        assert f"{suite}, preset quick" in planned and "pip install 'humboldt[zoo]'" in planned
    assert not (tmp_path / "none").exists()
    assert "parity_check" in humboldt("show", results).stdout
    assert "score" in humboldt("show", results, "--json").stdout


def test_a_package_from_outside_is_a_full_citizen(tmp_path: Path):
    install(sys.executable, "--no-deps", "--target", tmp_path / "site", ROOT / "examples" / "plugin")
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])

    def humboldt(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run(sys.executable, "-m", "humboldt", *arguments, PYTHONPATH=path)

    assert "  last_symbol " in humboldt("list", "tasks", "chomsky").stdout
    for suite, is_there in (("chomsky", True), ("bliss", True), ("syntax", False)):
        assert ("  leaky_rnn " in humboldt("list", "models", suite).stdout) is is_there
    assert '"input"' in humboldt("data", "chomsky", "last_symbol", "--count", "1").stdout
    example = tmp_path / "examples.jsonl"
    example.write_text('{"input": "a b", "target": "b"}\n')
    assert "agree" in humboldt("check", "chomsky", "last_symbol", example).stdout

    tasks, models = ["--task", "last_symbol", "--task", "parity_check"], ["--model", "leaky_rnn", "--model", "rnn"]
    small = ["--set", "steps=300", "--set", "num_test_lengths=2", "--set", "strings_per_length=8", "--seeds", "1"]
    command = ["run", "chomsky", *tasks, *models, *small, "--out", tmp_path / "out"]
    rows = [line.split() for line in humboldt(*command).stdout.splitlines()]
    assert ["Level", "Task", "Chance", "Floor", "RNN", "paper", "Leaky", "RNN", "paper"] in rows
    assert ["regular", "last_symbol", "50", "–", "100.0*", "–", "100.0*", "–"] in rows  # no published number
    assert "nothing to do" in humboldt(*command).stderr
    assert "leaky_rnn" in humboldt("show", tmp_path / "out", "--json").stdout

    edited = tmp_path / "site" / "humboldt_example" / "network.py"
    edited.write_text(edited.read_text() + "# edited\n")
    # Task and model are in one package: only the plain RNN on our own task needs no new training.
    assert "1 of 4 members are already finished" in humboldt(*command).stderr
    assert "superseded" in humboldt("show", tmp_path / "out").stdout
