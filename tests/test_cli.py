"""The command line: in this process, and in real ones where it matters (power cuts, Ctrl-C, two at once)."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from engine_support import Clockwork
from kept_support import fill

import humboldt
from humboldt import cli
from humboldt.commands.run import demo_studies
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.settings import parse_assignments
from humboldt.suites import catalogue

SETTINGS = {
    "steps": "1200",
    "batch_size": "8",
    "hidden_size": "16",
    "train_lengths": "1,10",
    "test_lengths": "11,14",
    "strings_per_length": "32",
    "learning_rates": "3e-3",
}
TINY = [text for key, value in SETTINGS.items() for text in ("--set", f"{key}={value}")]
RUN = ["run", "chomsky", "--task", "parity_check", "--task", "even_pairs", "--model", "rnn", "--seeds", "2", *TINY]
HUMBOLDT = [sys.executable, "-m", "humboldt"]


class Said(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Said]


def call_with(capture: pytest.CaptureFixture[str], *arguments: str) -> Said:
    capture.readouterr()
    before = sys.argv
    sys.argv = ["humboldt", *arguments]
    try:
        cli.main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        sys.argv = before
    captured = capture.readouterr()
    return Said(code, captured.out, captured.err)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """`humboldt` with these arguments, in this process."""
    return lambda *arguments: call_with(capsys, *arguments)


def rows(folder: Path) -> list[tuple]:
    """Everything that must be the same in the end, but for seconds and dates."""
    db = sqlite3.connect(folder / "results.db")
    try:
        return sorted(
            [
                *db.execute("SELECT training, member, state, detail, '' FROM members"),
                *db.execute("SELECT evaluation, member, state, detail, measures FROM scores"),
            ]
        )
    finally:
        db.close()


def start(folder: Path) -> subprocess.Popen[str]:
    command = [*HUMBOLDT, *RUN, "--out", str(folder), "--save-every", "0"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for_checkpoint(process: subprocess.Popen[str], folder: Path) -> None:
    deadline = time.monotonic() + 240
    while not list(folder.glob("checkpoints/*/*.ckpt")):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.02)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    sys.argv, before = ["humboldt", *RUN, "--out", str(folder)], sys.argv
    try:
        cli.main()
    except SystemExit as leaving:
        assert not leaving.code
    finally:
        sys.argv = before
    assert len(rows(folder)) == 8 and not list(folder.glob("checkpoints/*")) and not list(folder.glob("locks/*"))
    return folder


def test_killed_at_a_random_moment_it_ends_with_the_same_bits(uninterrupted: Path, tmp_path: Path, call: Call):
    seed = random.randrange(10**6)
    print("seed of the random moments:", seed)
    moments = random.Random(seed)
    for _ in range(2):
        process = start(tmp_path)
        wait_for_checkpoint(process, tmp_path)
        time.sleep(moments.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == 0:  # it was faster than the executioner
            break
    done = call(*RUN, "--out", str(tmp_path), "--save-every", "0")
    assert done.code == 0, done.err
    assert rows(tmp_path) == rows(uninterrupted)
    assert not list(tmp_path.glob("checkpoints/*"))  # nothing is left lying about


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_says_how_to_go_on(uninterrupted: Path, tmp_path: Path, number: signal.Signals, call: Call):
    process = start(tmp_path)
    wait_for_checkpoint(process, tmp_path)
    process.send_signal(number)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 130, errors
    assert "everything so far is saved" in errors and "humboldt run chomsky --task parity_check" in errors
    newest = max(tmp_path.glob("checkpoints/*/*.ckpt"))
    if number == signal.SIGTERM:
        newest.write_bytes(newest.read_bytes()[:100])
    done = call(*RUN, "--out", str(tmp_path))
    assert done.code == 0 and rows(tmp_path) == rows(uninterrupted)
    assert ("Damaged checkpoint" in done.err) == (number == signal.SIGTERM)


def test_two_commands_may_share_a_folder_and_the_work(uninterrupted: Path, tmp_path: Path, call: Call):
    other = start(tmp_path)
    wait_for_checkpoint(other, tmp_path)
    done = call(*RUN, "--out", str(tmp_path))
    _, errors = other.communicate(timeout=300)
    assert done.code == other.returncode == 0, errors + done.err
    assert rows(tmp_path) == rows(uninterrupted)
    assert not list(tmp_path.glob("checkpoints/*")) and not list(tmp_path.glob("locks/*"))


def test_python_minus_m_is_the_same_command():
    done = subprocess.run([*HUMBOLDT, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "Usage" in done.stdout and "run" in done.stdout


def test_no_line_of_help_is_cut(call: Call, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert call("--help").out.count("...") == 1  # [ARGS]...


def test_help_imports_neither_jax_nor_rich():
    code = "import sys, humboldt.cli; print('jax' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_without_jax_the_missing_extra_is_named(tmp_path: Path):
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError(\"No module named 'jax'\", name='jax')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    commands = [
        *(["data", "chomsky", "parity_check"], ["list", "models"], ["list", "tasks"]),
        ["run", "chomsky", "--out", str(tmp_path / "out")],
    ]
    code = f"""
