"""Do the tests notice what they are there for? Seeds ten faults, one at a time, and runs the tests that should fail.

    python benchmarks/seeded_faults.py TREE [NAME ...]

`TREE` is a checkout, which is copied; nothing in it is changed. Prints one JSON record: for every fault the test that
caught it, and that the same tests pass without it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _record import report


@dataclass(frozen=True)
class Fault:
    """A line of `src/humboldt`, what it is changed to, and the tests that should notice."""

    name: str
    file: str
    right: str
    wrong: str
    tests: str


FAULTS = (
    Fault(
        "models: padding counts as input",
        "models/networks/recurrent.py",
        "mask.sum(dtype=jnp.int32))",
        "len(tokens))",
        "tests/contracts/test_models.py -k padding and tape_rnn",
    ),
    Fault(
        "gradients: a hoisted layer reads the state after the step, not before it",
        "models/loop/unroll.py",
        "jnp.concatenate([jax.tree.leaves(state)[k][None], outputs[:-1]])",
        "outputs",
        "tests/contracts/test_models.py -k hoisted and lstm",
    ),
    Fault(
        "scorer: the first scored length is left out",
        "measures/accuracy.py",
        "if first <= length <= last",
        "if first < length <= last",
        "tests/measures/test_accuracy.py",
    ),
    Fault(
        "store: a finished member is replaced",
        "storage/rows.py",
        "= ? AND member = ? AND state = 'failed'\"",
        '= ? AND member = ?"',
        "tests/storage/test_store.py",
    ),
    Fault(
        "resume: training goes on with the first batches instead of the next",
        "training/loop.py",
        "prefetch(stepper.data(first, last) for (first, last), _ in rounds)",
        "prefetch(stepper.data(first - saved, last - saved) for (first, last), _ in rounds)",
        "tests/training/ensemble/test_train.py -k resumed",
    ),
    Fault(
        "identity: versions do not count",
        "core/identity.py",
        "self.engine, self.setting, self.versions])",
        "self.engine, self.setting])",
        "tests/core/test_identity.py",
    ),
    Fault(
        "table: results of superseded versions compete",
        "suites/cells.py",
        "if resolving.is_current(suite, scores.training, scores.evaluation):",
        "if resolving.is_current(suite, scores.training, scores.evaluation) is not None:",
        "tests/suites/test_reading.py",
    ),
    Fault(
        "stream: every call of the program gets the first batches",
        "training/ensemble/stream.py",
        "[stream(i) for i in range(first, last)]",
        "[stream(i - first) for i in range(first, last)]",
        "tests/training/ensemble/test_stream.py",
    ),
    Fault(
        "locks: two processes hold one claim",
        "storage/locks.py",
        "fcntl.LOCK_EX | fcntl.LOCK_NB",
        "fcntl.LOCK_SH | fcntl.LOCK_NB",
        "tests/storage/test_locks.py",
    ),
    Fault(
        "settings: the largest value that is allowed is refused",
        "settings.py",
        "value > field.most",
        "value >= field.most",
        "tests/test_settings.py",
    ),
)


def first_failure(tree: Path, tests: str) -> str | None:
    """The first of these tests that fails; `None` if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-rfE", *tests.split(" ", 2)]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode != 1 or found is None:  # no test was run: that is no catch
        raise RuntimeError(done.stdout + done.stderr)
    return found[1]


def try_fault(tree: Path, fault: Fault) -> dict[str, object]:
    """What the tests say without the fault, and with it."""
    path = tree / "src" / "humboldt" / fault.file
    text = path.read_text()
    if text.count(fault.right) != 1:
        raise ValueError(f"{fault.file} has {fault.right!r} {text.count(fault.right)} times; the fault needs it once.")
    without = first_failure(tree, fault.tests)
    path.write_text(text.replace(fault.right, fault.wrong))
    try:
        caught_by = first_failure(tree, fault.tests)
    finally:
        path.write_text(text)
    return {"fault": fault.name, "file": fault.file, "fails without it": without, "caught by": caught_by}


if __name__ == "__main__":
    chosen = [fault for fault in FAULTS if not sys.argv[2:] or any(name in fault.name for name in sys.argv[2:])]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(sys.argv[1], copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__"))
        results = [try_fault(copy, fault) for fault in chosen]
    report("seeded faults", {"faults": results})
