"""Locks the trainings that this process works on against other processes, and tidies up after killed processes."""

import itertools
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from humboldt.storage.locks import Lock
from humboldt.storage.store import Done, checkpoint_folder
from humboldt.suites.experiments import Experiment

if TYPE_CHECKING:
    from humboldt.running.study import Study

MOST_TIDIED = 100  # with more members, only the checkpoints of all members together are looked for


@dataclass
class _Claim:
    """One training: its lock, and its numbers of members and experiments without an outcome."""

    lock: Lock
    members: int
    experiments: int


@dataclass
class Claims:
    """The trainings of a study that this process has locked."""

    study: "Study"
    held: dict[str, _Claim] = field(default_factory=dict)

    def missing(self) -> Iterator[Experiment | None]:
        """Claims missing trainings one at a time and yields their experiments.

        Trainings of other processes are tried again afterwards; `None` means that they work on all that is left.
        """
        study, done = self.study, self.study.done()
        waiting: dict[str, list[Experiment]] = {}
        for experiment in study.experiments:
            waiting.setdefault(experiment.training.key, []).append(experiment)
        waiting = {key: whole for key, whole in waiting.items() if study.missing_of(whole, done)}
        while waiting:
            busy = {}
            for key, whole in waiting.items():
                lock = Lock(_lock_path(study.out, key))
                if not lock.claim():
                    busy[key] = whole
                    continue
                # Another process may have done some of it in the meantime.
                known = done.get(key, Done()) | study.store.done(key).get(key, Done())
                missing = study.missing_of(whole, {key: known})
                if not missing:
                    lock.release()
                    continue
                members = sum(len(experiment.members) for experiment in missing)
                self.held[key] = _Claim(lock, members, len(missing))
                yield from missing
            if len(busy) == len(waiting):
                yield None
            waiting = busy

    def finish(self, experiment: Experiment) -> int:
        """Counts the members of a stored outcome. Releases the training with its last member; returns the number of
        experiments that ended with it."""
        key = experiment.training.key
        claim = self.held[key]
        claim.members -= len(experiment.members)
        if claim.members:
            return 0
        self.held.pop(key).lock.release()
        return claim.experiments

    def release(self) -> None:
        """Releases all claims."""
        for claim in self.held.values():
            claim.lock.release()


def tidy(out: Path, experiments: Sequence[Experiment], pending: set[str]) -> None:
    """Removes checkpoints and locks of finished trainings that killed processes left behind.

    `pending`: keys of unfinished trainings. A checkpoint belongs to one group of members. Checkpoints of other requests
    may be needed, and are not removed.
    """
    for experiment in experiments:
        training, members = experiment.training, experiment.members
        lock = Lock(_lock_path(out, training.key))
        left = set((out / "checkpoints").glob(f"{training.key}-*"))
        if training.key in pending or not (left or lock.path.exists()) or not lock.claim():
            continue
        try:
            # Members that were missing together are trained together, or in halves: always intervals of the list.
            ends = range(len(members) + 1) if len(members) <= MOST_TIDIED else (0, len(members))
            for first, last in itertools.combinations(ends, 2):
                folder = checkpoint_folder(out, training, members[first:last])
                if folder in left:
                    shutil.rmtree(folder, ignore_errors=True)
        finally:
            lock.release()


def _lock_path(out: Path, key: str) -> Path:
    return out / "locks" / f"{key}.lock"
