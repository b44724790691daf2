"""Commands that run together and stop together."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pages import ROOT, script

from humboldt import published
from humboldt.running.bench import plan_bench
from humboldt.suites.experiments import Experiment

LANES = script("reproductions/lanes.py")
SLOW_TO_STOP = """
import sys, time
try:
    print("begun", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)
    print("saved", flush=True)
    sys.exit(130)
"""


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECONDS_AFTER_FAILURE", "0.5")


def lanes(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "reproductions/lanes.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400)


def test_commands_begin_in_order_as_soon_as_their_memory_is_free():
    commands = LANES.read_commands(["# a remark", "60:first", "50:second", "", "third"], usual=10)
    assert [(c.number, c.text, c.memory) for c in commands] == [(1, "first", 60), (2, "second", 50), (3, "third", 10)]

    def begun(running: list[int], room: int = 100, most: int = 3) -> int | None:
        waiting = [command for command in commands if command.number not in running]
        busy = [command for command in commands if command.number in running]
        found = LANES.next_to_begin(waiting, busy, memory=room, lanes=most)
        return found and found.number

    assert begun([]) == 1 and begun([1]) == 3 and begun([1, 3]) is None and begun([3]) == 1 and begun([2]) == 3
    assert begun([1], most=1) is None
    assert begun([], room=40) == 1  # what is too large for the machine begins alone


def test_commands_run_together_and_are_told_to_stop_together(tmp_path: Path):
    (tmp_path / "slow.py").write_text(SLOW_TO_STOP)
    out = tmp_path / "out"
    slow = f'"{sys.executable}" "{tmp_path}/slow.py"; echo what must not begin'
    done = lanes(str(out), "8", 'echo "into $OUT with $XLA_PYTHON_CLIENT_MEM_FRACTION"', slow, "--card", "10")
    assert done.returncode == 3, done.stderr
    assert "1 ends: exit status 0" in done.stdout and "2 ends: exit status 130" in done.stdout
    assert (out / "lane-1.log").read_text() == f"into {out} with 0.450\n"
    assert (out / "lane-2.log").read_text() == "begun\nsaved\n"


@pytest.mark.skipif(not shutil.which("taskset"), reason="cores cannot be chosen here")
def test_lanes_on_cores_run_on_one_each_from_either_end(tmp_path: Path):
    core, back = min(os.sched_getaffinity(0)), tmp_path / "back"
    command = "taskset -cp $$; nice; echo $JAX_PLATFORMS $OMP_NUM_THREADS $XLA_PYTHON_CLIENT_MEM_FRACTION"
    given = (str(tmp_path / "out"), "200", f"99:{command}", "true", "--cores", str(core), "--reversed")
    done = lanes(*given, "--every", "0", "--back", str(back))
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("2 ends") < done.stdout.index(f"1 begins on core {core}")
    affinity, nice, environment = (back / "lane-1.log").read_text().splitlines()
    assert affinity.endswith(f": {core}") and int(nice) >= LANES.NICENESS and environment == "cpu 1"
    assert [line.split("\t")[1] for line in (back / "seconds.txt").read_text().splitlines()] == ["true", command]
    assert LANES.read_cores("0,3-5,4") == (0, 3, 4, 5)


def test_it_stops_when_it_is_told_to(tmp_path: Path):
    (tmp_path / "slow.py").write_text(SLOW_TO_STOP)
    slow = f'"{sys.executable}" "{tmp_path}/slow.py"; echo what must not begin'
    command = [sys.executable, "reproductions/lanes.py", str(tmp_path), "300", slow, "true", "--lanes", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        log = tmp_path / "lane-1.log"
        for _ in range(300):
            time.sleep(0.1)
            if log.exists() and "begun" in log.read_text():
                break
        running.send_signal(signal.SIGTERM)
        said, _ = running.communicate(timeout=200)
    assert running.returncode == 3 and "SIGTERM: 1 are told to stop, 1 have not begun" in said
    assert log.read_text() == "begun\nsaved\n"


def test_a_command_that_fails_is_tried_once_more_after_the_others(tmp_path: Path):
    first, back = f"test -e {tmp_path}/there || {{ touch {tmp_path}/there; exit 1; }}", tmp_path / "back"
    done = lanes(str(tmp_path), "200", first, "echo", "echo again; false", "--lanes", "1", "--back", str(back))
    ends = re.findall(r"(\d) ends: exit status (\d)", done.stdout)
    assert ends == [("1", "1"), ("2", "0"), ("3", "1"), ("1", "0"), ("3", "1")]
    assert (back / "done.txt").read_text().splitlines() == ["echo", first]
    assert (back / "lane-3.log").read_text() == "again\nagain\n" and done.returncode == 3


def test_one_lane_runs_all_in_turn_and_brings_members_back(tmp_path: Path):
    out, back = tmp_path / "out", tmp_path / "back"
    small = "--set steps=1 --set hidden_size=2 --set num_test_lengths=1 --set strings_per_length=2 --seeds 1"
    run = (
        f'"{sys.executable}" -m humboldt run chomsky --task parity_check --model rnn --no-estimate --out "$OUT" {small}'
    )
    listed = tmp_path / "commands"
    listed.write_text(f"{run}\ntrue\n")
    done = lanes(str(out), "300", "--file", str(listed), "--lanes", "1", "--back", str(back))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.index("1 ends") < done.stdout.index("2 begins")
    assert (back / "members.jsonl").read_text().count("\n") == 1
    assert lanes(str(out), "1").returncode == 2


def test_other_options_replace_those_of_a_list():
    found = LANES.with_options("run --set steps=10000 --seeds 30 --set l=4 --out x", "--set steps=2 --seeds 1")
    assert found == "run --set l=4 --out x --set steps=2 --seeds 1"
    assert LANES.with_options("run", "") == "run"


def test_what_has_succeeded_is_not_run_again(tmp_path: Path):
    out, back = tmp_path / "out", tmp_path / "back"
    counted = f'echo once >> "{tmp_path}/count"'
    first = lanes(str(out), "200", counted, "false", "--lanes", "1", "--back", str(back))
    assert first.returncode == 3 and (back / "done.txt").read_text() == f"{counted}\n"
    second = lanes(str(out), "200", counted, "true", "--lanes", "1", "--back", str(back))
    assert second.returncode == 0 and "1 of 2 have succeeded before" in second.stdout
    assert (tmp_path / "count").read_text() == "once\n"
    third = lanes(str(out), "200", counted, "--also", "# other options", "--back", str(back))
    assert third.returncode == 0 and (tmp_path / "count").read_text() == "once\n" * 2


@pytest.mark.skipif(not (shutil.which("taskset") and shutil.which("setsid")), reason="not on this system")
def test_a_sitting_runs_on_between_calls_until_it_is_told_to_stop(tmp_path: Path):
    waits = f'"{sys.executable}" "{tmp_path}/slow.py"; echo what must not begin'
    for name, text in (("slow.py", SLOW_TO_STOP), ("papers", f"true\n1:{waits}\n"), ("references", "1:true\n2:no\n")):
        (tmp_path / name).write_text(text)
    environment = {
        **{"FOLDER": str(tmp_path / "sitting"), "BACK": str(tmp_path / "back"), "PYTHON": sys.executable},
        **{"PAPERS": str(tmp_path / "papers"), "REFERENCES": str(tmp_path / "references"), "SKIP": "no$"},
        **{"CORES": str(min(os.sched_getaffinity(0))), "REFERENCE_LANES": "0", "PAPER_LANES": "2", "STOPPING": "20"},
    }

    def call(*arguments: str) -> str:
        command = ["bash", "reproductions/sitting.sh", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=400
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    log = tmp_path / "sitting/papers/lane-2.log"
    said = call("1")
    for _ in range(600):  # it runs on
        if log.exists() and "begun" in log.read_text():
            break
        time.sleep(0.1)
    running = int((tmp_path / "sitting/papers.pid").read_text())
    os.kill(running, 0)
    said = call("21", "stop")
    assert log.read_text() == "begun\nsaved\n"
    assert "papers: 1 commands done" in said and "references-cpu: 1 commands done" in said
    with pytest.raises(ProcessLookupError):
        os.kill(running, 0)
    assert [path.name for path in (tmp_path / "back").iterdir()] == ["logs.tar.gz"]  # nothing was trained


JOBS = script("reproductions/jobs.py")


OF_REFERENCES = ("0_quick_references", "9_standard_references")  # finding all their sizes takes ten seconds
CHECKED = [pytest.param(name, marks=[pytest.mark.slow] * (name in OF_REFERENCES)) for name in JOBS.LISTS]


@pytest.mark.parametrize("name", CHECKED)
def test_lists_of_jobs_are_up_to_date(name: str):
    text = (ROOT / f"reproductions/jobs/{name}.txt").read_text(encoding="utf-8")
    assert text == JOBS.text_of(name), "run `python reproductions/jobs.py`"


@pytest.mark.parametrize("name", JOBS.LISTS)
def test_lists_of_jobs_can_be_planned(name: str):
    text = (ROOT / f"reproductions/jobs/{name}.txt").read_text(encoding="utf-8")
    commands = LANES.read_commands(text.splitlines(), 1.0)
    assert commands and all(0 < command.memory <= 140 for command in commands)
    assert len({command.text for command in commands}) == len(commands)
    for command in commands[:: max(1, len(commands) // 12)]:  # others have the same options
        assert JOBS.planned(command.text)


def test_what_is_on_record_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (on_record,) = [
        each for each in JOBS.text_of("1_chomsky_table_2").splitlines() if "parity_check --model tape_rnn" in each
    ]
    more_seeds = on_record.replace(" --no-estimate", " --seeds 20 --no-estimate")
    listed = tmp_path / "list.txt"
    listed.write_text("\n".join(("# Remark", on_record, more_seeds, "2:true")))
    JOBS.main([str(listed)])
    assert capsys.readouterr().out.splitlines() == [more_seeds, "2:true"]


@pytest.mark.parametrize(("preset", "name"), [("quick", OF_REFERENCES[0]), ("standard", OF_REFERENCES[1])])
def test_the_lists_of_references_have_what_a_bench_trains(preset: str, name: str):
    family = "transformer"
    text = (ROOT / f"reproductions/jobs/{name}.txt").read_text(encoding="utf-8")
    commands = [each.text for each in LANES.read_commands(text.splitlines(), 1.0)]
    listed = [one for each in commands if f" --model family/{family} " in each for one in JOBS.planned(each)]
    trained = [one for study in plan_bench(family, preset=preset, seeds=5).studies for one in study.experiments]

    def named(experiments: list[Experiment]) -> set[tuple[str, int]]:
        return {(one.training.key, len(one.members)) for one in experiments}

    assert named(listed) == named(trained) and len(listed) == len(trained)


def test_the_first_list_has_all_cells_of_table_2():
    cells = {
        tuple(re.findall(r"--(?:task|model) (\w+)", command))
        for command in JOBS.text_of("1_chomsky_table_2").split("\n")[1:-1]
    }
    printed = {(r["task"], r["architecture"]) for r in published.rows("chomsky") if r["paper_table"] == "table_2"}
    assert cells == printed and len(cells) == 75
