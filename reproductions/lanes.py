"""Runs a list of commands on one machine, several at a time, and stops all of them when a time is up.

    python reproductions/lanes.py OUT SECONDS COMMAND ... [--memory GIB] [--lanes N] [--every SECONDS] [--back FOLDER]
    python reproductions/lanes.py OUT SECONDS --file FILE --cores 3-15

A command is one argument of the shell, with OUT in its environment; `12:COMMAND` says that it needs 12 GiB of the GPU.
`--file FILE` reads more commands, one in each line. They begin in this order, each as soon as a lane and its memory are
free (without a number: the memory divided by the lanes). Small networks leave most of a GPU idle; with NVIDIA's MPS,
which is started where it is installed, lanes compute at the same time. With `--gpu-share PERCENT` these lanes leave the
rest of the multiprocessors to other programs.

With `--cores` there is a lane for each of these processor cores instead, which trains on it alone. Such lanes and lanes
of a GPU can run side by side; with the same OUT they share the work of the commands that they have in common, and
`--reversed` takes a list from its end.

A command that fails is tried once more, after all others; nothing begins in the ten seconds after a failure, since its
cause may pass (memory that another program holds).

When the time is up, or lanes.py itself gets SIGINT or SIGTERM, every command is told to stop by SIGINT, as by Ctrl-C,
so that humboldt saves what it has; the same list goes on from there. Nothing is ever killed: a killed program takes the
others on the GPU with it. What commands print is in FOLDER/lane-1.log and so on, numbered like the commands. Every
`--every` seconds (0: never), and at the end, all members are written to FOLDER/members.jsonl (`humboldt archive`), so
that a lost machine loses minutes. FOLDER is `--back`, or OUT. Commands that have succeeded are listed in
FOLDER/done.txt with their seconds in FOLDER/seconds.txt, and are not run again. Exits with 0 if all commands have
succeeded, otherwise with 3. `reproductions/jobs` has lists for the papers' tables and for references, and
`reproductions/sitting.sh` runs several on a machine that is lent for a while. Try one with tiny settings on a small
machine first: `--also "--seeds 1 --set steps=10"` gives every command these options, in place of its own for the same
settings.

Other programs of JAX on the same card need `XLA_PYTHON_CLIENT_PREALLOCATE=false`: without it each takes three quarters
of the memory, and no lane begins. Plan for scoring and compiling, too. With 13 lanes on one H200 (eight of tables, five
of references; four more on processor cores), a cell of Table 2 of 10,000 steps, scored on 6,016 strings, took 2.7 to
4.1 minutes for ten Tape-RNNs, 12.6 for ten Transformers, 10.6 for 30 Stack-RNNs whose strings are too long for the
kernel, and 1.1 to 2.3 for 30 CNNs; 30 recurrent classifiers of `syntax` took 0.7 to 2, and a quick reference of the
Tape-RNN 0.9 to 7.1. An agreement of `bias` (100 learners) took 2.5 to 6.5 in six lanes. A lane of one processor core
did not finish any task of `chomsky` of RetNet's references in 13 minutes.

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
from dataclasses import dataclass, replace
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_AFTER_FAILURE = float(os.environ.get("SECONDS_AFTER_FAILURE", "10"))
DONE = "done.txt"
SECONDS = "seconds.txt"
SHARE = 0.9  # of the GPU's memory that all lanes may use together
NICENESS = 10  # of lanes on processor cores, which leave time to the programs that feed a GPU
ONE_THREAD = {
    "JAX_PLATFORMS": "cpu",
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
}


@dataclass(frozen=True)
class Command:
    """A command of the shell with its place in the list and the memory that it needs, in GiB."""

    number: int
    text: str
    memory: float


@dataclass(frozen=True)
class Lane:
    """A running command, with the processor core that it runs on, if it has one of its own."""

    command: Command
    process: "subprocess.Popen[bytes]"
    core: int | None
    begun: float


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What lanes may use: processor cores, one for each lane, or the memory of a GPU, `memory` of `card` GiB."""

    lanes: int
    memory: float = 140.0
    card: float = 140.0
    cores: tuple[int, ...] = ()
    gpu_share: int | None = None

    def environment(self) -> dict[str, str]:
        """Returns the environment of all commands."""
        if self.cores:
            return {**os.environ, **ONE_THREAD}
        share = {} if self.gpu_share is None else {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(self.gpu_share)}
        return {**os.environ, **share, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def read_cores(text: str) -> tuple[int, ...]:
    """Returns the cores in a text.

    >>> read_cores("0,3-5")
    (0, 3, 4, 5)
    """
    cores: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        cores += range(int(first), int(last or first) + 1)
    return tuple(dict.fromkeys(cores))


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


def begin(
    command: Command, out: Path, back: Path, environment: Mapping[str, str], machine: Machine, core: int | None
) -> Lane:
    """Starts a command in a process group of its own, on a core of its own if there is one."""
    if core is None:
        share = min(SHARE, SHARE * command.memory / machine.card)
        environment = {**environment, "XLA_PYTHON_CLIENT_MEM_FRACTION": f"{share:.3f}"}
    pinned = [] if core is None else ["taskset", "--cpu-list", str(core), "nice", "-n", str(NICENESS)]
    with open(back / f"lane-{command.number}.log", "ab") as log:
        process = subprocess.Popen(
            [*pinned, "bash", "-c", f"trap 'exit 130' INT; {command.text}"],
            env={**environment, "OUT": str(out)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    tell(f"{command.number} begins{'' if core is None else f' on core {core}'}: {command.text}")
    return Lane(command, process, core, time.monotonic())


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


def note_success(lane: Lane, back: Path) -> None:
    """Lists a command among those that have succeeded, and how long it took."""
    for name, line in (
        (DONE, lane.command.text),
        (SECONDS, f"{time.monotonic() - lane.begun:.0f}\t{lane.command.text}"),
    ):
        with open(back / name, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def run(commands: Sequence[Command], out: Path, back: Path, *, machine: Machine, seconds: float, every: float) -> int:
    """Runs all commands; returns how many have not succeeded."""
    environment = machine.environment()
    if not machine.cores:
        start_mps(environment)
    out.mkdir(parents=True, exist_ok=True)
    back.mkdir(parents=True, exist_ok=True)
    waiting, running, failed = still_to_do(commands, back), list[Lane](), list[Command]()
    if len(waiting) < len(commands):
        tell(f"{len(commands) - len(waiting)} of {len(commands)} have succeeded before")
    start = last = time.monotonic()
    begins_at = start  # the next command, at the earliest
    told = list[int]()  # signals
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: told.append(number))
    is_stopping = False
    while running or (waiting and not is_stopping):
        now = time.monotonic()
        if (told or now - start >= seconds) and not is_stopping:
            is_stopping = True
            why = "the time is up" if not told else signal.Signals(told[0]).name
            tell(f"{why}: {len(running)} are told to stop, {len(waiting)} have not begun")
            for lane in running:
                os.killpg(lane.process.pid, signal.SIGINT)
        for lane in [lane for lane in running if lane.process.poll() is not None]:
            running.remove(lane)
            tell(f"{lane.command.number} ends: exit status {lane.process.returncode}")
            if lane.process.returncode == 0:
                note_success(lane, back)
                continue
            begins_at = now + SECONDS_AFTER_FAILURE
            if lane.command not in failed:
                waiting.append(lane.command)
            failed.append(lane.command)
        may_begin = not is_stopping and now >= begins_at
        while may_begin and (
            command := next_to_begin(
                waiting, [lane.command for lane in running], memory=machine.memory, lanes=machine.lanes
            )
        ):
            waiting.remove(command)
            core = next((core for core in machine.cores if core not in [lane.core for lane in running]), None)
            running.append(begin(command, out, back, environment, machine, core))
        if every and now - last >= every:
            last = now
            bring_back(out, back, environment)
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if every:
        bring_back(out, back, environment)
    return len(still_to_do(commands, back))


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
    parser.add_argument("--card", type=float, default=140.0, help="memory of the GPU, in GiB")
    parser.add_argument("--memory", type=float, help="of the GPU for these lanes, in GiB; default: all of it")
    parser.add_argument("--gpu-share", type=int, help="of the GPU's multiprocessors for each lane, in percent")
    parser.add_argument("--lanes", type=int, help="how many run at a time at most; default: all that fit")
    parser.add_argument("--cores", type=read_cores, default=(), help="lanes on these processor cores, e.g. 3-15")
    parser.add_argument("--reversed", action="store_true", help="begin with the last command")
    parser.add_argument("--every", type=float, default=180.0, help="seconds between two archives; 0: none")
    parser.add_argument("--back", type=Path, help="where members.jsonl and logs are written; default: OUT")
    options = parser.parse_args()
    texts = [*options.commands, *(options.file.read_text(encoding="utf-8").splitlines() if options.file else ())]
    texts = [text.strip() for text in texts if text.strip() and not text.strip().startswith("#")]
    if not texts:
        parser.error("there are no commands: give at least one, or --file FILE")
    texts = [with_options(text, options.also) for text in texts]
    lanes = options.lanes or len(options.cores or texts)
    lanes = min(lanes, len(options.cores)) if options.cores else lanes
    memory = options.card if options.memory is None else options.memory
    commands = read_commands(texts, 0.0 if options.cores else memory / lanes)
    if options.cores:  # whose memory is not that of a GPU
        commands = [replace(command, memory=0.0) for command in commands]
    failed = run(
        commands[::-1] if options.reversed else commands,
        options.out,
        options.back or options.out,
        machine=Machine(
            lanes=lanes, memory=memory, card=options.card, cores=options.cores, gpu_share=options.gpu_share
        ),
        seconds=options.seconds,
        every=options.every,
    )
    sys.exit(3 if failed else 0)


if __name__ == "__main__":
    main()