import sys
from humboldt import cli
codes = []
for command in {commands!r}:
    sys.argv = ["humboldt", *command]
    try:
        cli.main()
        codes.append(0)
    except SystemExit as leaving:
        codes.append(leaving.code or 0)
print(codes)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 2]" and "pip install 'humboldt[zoo]'" in done.stderr


def test_a_run_says_what_it_will_do_and_prints_the_table(clockwork: Clockwork, tmp_path: Path, call: Call):
    done = call(*RUN, "--out", str(tmp_path))
    assert done.code == 0 and "parity_check" in done.out and "paper" in done.out
    assert "chomsky, preset quick: 2 experiments, 4 members in all." in done.err
    assert "Not the paper's setting: " in done.err and "in all, on this machine" in done.err
    told = "(best of 2 members), 1 s [2 of 2 experiments finished]"
    assert told in done.err and told not in done.out  # results on stdout, progress elsewhere
    again = call(*RUN, "--out", str(tmp_path))
    assert again.code == 0 and "nothing to do" in again.err and again.out == done.out and clockwork.trained == [2, 2]


def test_one_more_seed_trains_one_more_member(clockwork: Clockwork, tmp_path: Path, call: Call):
    call(*RUN, "--out", str(tmp_path))
    before = rows(tmp_path)
    done = call(*[text if text != "2" else "3" for text in RUN], "--out", str(tmp_path), "--dry-run")
    assert done.code == 0 and f"4 of 6 members are already finished in `{tmp_path}`." in done.err
    assert rows(tmp_path) == before and clockwork.trained == [2, 2]


def test_which_members_are_kept(clockwork: Clockwork, tmp_path: Path, call: Call):
    for keep, count in (("none", 0), ("best", 2), ("all", 4)):
        done = call(*RUN, "--out", str(tmp_path / keep), "--keep", keep)
        assert len(list((tmp_path / keep).glob("weights/*/*.weights"))) == count
        assert (f"{count} trained members, 1 kB." in done.err) == (count > 0)


@pytest.mark.parametrize("command", [[*RUN, "--dry-run"], ["plan", *RUN[1:]]])
def test_planning_writes_nothing(clockwork: Clockwork, tmp_path: Path, call: Call, command: list[str]):
    done = call(*command, "--out", str(tmp_path / "new"))
    assert done.code == 0 and "4 members" in done.err and done.out == ""
    assert not (tmp_path / "new").exists() and clockwork.trained == []


