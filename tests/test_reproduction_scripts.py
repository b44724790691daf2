"""The scripts that run the papers' cells on a GPU: what they would run can be run, and they stop when they should."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pages import ROOT, call

Bash = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def bash(tmp_path: Path) -> Bash:
    """Runs bash where `python3` writes down the commands of humboldt that it is given, and does nothing else."""
    fake = tmp_path / "bin" / "python3"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\n[ "$1" = -m ] || exec "{sys.executable}" "$@"\necho "$@" >> "{tmp_path}/commands"\n')
    fake.chmod(0o755)

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}", **variables}
        return subprocess.run(
            ["bash", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
        )

    return run


def trainings(folder: Path) -> list[list[str]]:
    """The arguments of every `humboldt run` that was written down."""
    commands = map(shlex.split, (folder / "commands").read_text().splitlines())
    return [arguments[2:] for arguments in commands if arguments[2] == "run"]


@pytest.mark.parametrize(("part", "count"), [("count10", 4), ("agreement", 16), ("lengths", 16), ("scan", 4)])
def test_cells_of_bias_can_be_planned(bash: Bash, tmp_path: Path, part: str, count: int) -> None:
    assert bash("reproductions/bias/run.sh", str(tmp_path / "out"), part).returncode == 0
    commands = trainings(tmp_path)
    assert len(commands) == count
    for arguments in commands:
        call(*arguments, "--dry-run")


def test_cells_of_bias_can_be_chosen(bash: Bash, tmp_path: Path) -> None:
    choice = {"MODELS": "cnn_s2s", "CELLS": "composition_or_memorization:M=36", "EXTRA": "--set precision=tf32"}
    assert bash("reproductions/bias/run.sh", str(tmp_path / "out"), "lengths", **choice).returncode == 0
    (arguments,) = trainings(tmp_path)
    assert {"composition_or_memorization", "M=36", "cnn_s2s", "precision=tf32"} <= set(arguments)


def test_cells_of_pcfg_set_can_be_planned(bash: Bash, tmp_path: Path) -> None:
    done = bash("reproductions/pcfg_set/run.sh", OUT=str(tmp_path / "out"), MODELS="transformer")
    assert done.returncode == 0, done.stderr
    commands = trainings(tmp_path)
    assert len(commands) == 6
    for arguments in commands[:2]:  # others have the same options
        call(*arguments, "--dry-run")
