"""Commands that run together and stop together."""

import subprocess
import sys
from pathlib import Path

from pages import ROOT, script

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


def lanes(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "reproductions/lanes.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


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
    done = lanes(str(out), "3", 'echo "into $OUT with $XLA_PYTHON_CLIENT_MEM_FRACTION"', slow, "--memory", "10")
    assert done.returncode == 3, done.stderr
    assert "1 ends: exit status 0" in done.stdout and "2 ends: exit status 130" in done.stdout
    assert (out / "lane-1.log").read_text() == f"into {out} with 0.450\n"
    assert (out / "lane-2.log").read_text() == "begun\nsaved\n"


def test_one_lane_runs_all_in_turn_and_brings_members_back(tmp_path: Path):
    out, back = tmp_path / "out", tmp_path / "back"
    small = "--set steps=1 --set hidden_size=2 --set num_test_lengths=1 --set strings_per_length=2 --seeds 1"
    run = (
        f'"{sys.executable}" -m humboldt run chomsky --task parity_check --model rnn --no-estimate --out "$OUT" {small}'
    )
    listed = tmp_path / "commands"
    listed.write_text(f"{run}\ntrue\n")
    done = lanes(str(out), "50", "--file", str(listed), "--lanes", "1", "--back", str(back))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.index("1 ends") < done.stdout.index("2 begins")
    assert (back / "members.jsonl").read_text().count("\n") == 1
    assert lanes(str(out), "1").returncode == 2