def test_a_failed_run_exits_1_and_its_traceback_can_be_shown(clockwork: Clockwork, tmp_path: Path, call: Call):
    def fail(job) -> None:
        raise ZeroDivisionError("oh dear")

    clockwork.on_train = fail
    done = call(*RUN, "--out", str(tmp_path))
    *_, sentence, command = done.err.splitlines()
    assert done.code == 1 and sentence.startswith("Error: 2 of 2 experiments failed")
    assert command == f"  humboldt show {tmp_path} --failures"
    shown = call("show", str(tmp_path), "--failures")
    assert shown.code == 0 and "ZeroDivisionError: oh dear" in shown.out and "Traceback" in shown.out
    assert "failed" in call("show", str(tmp_path)).out


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results that nothing has trained."""
    folder = tmp_path_factory.mktemp("shown")
    study = humboldt.plan(
        "chomsky", tasks=["even_pairs", "parity_check"], models=["rnn"], preset="quick", seeds=2, out=folder
    )
    for experiment in study.experiments:
        members = [{"learning_rate": 0.004, "seed": seed} for seed in (0, 1)]
        assert all(member in experiment.members for member in members)
        trained = [TrainedMember(member, State.FINISHED, 2.5) for member in members]
        scored = [ScoredMember(member, State.FINISHED, {"score": 0.5}) for member in members]
        study.store.add(experiment.training, trained, [(experiment.evaluations[0], scored)], format=study.suite.format)
    return folder


def test_show(shown: Path, call: Call):
    table = call("show", str(shown))
    assert table.code == 0 and "even_pairs" in table.out and "Chance" in table.out and table.err == ""
    records = json.loads(call("show", str(shown), "--json").out)
    assert list(records[0]) == [
        *("suite", "task", "model", "setting", "measure", "statistic", "value", "members", "published")
    ]
    assert len(records) == 24 and records[0]["published"] == 100.0 and records[0]["members"] == 2
    lines = call("show", str(shown), "--csv", "--suite", "chomsky").out.splitlines()
    assert lines[0].startswith("suite,task,model") and len(lines) == 25
    assert call("show", str(shown), "--suite", "bliss").out == "No results yet.\n"
    assert call("show", str(shown), "--failures").out == "Nothing has failed.\n"
    only = call("show", str(shown), "--task", "even_pairs", "--model", "rnn", "--preset", "quick")
    assert "even_pairs" in only.out and "parity_check" not in only.out
    members = json.loads(call("show", str(shown), "--members", "--json").out)
    assert len(members) == 4 and members[0]["score"] == 0.5 and members[1]["seed"] == 1
    assert call("show", str(shown), "--curves").out == ""


def test_list_and_data(call: Call):
    assert "chomsky" in call("list").out
    assert "\n  parity_check " in call("list", "tasks").out and "an_bn" not in call("list", "tasks", "chomsky").out
    models = json.loads(call("list", "models", "--json").out)
    assert ("chomsky", "rnn") in [(one["suite"], one["name"]) for one in models]
    assert "  hidden_size=256\n" in call("list", "settings", "chomsky", "--model", "rnn").out
    whole = call("data", "chomsky", "reverse_string", "--length", "5", "--count", "10").out
    assert whole.startswith(call("data", "chomsky", "reverse_string", "--length", "5", "--count", "1").out)
    lines = call("data", "chomsky", "cycle_navigation", "--count", "2", "--length", "4", "--seed", "3").out
    assert [set(json.loads(line)) for line in lines.splitlines()] == [{"input", "target"}] * 2
    released = call("data", "bliss", "an_bn", "--split", "test", "--after", "2", "--count", "2", "--format", "released")
    assert released.out == "#aaabbb#\n#aaaabbbb#"


def test_show_has_one_heading_for_the_same_settings_and_names_who_departs(
    clockwork: Clockwork, tmp_path: Path, call: Call
):
    out, settings = ["--out", str(tmp_path)], ["steps=20", "num_test_lengths=2"]
    for task, order in (("parity_check", settings), ("modular_arithmetic_simple", settings[::-1])):
        changed = [text for setting in order for text in ("--set", setting)]
        assert call("run", "chomsky", "--task", task, "--model", "rnn", "--no-estimate", *changed, *out).code == 0
    shown = call("show", str(tmp_path)).out
    assert shown.count("chomsky, quick, num_test_lengths=2, steps=20\n") == 1 == shown.count("Table 2.")
    note = " ".join(shown.partition("Not the paper's setting: ")[2].partition(".\n\n")[0].split())
    everybody, simple, parity = note.split("; ")
    assert "steps 20 (paper: 1,000,000)" in everybody and "seeds" not in everybody
    assert simple.startswith("modular_arithmetic_simple: ") and "seeds 1 (paper: 10)" in simple
    assert parity.startswith("parity_check: ") and "hidden_size 64 (paper: 256)" in parity


def test_inspect_prints_what_a_kept_member_does(tmp_path: Path, call: Call):
    settings = {"hidden_size": 4, "learning_rates": (1e-3,)}
    fill(tmp_path, "chomsky", "parity_check", "rnn", settings, seeds=2)
    which = ["--suite", "chomsky", "--task", "parity_check", "--model", "rnn", "--input", "a b b"]
    text = call("inspect", str(tmp_path), *which, "--member", "best")
    assert text.code == 0 and "Read: a b b ∅" in text.out and "hidden" in text.out and text.err == ""
    found = json.loads(
        call("inspect", str(tmp_path), *which, "--member", "seed=0", "--set", "hidden_size=4", "--json").out
    )
    assert "seed 0" in found["title"] and found["internals"]["hidden"]["shape"] == [4, 4]
    several = call("inspect", str(tmp_path), *which)
    assert several.code == 2 and "2 kept members match" in several.err
    unknown = call("inspect", str(tmp_path), *which[:-1], "a q", "--member", "best")
    assert unknown.code == 2 and "Symbol 'q' at position 1 is not in the alphabet" in unknown.err
    assert "--member seed=0" in call("inspect", str(tmp_path), *which, "--member", "seed").err


@pytest.mark.parametrize(
    ("typed", "offered", "not_offered"),
    [
        ("humboldt run cho", "chomsky", "bliss"),
        ("humboldt run chomsky --task rev", "reverse_string", "parity_check"),
        ("humboldt run syntax --model bi", "bilstm", "rnn"),
        ("humboldt plan chomsky --preset p", "paper", "quick"),
    ],
)
def test_the_shell_completes_names(typed: str, offered: str, not_offered: str):
    environment = {"_HUMBOLDT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    code = "import sys; from humboldt import cli; sys.argv[0] = 'humboldt'; cli.app(prog_name='humboldt')"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )
    assert offered in done.stdout.split() and not_offered not in done.stdout.split(), done


def test_the_version(call: Call):
    assert call("--version").out.startswith("humboldt ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "chomski"], "No suite named 'chomski'. Did you mean 'chomsky'?"),
        (["run", "chomsky", "--task", "parity"], "No task named 'parity'. Did you mean 'parity_check'?"),
        (["run", "chomsky", "--model", "lsmt"], "No model named 'lsmt'. Did you mean 'lstm'?"),
        (["run", "chomsky", "--preset", "papr"], "No preset named 'papr'. Did you mean 'paper'?"),
        (["run", "chomsky", "--set", "stepz=3"], "No setting named 'stepz'. Did you mean 'steps'?"),
        (["run", "chomsky", "--set", "steps"], "not of the form key=value"),
        (["run", "chomsky", "--set", "=3"], "not of the form key=value"),
        (["run", "chomsky", "--set", "steps=1", "--set", "steps=2"], "--set steps was given twice"),
        (["run", "chomsky", "--set", "steps=５"], "steps must be a whole number of at least 1"),
        (["run", "chomsky", "--seeds", "0"], "a whole number of at least 1"),
        (["run", "chomsky", "--seeds", "x"], "--seeds"),
        (["run", "chomsky", "--seeds", "1", "--set", "seeds=2"], "were both given"),
        (["run", "chomsky", "--out", f"{__file__}/x", *TINY], "cannot be a folder"),
        (["run", "chomsky", "--out", ""], "an empty name is not a folder"),
        (["run", "chomsky", "--plugin", "none.py"], "there is no file"),
        (["run", "chomsky", "--keep", "some"], "--keep"),
        (["run", "chomsky", "--save-every", "-1"], "--save-every"),
        (["run"], "Missing argument"),
        (
            ["run", "chomsky", "--experiment", "5eed"],
            "No experiment named '5eed'. `humboldt plan` with the same options",
        ),
        (["plan", "chomsky", "--json", "--slurm"], "--json and --slurm were both given"),
        (["merge", "nowhere", "--out", "all"], "no file results.db"),
        (["check", "task", "chomsky/parity_check", "--on", "x/y"], "--on has no meaning for `check task`"),
        (["check", "task", "chomsky/parity_check", "file"], "The file file has no meaning for `check task`"),
        (["check", "model", "mine.py:answer", "file"], "The file file has no meaning for `check model`"),
        (["check", "chomsky", "parity_check", "x", "--preset", "nope"], "--preset has no meaning for `check chomsky`"),
        (["references", "--preset", "nope"], "--preset has no meaning for `references without --picture`"),
        (["references", "--picture", "x.svg", "--add", "x"], "--add has no meaning for `references --picture`"),
        (["references", "--add", "x", "--to", ""], "an empty name is not a folder"),
        (["references", "--add", "x", "--to", "y", "--json"], "--json has no meaning for `references --add`"),
        (["show", ".", "--failures", "--task", "x"], "--task has no meaning for `show --failures`"),
        (["reproduced", ".", "--missing", "--json"], "--missing and --json were both given"),
        (["export", "hub", "x", "--shots", "3"], "--shots has no meaning for `export hub`"),
        (["merge", "--out", "all"], "Missing argument"),
        (["merge", "nowhere"], "Missing option"),
        (["show", "nowhere"], "no file results.db"),
        (["show", ".", "--json", "--csv"], "Of --json, --csv and --output only one can be given"),
        (["show", ".", "--members", "--curves"], "--members and --curves were both given"),
        (["data", "chomsky", "parity_check", "--after", "3"], "--after 3: the suite chomsky has no such option"),
        (["data", "chomsky", "parity_check", "--format", "released"], "the suite chomsky has no such option"),
        (
            ["run", "chomsky", "--set", "train_lengths=1,2", "--task", "solve_equation"],
            "train_lengths (1, 2): this task",
        ),
        (["run", "chomsky", "--cores", "2"], "Give --ray, too"),
        (["list", "settings"], "say of which suite"),
        (["list", "settings", "chomsky", "--task", "parity"], "Did you mean 'parity_check'?"),
        (["list", "tasks", "--task", "parity"], "--task and --model choose among settings"),
        (["data", "chomsky", "parity"], "Did you mean 'parity_check'?"),
        (["data", "chomsky", "parity_check", "--count", "0"], "--count"),
        (["list", "everything"], "everything"),
        (["nothing"], "nothing"),
    ],
)
def test_wrong_input_exits_2_and_writes_nothing(
    arguments: list[str], message: str, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    done = call(*arguments)
    assert done.code == 2, done
    assert message in done.err and "Traceback" not in done.err and done.out == ""
    assert not any(tmp_path.iterdir())


def test_a_database_from_a_newer_schema_is_refused(tmp_path: Path, call: Call):
    with sqlite3.connect(tmp_path / "results.db") as db:
        db.execute("PRAGMA user_version = 99")
    for arguments in (["show", str(tmp_path)], [*RUN, "--out", str(tmp_path)]):
        done = call(*arguments)
        assert done.code == 2 and "written by a newer Humboldt" in done.err


def test_check_says_how_somebody_elses_task_differs(tmp_path: Path, call: Call):
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text('{"input": "1 + 2 * 3", "target": "4"}\n{"input": "1 + 2", "target": "3"}\n')
    check = ("check", "chomsky", "modular_arithmetic_simple", str(theirs))
    done = call(*check)
    assert done.code == 1 and "left to right" in done.out
    assert json.loads(call(*check, "--json").out)
    theirs.write_text(call("data", "chomsky", "modular_arithmetic_simple", "--count", "50").out)
    assert call(*check).code == 0
    theirs.write_text("not json")
    done = call(*check)
    assert done.code == 2 and "line 1" in done.err.lower() and "Traceback" not in done.err
    assert call("check", "chomsky", "parity", str(theirs)).code == 2
    assert call("check", "chomsky", "parity_check", str(tmp_path / "none")).code == 2
    refused = call("check", "pcfg_set", "task_accuracy", str(theirs))
    assert refused.code == 2 and "no conformance check. These have one: bliss, chomsky" in refused.err


def test_assignments():
    assert parse_assignments([" steps = 3 ", "a=b=c", "empty="]) == {"steps": "3", "a": "b=c", "empty": ""}
    assert parse_assignments(["steps=3", "steps=3"]) == {"steps": "3"}


def test_the_demo_has_something_of_every_suite(tmp_path: Path):
    studies = demo_studies(tmp_path)
    assert list(dict.fromkeys(study.suite.name for study in studies)) == catalogue.suite_names()
    assert all(study.experiments for study in studies)
    # What is shown of the papers' suites has the settings of the bench, so that references stand beside it.
    assert len([study for study in studies if study.request.preset == "bench_quick"]) >= 5
    assert not any(study.request.settings for study in studies if study.request.preset == "bench_quick")
