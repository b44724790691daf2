"""Does a study survive? `kill -9` at random moments and at chosen ones, and two processes on one folder.

For each engine a small study is run undisturbed: JAX (chomsky, syntax), the search (bliss) and PyTorch (torch, whose
members are trained in processes of their own, and stacked, whose members are one stacked module). Then the same study
is killed at random moments, three of four times after the process that is killed has written a checkpoint, and 6 times
at moments that chance would seldom hit: before, between and after the writing of weights, the writing of rows and the
removal of checkpoints. A killed study is started again, and killed again, until it is let finish. Of PyTorch, single
processes that train members are killed, too, and the study goes on without them. In the other part two processes work
with the same command in the same folder. Whenever a study has finished, its rows and its weights must be, to the last
bit, those of the undisturbed one.

    python benchmarks/kill_campaign.py [chomsky bliss syntax torch stacked] [--kills 14] [--rounds 10] > record.json
"""

import argparse
import contextlib
import hashlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _record import report


def settings(**values: Any) -> list[str]:
    return [text for key, value in values.items() for text in ("--set", f"{key}={value}")]


EXAMPLE = Path(__file__).parent.parent / "examples" / "pytorch_gru.py"
SUITES = {"torch": "chomsky", "stacked": "chomsky"}  # of studies that are not named like their suite
STUDIES = {
    "torch": [
        *("--task", "parity_check", "--model", f"{EXAMPLE}:GRU", "--seeds", "2"),
        *settings(steps=600, batch_size=4, hidden_size=4, train_lengths="1,4", test_lengths="5,6"),
        *settings(strings_per_length=4, learning_rates=3e-3),
    ],
    "stacked": [
        *("--task", "parity_check", "--model", f"{EXAMPLE}:GRU", "--seeds", "3", "--road", "stacked"),
        *settings(steps=1500, batch_size=4, hidden_size=4, train_lengths="1,4", test_lengths="5,6"),
        *settings(strings_per_length=4, learning_rates=3e-3),
    ],
    "chomsky": [
        *("--task", "parity_check", "--task", "even_pairs", "--model", "rnn", "--seeds", "2"),
        *settings(steps=800, batch_size=4, hidden_size=4, train_lengths="1,4", test_lengths="5,6"),
        *settings(strings_per_length=4, learning_rates=3e-3),
    ],
    "bliss": [
        *("--task", "an_bn", "--task", "dyck_1", "--model", "mdlrnn", "--preset", "paper", "--seeds", "2"),
        *settings(factors=2, order=1, generations=2_000, population_size=20, num_rings=1),
    ],
    "syntax": [
        *("--task", "adj_n_np", "--model", "lstm", "--model", "bilstm", "--seeds", "2"),
        *settings(terminals=2, train=40, validation=4, test=4, long=4, epochs=60, batch_size=20),
        *settings(lengths="4,8", long_lengths="9,12", embedding_size=2, hidden_size=2, learning_rates=0.1),
    ],
}
UNBEGUN = "done-000000000"  # a checkpoint before the first step, which holds only the road
MOMENTS = (
    "before weights",
    "between weights",
    "between weights and rows",
    "inside the transaction",
    "between rows and the removal of checkpoints",
    "inside the removal of checkpoints",
)
# Runs in the process that is to be killed: `sys.argv` holds the moment and how often it has to come.
DYING = """
import os, shutil, signal, sqlite3, sys, types
from humboldt.storage import checkpoints
from humboldt.storage import databases
from humboldt.running import study
from humboldt import cli
from humboldt.storage.store import Store

moment, left = sys.argv.pop(1), int(sys.argv.pop(1))

def now(name):
    global left
    left -= name == moment
    if name == moment and left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

write, add, connect, rmtree = checkpoints.write, Store.add, sqlite3.connect, shutil.rmtree

def dying_write(path, *arguments):
    is_weights = path.suffix == ".weights"
    is_weights and now("before weights")
    write(path, *arguments)
    is_weights and now("between weights")

def dying_add(self, *arguments, **options):
    now("between weights and rows")
    add(self, *arguments, **options)

class Dying(sqlite3.Connection):
    def execute(self, sql, *arguments):
        sql == "COMMIT" and now("inside the transaction")
        return super().execute(sql, *arguments)

def dying_rmtree(path, **options):
    now("between rows and the removal of checkpoints")
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else []
    if files:
        files[0].unlink()
    now("inside the removal of checkpoints")
    rmtree(path, **options)

checkpoints.write, Store.add = dying_write, dying_add
databases.sqlite3.connect = lambda *a, **o: connect(*a, **{"factory": Dying, **o})
study.shutil = types.SimpleNamespace(rmtree=dying_rmtree)
cli.main()
"""


