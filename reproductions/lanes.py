"""Runs a list of commands on one machine, several at a time, and stops all of them when a time is up.

    python reproductions/lanes.py OUT SECONDS COMMAND ... [--memory GIB] [--lanes N] [--every SECONDS] [--back FOLDER]

A command is one argument of the shell, with OUT in its environment; `12:COMMAND` says that it needs 12 GiB of the GPU.
`--file FILE` reads more commands, one in each line. They begin in this order, each as soon as a lane and its memory are
free (without a number: the memory divided by the lanes). Small networks leave most of a GPU idle; with NVIDIA's MPS,
which is started where it is installed, lanes compute at the same time.

When the time is up every command is told to stop by SIGINT, as by Ctrl-C, so that humboldt saves what it has; the same
list goes on from there. Nothing is ever killed: a killed program takes the others on the GPU with it. What commands
print is in OUT/lane-1.log and so on, numbered like the commands. Every `--every` seconds, and at the end, all members
are written to FOLDER/members.jsonl (`humboldt archive`), so that a lost machine loses minutes. Commands that have
succeeded are listed in FOLDER/done.txt and are not run again. Exits with 0 if all commands have succeeded, otherwise
with 3. `reproductions/jobs` has lists for the papers' tables. Try one with tiny settings on a small machine first:
`--also "--seeds 1 --set steps=10"` gives every command these options, in place of its own for the same settings.

The Transformer of PCFG SET wants 35 GiB. With 20 GiB, in three of seven lanes, none had begun to train after five
minutes; without a limit one was compiled in two.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.1
DONE = "done.txt"
SHARE = 0.9  # of the GPU's memory that all lanes may use together


@dataclass(frozen=True)
class Command:
    """A command of the shell with its place in the list and the memory that it needs, in GiB."""

    number: int
    text: str
    memory: float


@dataclass(frozen=True)
class Lane:
    """A running command."""

    command: Command
    process: "subprocess.Popen[bytes]"


def read_commands(texts: Sequence[str], usual: float) -> list[Command]:
    """Returns commands from texts such as `humboldt run ...` or `12:humboldt run ...`; empty ones and remarks are left
    out."""
    wanted = [text.strip() for text in texts if text.strip() and not text.strip().startswith("#")]
    found = []
    for number, text in enumerate(wanted, 1):
        sized = re.match(r"(\d+(?:\.\d+)?):(.+)", text, re.DOTALL)
        found.append(Command(number, sized[2], float(sized[1])) if sized else Command(number, text, usual))
    return found


def with_options(text: str, also: str) -> str:
    """Returns a command with more options, which replace its own for the same settings.

    >>> with_options('humboldt run bias --set l=40 --seeds 100 --out "$OUT"', "--seeds 1 --set l=5")
    'humboldt run bias --out "$OUT" --seeds 1 --set l=5'
    """
    for option in re.findall(r"--set \w+=|--seeds ", also):
        text = re.sub(rf" {re.escape(option)}\S+", "", text)
    return f"{text} {also}".rstrip()


def next_to_begin(
    waiting: Sequence[Command], running: Sequence[Command], *, memory: float, lanes: int
) -> Command | None:
    """Returns the first waiting command for which there is a lane and enough memory.

    One that needs more than there is begins alone.
    """
    if len(running) >= lanes:
        return None
    free = memory - sum(command.memory for command in running)
    return next((command for command in waiting if command.memory <= free or not running), None)


def still_to_do(commands: Sequence[Command], back: Path) -> list[Command]:
    """Returns the commands that are not in the list of those that have succeeded."""
    path = back / DONE
    done = set(path.read_text(encoding="utf-8").splitlines()) if path.exists() else set()
    return [command for command in commands if command.text not in done]


def begin(command: Command, out: Path, environment: Mapping[str, str], memory: float) -> Lane:
    """Starts a command in a process group of its own."""
    share = min(SHARE, SHARE * command.memory / memory)
    with open(out / f"lane-{command.number}.log", "ab") as log:
        process = subprocess.Popen(
            ["bash", "-c", f"trap 'exit 130' INT; {command.text}"],
            env={**environment, "XLA_PYTHON_CLIENT_MEM_FRACTION": f"{share:.3f}"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    tell(f"{command.number} begins: {command.text}")
    return Lane(command, process)


def tell(sentence: str) -> None:
    """Prints a line with the time of day."""
    print(f"{time.strftime('%T')} {sentence}", flush=True)


def start_mps(environment: dict[str, str]) -> None:
    """Starts NVIDIA's MPS where it is installed; it may be running already."""
    control = shutil.which("nvidia-cuda-mps-control")
    if control is None:
        return
    for name in ("PIPE", "LOG"):
        place = environment.setdefault(f"CUDA_MPS_{name}_DIRECTORY", f"{tempfile.gettempdir()}/mps-{name.lower()}")
        os.makedirs(place, exist_ok=True)
    subprocess.run([control, "-d"], env=environment, stderr=subprocess.DEVNULL, check=False)


