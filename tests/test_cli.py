"""The command line, in real processes where it matters: power cuts, Ctrl-C, wrong input."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

HUMBOLDT = [sys.executable, "-m", "humboldt"]
SETTINGS = {
    "steps": "2500",
    "batch_size": "8",
    "hidden_size": "16",
    "train_lengths": "1,10",
    "test_lengths": "11,14",
    "strings_per_length": "32",
    "learning_rates": "3e-3",
}
TINY = [text for key, value in SETTINGS.items() for text in ("--set", f"{key}={value}")]
RUN = ["run", "chomsky", "--task", "parity_check", "--task", "even_pairs", "--model", "rnn", "--seeds", "2", *TINY]


def call(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*HUMBOLDT, *arguments], capture_output=True, text=True, timeout=300, **options)


def rows(folder: Path) -> list[tuple]:
    with sqlite3.connect(folder / "results.db") as db:
        return sorted(db.execute("SELECT run, member, state, measures, detail FROM results"))


def start(folder: Path) -> subprocess.Popen[str]:
    command = [*HUMBOLDT, *RUN, "--out", str(folder), "--save-every", "0"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for_checkpoint(process: subprocess.Popen[str], folder: Path) -> None:
    deadline = time.monotonic() + 120
    while not list(folder.glob("checkpoints/*/*.ckpt")):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.02)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    done = call(*RUN, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    assert "parity_check" in done.stdout and "paper" in done.stdout
    assert "Not the paper's setting" in done.stderr and "in all, on this machine" in done.stderr
    assert len(rows(folder)) == 4
    return folder


def test_killed_at_a_random_moment_it_ends_with_the_same_bits(uninterrupted: Path, tmp_path: Path):
    seed = random.randrange(10**6)
    print("seed of the random moments:", seed)
    moments = random.Random(seed)
    for _ in range(3):
        process = start(tmp_path)
        wait_for_checkpoint(process, tmp_path)
        time.sleep(moments.uniform(0, 1.0))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == 0:  # it was faster than the executioner
            break
    done = call(*RUN, "--out", str(tmp_path), "--save-every", "0")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path) == rows(uninterrupted)
    assert not list(tmp_path.glob("checkpoints/*"))  # nothing is left lying about


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_says_how_to_go_on(uninterrupted: Path, tmp_path: Path, number: signal.Signals):
    process = start(tmp_path)
    wait_for_checkpoint(process, tmp_path)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "everything so far is saved" in errors and "humboldt run chomsky --task parity_check" in errors
    assert list(tmp_path.glob("checkpoints/*/*.ckpt"))
    done = call(*RUN, "--out", str(tmp_path))
    assert done.returncode == 0 and rows(tmp_path) == rows(uninterrupted)


def test_two_commands_may_share_a_folder(uninterrupted: Path, tmp_path: Path):
    halves = [[*RUN[:2], "--task", task, *RUN[6:], "--out", str(tmp_path)] for task in ("parity_check", "even_pairs")]
    processes = [
        subprocess.Popen([*HUMBOLDT, *half], stderr=subprocess.PIPE, stdout=subprocess.PIPE) for half in halves
    ]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert rows(tmp_path) == rows(uninterrupted)


def test_the_same_command_again_does_nothing(uninterrupted: Path):
    before = rows(uninterrupted)
    done = call(*RUN, "--out", str(uninterrupted))
    assert done.returncode == 0 and "Nothing to do" in done.stderr
    assert rows(uninterrupted) == before


def test_one_more_seed_trains_one_more_member(uninterrupted: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "results.db").write_bytes((uninterrupted / "results.db").read_bytes())
    arguments = [text if text != "2" else "3" for text in RUN]
    done = call(*arguments, "--out", str(copy), "--dry-run")
    assert done.returncode == 0 and "4 members. Left: 2." in done.stderr
    assert len(rows(copy)) == 4


def test_show(uninterrupted: Path):
    table = call("show", str(uninterrupted))
    assert table.returncode == 0 and "even_pairs" in table.stdout and "Chance" in table.stdout
    records = json.loads(call("show", str(uninterrupted), "--json").stdout)
    assert list(records[0]) == [
        *("suite", "task", "model", "setting", "measure", "statistic", "value", "members", "published")
    ]
    assert len(records) == 10 and records[0]["published"] == 100.0 and records[0]["members"] == 2
    lines = call("show", str(uninterrupted), "--csv", "--suite", "chomsky").stdout.splitlines()
    assert lines[0].startswith("suite,task,model") and len(lines) == 11


def test_dry_run_writes_nothing(tmp_path: Path):
    done = call(*RUN, "--out", str(tmp_path / "new"), "--dry-run")
    assert done.returncode == 0 and "4 members" in done.stderr and done.stdout == ""
    assert not (tmp_path / "new").exists()


def test_list_and_data():
    assert "chomsky" in call("list").stdout
    assert "chomsky/parity_check" in call("list", "tasks").stdout.splitlines()
    assert {"suite": "chomsky", "name": "rnn"} in json.loads(call("list", "models", "--json").stdout)
    lines = call("data", "chomsky", "cycle_navigation", "--count", "2", "--length", "4", "--seed", "3").stdout
    assert [set(json.loads(line)) for line in lines.splitlines()] == [{"input", "target"}] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "chomski"], "No suite named 'chomski'. Did you mean 'chomsky'?"),
        (["run", "chomsky", "--task", "parity"], "No task named 'parity'. Did you mean 'parity_check'?"),
        (["run", "chomsky", "--model", "lsmt"], "No model named 'lsmt'. Did you mean 'lstm'?"),
        (["run", "chomsky", "--preset", "papr"], "No preset named 'papr'. Did you mean 'paper'?"),
        (["run", "chomsky", "--set", "stepz=3"], "No setting named 'stepz'. Did you mean 'steps'?"),
        (["run", "chomsky", "--set", "steps"], "not of the form key=value"),
        (["run", "chomsky", "--seeds", "0"], "at least one seed"),
        (["run", "chomsky", "--out", "/dev/null/x", *TINY], "cannot be written"),
        (["show", "nowhere"], "no file results.db"),
        (["data", "chomsky", "parity"], "Did you mean 'parity_check'?"),
    ],
)
def test_wrong_input_exits_2_and_writes_nothing(arguments: list[str], message: str, tmp_path: Path):
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr and done.stdout == ""
    assert not any(tmp_path.iterdir())


def test_a_database_from_a_newer_schema_is_refused(tmp_path: Path):
    with sqlite3.connect(tmp_path / "results.db") as db:
        db.execute("PRAGMA user_version = 99")
    for arguments in (["show", str(tmp_path)], [*RUN, "--out", str(tmp_path)]):
        done = call(*arguments)
        assert done.returncode == 2 and "written by a newer Humboldt" in done.stderr


def test_a_damaged_checkpoint_is_told_and_survived(uninterrupted: Path, tmp_path: Path):
    process = start(tmp_path)
    wait_for_checkpoint(process, tmp_path)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    newest = max(tmp_path.glob("checkpoints/*/*.ckpt"))
    newest.write_bytes(newest.read_bytes()[:100])
    done = call(*RUN, "--out", str(tmp_path))
    assert done.returncode == 0 and "Damaged checkpoint" in done.stderr
    assert rows(tmp_path) == rows(uninterrupted)


def test_without_jax_the_missing_extra_is_named(tmp_path: Path):
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError(\"No module named 'jax'\", name='jax')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = call("run", "chomsky", "--out", str(tmp_path / "out"), env=environment)
    assert done.returncode == 2 and "pip install 'humboldt[zoo]'" in done.stderr
    assert call("data", "chomsky", "parity_check", env=environment).returncode == 0
    assert call("list", "models", env=environment).returncode == 0


def test_help_does_not_import_jax():
    code = "import sys, humboldt.cli; print('jax' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
    assert "Usage" in call("--help").stdout


def test_check_says_how_somebody_elses_task_differs(tmp_path: Path):
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text('{"input": "1 + 2 * 3", "target": "4"}\n{"input": "1 + 2", "target": "3"}\n')
    done = call("check", "chomsky", "modular_arithmetic_simple", str(theirs))
    assert done.returncode == 1 and "left to right" in done.stdout
    ours = call("data", "chomsky", "modular_arithmetic_simple", "--count", "50").stdout
    theirs.write_text(ours)
    assert call("check", "chomsky", "modular_arithmetic_simple", str(theirs)).returncode == 0
    theirs.write_text("not json")
    done = call("check", "chomsky", "modular_arithmetic_simple", str(theirs))
    assert done.returncode == 2 and "line 1" in done.stderr.lower() and "Traceback" not in done.stderr
    assert call("check", "chomsky", "parity", str(theirs)).returncode == 2
    assert call("check", "chomsky", "parity_check", str(tmp_path / "none")).returncode == 2
