"""Sends checkpoints between machines as bytes if no folder is shared."""

import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from humboldt.storage.store import checkpoint_folder, weights_path
from humboldt.suites.experiments import Experiment

Files = Mapping[str, bytes]
"""Contents by path, relative to a results folder."""


@dataclass(frozen=True)
class Change:
    """Changes in some folders since the last call: `new` contents, and the names of all `present` files."""

    new: Files = field(default_factory=dict)
    present: frozenset[str] = frozenset()


def needed(folder: Path, experiment: Experiment) -> dict[str, bytes]:
    """Reads the files that an experiment resumes from: its checkpoints, or saved weights if it is only scored."""
    if experiment.score_only:
        paths = [weights_path(folder, experiment.training, member) for member in experiment.members]
    else:
        paths = _files(_checkpoint_folders(folder, experiment))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


def put(folder: Path, files: Files) -> None:
    """Writes files, each atomically."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


class CheckpointWatcher:
    """Watches the checkpoints of a folder, so that only changes need to be sent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sent: dict[str, tuple[int, int]] = {}

    def change(self) -> Change:
        """Returns the changes since the last call."""
        new, present = {}, {}
        for path in _files([self.folder / "checkpoints"]):
            name = str(path.relative_to(self.folder))
            try:
                status = path.stat()
                present[name] = (status.st_mtime_ns, status.st_ino)
                if self._sent.get(name) != present[name]:
                    new[name] = path.read_bytes()
            except FileNotFoundError:  # it was superseded in the meantime
                present.pop(name, None)
        self._sent = present
        return Change(new, frozenset(present))


def take(folder: Path, experiment: Experiment, change: Change) -> None:
    """Mirrors the checkpoints of an experiment from another machine: writes new ones, then removes old ones."""
    put(folder, change.new)
    if not change.present:
        return  # nothing is saved there, not even the files that were sent: keep all files here
    for path in _files(_checkpoint_folders(folder, experiment)):
        if str(path.relative_to(folder)) not in change.present:
            path.unlink(missing_ok=True)


def _checkpoint_folders(folder: Path, experiment: Experiment) -> list[Path]:
    """Returns the folders of all groups of a training's members, which may have been split to fit into memory."""
    whole = checkpoint_folder(folder, experiment.training, experiment.members)
    return sorted(whole.parent.glob(f"{experiment.training.key}-*"))


def _files(folders: Iterable[Path]) -> list[Path]:
    return [
        path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".tmp"
    ]
