"""What a study is going to do, for people, programs and schedulers: `humboldt plan`, `--dry-run`, and what `run` says
before it begins."""

import shlex
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt.errors import MissingExtra, is_out_of_memory
from humboldt.report.words import counted, duration
from humboldt.study import Study
from humboldt.suites.experiments import Experiment

MOST_TASKS = 1000  # of a Slurm array; 1001 is what Slurm allows where nobody has allowed more
SLACK = 2.0  # the time limit of a task, as a multiple of the estimate
QUIET_SECONDS = 2.0  # without a word, at most
LEAST_MINUTES = 10  # of a task: starting takes time, too


@dataclass(frozen=True)
class Planned:
    """One experiment of a study: how much of it is missing, and how long that takes if it was estimated."""

    experiment: Experiment
    missing: tuple[Experiment, ...]
    seconds: float | None = None

    @property
    def num_missing(self) -> int:
        """Members that have something to do."""
        return sum(len(part.members) for part in self.missing)

    def record(self) -> dict[str, Any]:
        """As flat JSON."""
        training = self.experiment.training
        return {
            "id": self.experiment.id,
            "suite": training.suite,
            "task": training.task,
            "model": training.model,
            "engine": training.engine,
            "name": self.experiment.name,
            "members": len(self.experiment.members),
            "missing": self.num_missing,
            "work": self.experiment.work,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            "training": training.key,
        }


def announce(study: Study, *, with_estimate: bool = True, with_ids: bool = False) -> list[Planned]:
    """Says on stderr what will run, how it differs from the paper, and how long it will take; gives it back as data."""
    found = [Planned(experiment, tuple(missing)) for experiment, missing in study.parts()]
    total = sum(len(experiment.members) for experiment in study.experiments)
    missing = sum(planned.num_missing for planned in found)
    experiments = counted(len(study.experiments), "experiment")
    _say(f"{study.suite.name}, preset {study.request.preset}: {experiments}, {counted(total, 'member')} in all.")
    if different := study.departures():
        _say(_wrapped(different))
    if not missing:
        _say(f"Everything is already finished in `{study.out}`. There is nothing to do.")
        return found
    if missing < total:
        _say(f"{total - missing:,} of {counted(total, 'member')} are already finished in `{study.out}`.")
    pending = [(i, part) for i, planned in enumerate(found) for part in planned.missing]
    lines = [_line(part, found[i].experiment.id if with_ids else None) for i, part in pending]
    estimates = _told(study, [part for _, part in pending], lines, with_estimate=with_estimate)
    if estimates is None:
        return found
    _say(f"About {duration(sum(estimates))} in all, on this machine.")
    taken = [0.0] * len(found)
    for (i, _), seconds in zip(pending, estimates, strict=True):
        taken[i] += seconds
    return [Planned(one.experiment, one.missing, seconds) for one, seconds in zip(found, taken, strict=True)]


def _line(part: Experiment, identity: str | None) -> str:
    work = "scoring only" if part.kept else part.work
    return f"  {identity + '  ' if identity else ''}{part.name}: {counted(len(part.members), 'member')} x {work}"


def _told(
    study: Study, pending: Sequence[Experiment], lines: Sequence[str], *, with_estimate: bool
) -> list[float] | None:
    """Says every line, with how long it takes as soon as that is known; a word about why, where it cannot be known."""
    if not with_estimate:
        _say("\n".join(lines))
        return None
    found: list[float] = []
    estimates = study.estimate(pending)
    try:
        for line in lines:
            print(line, end="", file=sys.stderr, flush=True)  # before it is measured, which may take some seconds
            with _signs_of_life():
                found.append(next(estimates))
            _say(f", about {duration(found[-1])}")
        return found
    except MissingExtra as error:
        why = str(error)
    except Exception as error:  # of a user's model, say: the run itself will record it
        why = f"{type(error).__name__}: {error}"
        if is_out_of_memory(error):
            why = "some of these members do not fit into memory together. They will be trained in groups."
    _say("\n".join(["", *lines[len(found) + 1 :]]))
    _say(f"No estimate: {why}")
    return None


@contextmanager
def _signs_of_life() -> Iterator[None]:
    """Says that something is being measured if it takes more than two seconds, and goes on saying so."""
    is_done = threading.Event()

    def tell() -> None:
        word = ", measuring "
        while not is_done.wait(QUIET_SECONDS):
            print(f"{word}.", end="", file=sys.stderr, flush=True)
            word = ""

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        is_done.set()
        teller.join()


def slurm_script(study: Study, planned: Sequence[Planned], plugins: Sequence[Path] = ()) -> str:
    """A script for `sbatch`: an array with a task for each experiment that is missing, and a folder for each task."""
    missing = [one for one in planned if one.missing]
    tasks = min(len(missing), MOST_TASKS)
    longest = [one.seconds for one in missing if one.seconds is not None]
    rounds = -(-len(missing) // max(1, tasks))
    limit = "# The time was not estimated. If your cluster needs it, add a line: SBATCH --time=MINUTES\n"
    if longest:
        minutes = LEAST_MINUTES + round(max(longest) * rounds * SLACK / 60)
        limit = "# In minutes: twice the longest estimate, which was measured where this was written.\n"
        limit += f"#SBATCH --time={minutes}\n"
    run = shlex.join(command(study, plugins))
    out, here = shlex.quote(str(study.out.resolve())), shlex.quote(str(Path.cwd()))
    ids = "\n".join(f"  {one.experiment.id}  # {one.experiment.name}" for one in missing)
    return f"""#!/bin/bash
#SBATCH --job-name=humboldt-{study.suite.name}
#SBATCH --array=0-{max(0, tasks - 1)}
#SBATCH --output={study.suite.name}-%A_%a.log
# For a GPU each, add a line: SBATCH --gpus=1
#SBATCH --cpus-per-task=2
{limit}# A minute before the time is over the training is saved.
#SBATCH --signal=B:TERM@60

# {counted(len(missing), "experiment")}. Submit it again to go on with what is not finished; then join the results:
#   humboldt merge {out}/parts/* --out {out}
experiments=(
{ids}
)
chosen=()
for ((i = SLURM_ARRAY_TASK_ID; i < ${{#experiments[@]}}; i += {tasks})); do
  chosen+=(--experiment "${{experiments[i]}}")
done
cd {here}
# `exec`, so that the signal reaches the program.
exec {run} --no-estimate --out {out}/parts/"$SLURM_ARRAY_TASK_ID" "${{chosen[@]}}"
"""


def command(study: Study, plugins: Sequence[Path] = ()) -> list[str]:
    """The command that runs this study, but for its folder."""
    request = study.request
    parts: list[tuple[str, Any]] = [
        *(("--task", name) for name in request.tasks),
        *(("--model", name) for name in request.models),
        ("--preset", request.preset),
        *([("--seeds", request.seeds)] if request.seeds is not None else []),
        *(("--set", f"{key}={value}") for key, value in request.settings.items()),
        *(("--plugin", path.resolve()) for path in plugins),
    ]
    return ["humboldt", "run", study.suite.name, *(str(text) for part in parts for text in part)]


def _wrapped(text: str) -> str:
    """Broken between words on a terminal. A log keeps long lines."""
    if not sys.stderr.isatty():
        return text
    return textwrap.fill(text, shutil.get_terminal_size().columns, break_on_hyphens=False)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
