"""Files that go from one machine to another as bytes, where no folder is shared."""

import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from humboldt.store import checkpoint_folder, weights_path
from humboldt.suites.experiments import Experiment

Files = Mapping[str, bytes]
"""Contents by path, relative to a results folder."""


@dataclass(frozen=True)
class Change:
    """What has changed in some folders since the last look: `new` contents, and all files that there are now."""

    new: Files = field(default_factory=dict)
    present: frozenset[str] = frozenset()


def needed(folder: Path, experiment: Experiment) -> dict[str, bytes]:
    """What an experiment goes on from: its checkpoints, or the kept weights of members that are only scored."""
    if experiment.kept:
        paths = [weights_path(folder, experiment.training, member) for member in experiment.members]
    else:
        paths = _files(_checkpoint_folders(folder, experiment))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


def put(folder: Path, files: Files) -> None:
    """Writes files, each whole or not at all."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


class Watched:
    """The checkpoints of a folder, of which only what has changed need travel."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sent: dict[str, tuple[int, int]] = {}

    def change(self) -> Change:
        """Since the last time."""
        new, present = {}, {}
        for path in _files([self.folder / "checkpoints"]):
            name = str(path.relative_to(self.folder))
            try:
                status = path.stat()
                present[name] = (status.st_mtime_ns, status.st_ino)
                if self._sent.get(name) != present[name]:
                    new[name] = path.read_bytes()
            except FileNotFoundError:  # it was superseded just now
                present.pop(name, None)
        self._sent = present
        return Change(new, frozenset(present))


def take(folder: Path, experiment: Experiment, change: Change) -> None:
    """Makes the checkpoints of an experiment what they are on the other machine: new ones first, then old ones go."""
    put(folder, change.new)
    if not change.present:
        return  # nothing was saved there, not even what was sent: whatever is here stays
    for path in _files(_checkpoint_folders(folder, experiment)):
        if str(path.relative_to(folder)) not in change.present:
            path.unlink(missing_ok=True)


def _checkpoint_folders(folder: Path, experiment: Experiment) -> list[Path]:
    """Of all groups of the training's members: those that do not fit into memory together are trained in halves."""
    whole = checkpoint_folder(folder, experiment.training, experiment.members)
    return sorted(whole.parent.glob(f"{experiment.training.key}-*"))


def _files(folders: Iterable[Path]) -> list[Path]:
    return [
        path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".tmp"
    ]
