"""Is damage noticed? Flips single bits of a small results.db and of checkpoints, and compares results with the truth.

    python benchmarks/bit_flips.py [FLIPS [CHECKPOINT_FLIPS]]

After each flip, `scores()` and `done()` must return what they returned before, or flag the damage: by an error that is
a sentence, or by a remark (`Store.remarks`) about the rows that are left out. `silent` and `tracebacks` must be 0;
`same` are flips of bytes that hold no value, such as free pages and indexes.

For checkpoints, a study is stopped in mid-training, a bit of its newest checkpoint is flipped, and the study is run
again: it must warn of the damage, and end with the rows of an undisturbed study. Prints one JSON record.
"""

import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import humboldt
from humboldt.core.events import AbstractSink, Event, Progress, Warned
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.errors import HumboldtError, Interrupted
from humboldt.plugins import load_files
from humboldt.storage.store import Store

FLIPS, CHECKPOINT_FLIPS = 300, 100
PLUGIN = Path(__file__).parent.parent / "tests" / "fault_plugin.py"  # a suite that trains in a moment
SEED = 0


def make_store(folder: Path, *, trainings: int = 4, members: int = 6) -> Path:
    """A store with every kind of row: finished, diverged and failed members, two evaluations. Returns its file."""
    store, random_ = Store(folder), random.Random(SEED)
    for number in range(trainings):
        setting = {"steps": 10 + number, "lengths": [1, 40], "model": {"hidden_size": 8}}
        training = Training("chomsky", f"task_{number}", "rnn", "jax", setting, {"task": 1, "model": 1})
        states = [State.FINISHED] * (members - 2) + [State.DIVERGED, State.FAILED]
        curves = {"training": {"loss": [random_.random() for _ in range(20)]}}
        environment = {"python": "3.11", "device": "cpu"}
        trained = [
            TrainedMember({"seed": seed}, state, random_.random(), curves, environment)
            for seed, state in enumerate(states)
        ]
        scored = [
            ScoredMember({"seed": seed}, State.FINISHED, {"score": random_.random()}, random_.random())
            for seed in range(members - 2)
        ]
        store.add(training, trained, [(Evaluation(name), scored) for name in ("score", "other")], format=2)
    return store.path


def outcomes(path: Path, flips: int, seed: int = SEED) -> Iterator[tuple[int, int, str]]:
    """Flips random bits, one in each copy of a database: the byte, the bit, and what came of it."""
    content = path.read_bytes()
    truth = Store.open(path.parent)
    scores, done = truth.scores(), truth.done()
    assert not truth.remarks
    random_ = random.Random(seed)
    for _ in range(flips):
        place, bit = random_.randrange(len(content)), random_.randrange(8)
        with tempfile.TemporaryDirectory() as folder:
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            (Path(folder) / "results.db").write_bytes(changed)
            yield place, bit, _outcome(Path(folder), scores, done)


def _outcome(folder: Path, scores: list, done: dict) -> str:
    found = []
    for name, truth in (("scores", scores), ("done", done)):
        try:
            store = Store.open(folder)
            value = getattr(store, name)()
        except HumboldtError:
            found.append("refused")
        except Exception as error:
            found.append(f"traceback: {error!r}")
        else:
            found.append("left out" if store.remarks else "same" if value == truth else "silent")
    worst = ("silent", "left out", "refused", "same")
    return next((one for one in found if one.startswith("traceback")), min(found, key=lambda one: worst.index(one)))


class _Watching(AbstractSink):
    """Keeps warnings; stops a study after some steps of progress."""

    def __init__(self, most: int | None = None) -> None:
        self.most, self.steps, self.warnings = most, 0, list[str]()

    def send(self, event: Event) -> None:
        self.steps += isinstance(event, Progress)
        if isinstance(event, Warned):
            self.warnings.append(event.message)

    def should_stop(self) -> bool:
        return self.most is not None and self.steps >= self.most


def _trained(folder: Path, sink: _Watching) -> None:
    study = humboldt.plan("faults", settings={"steps": 8, "variants": (0,)}, out=folder)
    study.run(lambda experiment: sink, save_seconds=0)


def _rows(folder: Path) -> list[Any]:
    db = sqlite3.connect(folder / "results.db")
    rows = [*db.execute("SELECT training, member, state FROM members"), *db.execute("SELECT measures FROM scores")]
    db.close()
    weights = [path.read_bytes() for path in sorted(folder.glob("weights/*/*.weights"))]
    return [*sorted(map(repr, rows)), *weights]


def checkpoint_outcomes(place: Path, flips: int, seed: int = SEED) -> Iterator[tuple[int, int, str]]:
    """Flips random bits of the newest checkpoint of a stopped study, and runs it again: what came of it."""
    load_files([PLUGIN])
    _trained(place / "undisturbed", _Watching())
    truth = _rows(place / "undisturbed")
    try:
        _trained(place / "stopped", _Watching(5))
        raise AssertionError("the study was not stopped")
    except Interrupted:
        pass
    random_ = random.Random(seed)
    for number in range(flips):
        folder = place / f"flip-{number}"
        shutil.copytree(place / "stopped", folder)
        path = max(folder.glob("checkpoints/**/*.ckpt"))
        changed = bytearray(path.read_bytes())
        at, bit = random_.randrange(len(changed)), random_.randrange(8)
        changed[at] ^= 1 << bit
        path.write_bytes(changed)
        sink = _Watching()
        try:
            _trained(folder, sink)
            is_same, is_said = _rows(folder) == truth, any("Damaged" in warning for warning in sink.warnings)
            yield at, bit, "noticed" if is_said and is_same else "silent"
        except HumboldtError:
            yield at, bit, "refused"
        except Exception as error:
            yield at, bit, f"traceback: {error!r}"
        shutil.rmtree(folder)


def main() -> None:
    """Prints the record."""
    from _record import report

    flips = int(sys.argv[1]) if len(sys.argv) > 1 else FLIPS
    with tempfile.TemporaryDirectory() as folder:
        path = make_store(Path(folder))
        found = list(outcomes(path, flips))
        counts = Counter(outcome.partition(":")[0] for _, _, outcome in found)
        wrong = [list(one) for one in found if one[2].startswith(("silent", "traceback"))]
        names = {"left out": "rows_left_out", "refused": "refused", "same": "same"}
        results = {title: counts[name] for name, title in names.items()}
        results |= {"silent": counts["silent"], "tracebacks": counts["traceback"], "wrong": wrong}
        count = int(sys.argv[2]) if len(sys.argv) > 2 else CHECKPOINT_FLIPS
        with tempfile.TemporaryDirectory() as place:
            of_checkpoints = list(checkpoint_outcomes(Path(place), count))
        said = Counter(outcome.partition(":")[0] for _, _, outcome in of_checkpoints)
        wrong = [list(one) for one in of_checkpoints if one[2].startswith(("silent", "traceback"))]
        names = ("noticed", "refused", "silent", "traceback")
        checkpoints = {"flips": count, **{name: said[name] for name in names}, "wrong": wrong}
        report("bit_flips", {"flips": flips, "bytes": path.stat().st_size, **results, "checkpoints": checkpoints})


if __name__ == "__main__":
    main()