def start(suite: str, folder: Path, moment: tuple[str, int] | None = None) -> subprocess.Popen[str]:
    command = [
        "run",
        SUITES.get(suite, suite),
        *STUDIES[suite],
        "--out",
        str(folder),
        "--save-every",
        "0",
        "--no-estimate",
        "--keep",
        "all",
    ]
    program = ["-m", "humboldt"] if moment is None else ["-c", DYING, moment[0], str(moment[1])]
    return subprocess.Popen(
        [sys.executable, *program, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that the processes of a search die with it
    )


def finish(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def contents(folder: Path) -> dict[str, Any]:
    """All that must be the same: everything in the rows but seconds, dates and versions; and every weight."""
    db = sqlite3.connect(folder / "results.db")
    rows = [
        *db.execute("SELECT training, suite, task, model, engine, setting, versions, format FROM trainings"),
        *db.execute("SELECT training, member, state, detail FROM members"),
        *db.execute("SELECT evaluation, member, state, measures, detail FROM scores"),
    ]
    db.close()
    weights = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob("weights/*/*.weights")
    }
    leftovers = [str(path.relative_to(folder)) for path in [*folder.glob("checkpoints/*"), *folder.glob("locks/*")]]
    return {"rows": sorted(map(repr, rows)), "weights": weights, "leftovers": leftovers}


def check(folder: Path, expected: dict[str, Any]) -> None:
    found = contents(folder)
    for part in expected:
        assert found[part] == expected[part], f"{folder}: {part} differ: {found[part]} != {expected[part]}"


def killed_at_random(suite: str, folder: Path, seconds: float, count: int, rng: random.Random) -> list[dict[str, Any]]:
    """Up to `count` kills of one study. Three of four wait for a checkpoint of the process; one comes at any moment."""
    done = []
    for number in range(count):
        before = checkpoints_in(folder)
        process, begin = start(suite, folder), time.monotonic()
        if number % 4 < 3:
            while process.poll() is None and not checkpoints_in(folder) - before:
                time.sleep(0.005)
            wait = rng.uniform(0.0, 0.5)
        else:
            wait = rng.uniform(0.3, 1.0) * seconds
        try:
            process.wait(wait)
            finish(process)  # it was faster
            break
        except subprocess.TimeoutExpired:
            workers = len(children(process))
            kill(process)
            after = round(time.monotonic() - begin, 2)
            has_written = bool(checkpoints_in(folder) - before)
            check_road(suite, folder)
            done.append({"after_seconds": after, "has_written_a_checkpoint": has_written, "workers": workers})
    return done


def workers_killed(suite: str, folder: Path, count: int) -> int:
    """Kills one process that trains members, of each of `count` studies, after a checkpoint. Returns how many."""
    done = 0
    for number in range(count):
        process = start(suite, folder / str(number))
        while process.poll() is None and not (checkpoints_in(folder / str(number)) and children(process)):
            time.sleep(0.005)
        if workers := children(process):
            os.kill(workers[0], signal.SIGKILL)
            done += 1
        finish(process)
    return done


def children(process: subprocess.Popen[str]) -> list[int]:
    """Returns the processes that a process has started."""
    try:
        return [int(text) for text in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    except OSError:
        return []


def checkpoints_in(folder: Path) -> set[tuple[str, int]]:
    """Returns all checkpoints of work that has begun, with the time of their writing."""
    found = set()
    for path in folder.glob("checkpoints/**/*.ckpt"):
        if path.name.startswith(UNBEGUN):
            continue
        with contextlib.suppress(FileNotFoundError):  # a newer one has replaced it
            found.add((str(path), path.stat().st_mtime_ns))
    return found


def check_road(suite: str, folder: Path) -> None:
    """Raises if the members of a stacked study are not trained stacked."""
    if suite != "stacked":
        return
    from humboldt.storage import checkpoints
    from humboldt.training.loop import MEMBERS
    from humboldt.training.pytorch.roads import ROAD, TOGETHER  # which needs PyTorch

    for path in folder.glob("checkpoints/**/*.ckpt"):
        arrays, _ = checkpoints.read(path)
        assert arrays[MEMBERS + ROAD][0] == TOGETHER.index("stacked"), f"{path}: not stacked"


def campaign(suite: str, kills: int, rounds: int, rng: random.Random, place: Path) -> dict[str, Any]:
    begin = time.monotonic()
    finish(start(suite, place / "undisturbed"))
    seconds = time.monotonic() - begin
    expected = contents(place / "undisturbed")
    say(f"{suite}: undisturbed in {seconds:.1f} s, {len(expected['rows'])} rows, {len(expected['weights'])} weights")

    moments = list[dict[str, Any]]()
    for number, moment in enumerate(MOMENTS):  # a new folder for each half, so that there is always something to do
        folder = place / f"moments-{number // 3}"
        moments += killed_at(suite, folder, moment, rng)
        if number % 3 == 2:
            finish(start(suite, folder))
            check(folder, expected)
    say(f"{suite}: killed {len(moments)} times at chosen moments, the same in the end")

    at_random: list[dict[str, Any]] = []
    studies, quickest = 0, seconds  # the first study may have compiled what the others find on the disk
    while len(at_random) < kills:
        folder = place / f"random-{studies}"
        at_random += killed_at_random(suite, folder, quickest, min(7, kills - len(at_random)), rng)
        begin = time.monotonic()
        finish(start(suite, folder))
        quickest = min(quickest, time.monotonic() - begin)
        check(folder, expected)
        studies += 1
    say(f"{suite}: killed {len(at_random)} times at random in {studies} studies, the same in the end")

    alone = 0
    if suite == "torch":
        alone = workers_killed(suite, place / "workers", 3)
        for folder in (place / "workers").iterdir():
            check(folder, expected)
        say(f"{suite}: {alone} processes of members killed, the same in the end")

    for number in range(rounds):
        folder = place / f"together-{number}"
        first = start(suite, folder)
        time.sleep(rng.uniform(0, 0.3) * seconds)
        second = start(suite, folder)
        finish(first)
        finish(second)
        check(folder, expected)
    say(f"{suite}: {rounds} rounds of two processes, the same in the end")
    return {
        "undisturbed_seconds": round(seconds, 1),
        "rows": len(expected["rows"]),
        "weights": len(expected["weights"]),
        "kills_at_moments": moments,
        "kills_at_random": at_random,
        "kills": len(moments) + len(at_random) + alone,
        "kills_after_a_checkpoint": sum(one["has_written_a_checkpoint"] for one in (*moments, *at_random)) + alone,
        "killed_workers": alone,
        "studies_killed_at_random": studies,
        "rounds_of_two_processes": rounds,
        "identical": True,
    }


def killed_at(suite: str, folder: Path, moment: str, rng: random.Random) -> list[dict[str, Any]]:
    """One kill at a moment that comes for the first or the second time; begun anew where it did not come again."""
    for often in (rng.choice((1, 2)), 1):
        before = checkpoints_in(folder)
        process = start(suite, folder, (moment, often))
        _, errors = process.communicate()
        if process.returncode == -signal.SIGKILL:
            has_written = bool(checkpoints_in(folder) - before)
            return [{"moment": f"{moment} (time {often})", "has_written_a_checkpoint": has_written}]
        assert process.returncode == 0, errors
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
    raise AssertionError(f"{suite} never came to the moment {moment!r}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("suites", nargs="*", default=list(STUDIES))
    parser.add_argument("--kills", type=int, default=14, help="at random moments, for each suite")
    parser.add_argument("--rounds", type=int, default=10, help="of two processes, shared among the suites")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = {}
    for number, suite in enumerate(options.suites):
        rounds = options.rounds // len(options.suites) + (number < options.rounds % len(options.suites))
        with tempfile.TemporaryDirectory() as place:
            rng = random.Random(f"{options.seed} {suite}")
            found[suite] = campaign(suite, options.kills, rounds, rng, Path(place))
    kills, after = (sum(one[name] for one in found.values()) for name in ("kills", "kills_after_a_checkpoint"))
    report("kill_campaign", {"kills": kills, "kills_after_a_checkpoint": after, "studies": found})


if __name__ == "__main__":
    main()