def bring_back(out: Path, back: Path, environment: Mapping[str, str]) -> None:
    """Writes all members that are stored; an error is printed, and nothing is stopped because of it."""
    if not (out / "results.db").exists():
        return
    back.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "humboldt", "archive", str(out), "--output", str(back / "members.jsonl")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    tell(f"members are in {back / 'members.jsonl'}" if done.returncode == 0 else f"archive: {done.stderr.strip()}")


def run(
    commands: Sequence[Command], out: Path, back: Path, *, seconds: float, memory: float, lanes: int, every: float
) -> int:
    """Runs all commands; returns how many have not succeeded."""
    environment = {**os.environ, "OUT": str(out), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    start_mps(environment)
    out.mkdir(parents=True, exist_ok=True)
    back.mkdir(parents=True, exist_ok=True)
    waiting, running, failed = still_to_do(commands, back), list[Lane](), 0
    if len(waiting) < len(commands):
        tell(f"{len(commands) - len(waiting)} of {len(commands)} have succeeded before")
    start = last = time.monotonic()
    is_stopping = False
    while running or (waiting and not is_stopping):
        now = time.monotonic()
        if now - start >= seconds and not is_stopping:
            is_stopping = True
            tell(f"the time is up: {len(running)} are told to stop, {len(waiting)} have not begun")
            for lane in running:
                os.killpg(lane.process.pid, signal.SIGINT)
        for lane in [lane for lane in running if lane.process.poll() is not None]:
            running.remove(lane)
            failed += lane.process.returncode != 0
            if lane.process.returncode == 0:
                with open(back / DONE, "a", encoding="utf-8") as done:
                    done.write(f"{lane.command.text}\n")
            tell(f"{lane.command.number} ends: exit status {lane.process.returncode}")
        while not is_stopping and (
            command := next_to_begin(waiting, [lane.command for lane in running], memory=memory, lanes=lanes)
        ):
            waiting.remove(command)
            running.append(begin(command, out, environment, memory))
        if now - last >= every:
            last = now
            bring_back(out, back, environment)
        time.sleep(SECONDS_BETWEEN_LOOKS)
    bring_back(out, back, environment)
    return failed + len(waiting)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("seconds", type=float, metavar="SECONDS")
    parser.add_argument("commands", nargs="*", metavar="COMMAND")
    parser.add_argument("--file", type=Path, help="more commands, one in each line")
    parser.add_argument(
        "--also", default="", help="options for every command, in place of its own for the same settings"
    )
    parser.add_argument("--memory", type=float, default=140.0, help="of the GPU, in GiB")
    parser.add_argument("--lanes", type=int, help="how many run at a time at most; default: all that fit")
    parser.add_argument("--every", type=float, default=180.0, help="seconds between two archives")
    parser.add_argument("--back", type=Path, help="where members.jsonl is written; default: OUT")
    options = parser.parse_args()
    texts = [*options.commands, *(options.file.read_text(encoding="utf-8").splitlines() if options.file else ())]
    texts = [text.strip() for text in texts if text.strip() and not text.strip().startswith("#")]
    if not texts:
        parser.error("there are no commands: give at least one, or --file FILE")
    texts = [with_options(text, options.also) for text in texts]
    lanes = options.lanes or len(texts)
    commands = read_commands(texts, options.memory / lanes)
    failed = run(
        commands,
        options.out,
        options.back or options.out,
        seconds=options.seconds,
        memory=options.memory,
        lanes=lanes,
        every=options.every,
    )
    sys.exit(3 if failed else 0)


if __name__ == "__main__":
    main()
