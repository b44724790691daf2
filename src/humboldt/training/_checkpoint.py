"""Weights on disk: never half-written, checked when read, no pickle."""

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import equinox as eqx
from jaxtyping import PyTree

MAGIC = "humboldt checkpoint 1"


class Damaged(Exception):
    """A checkpoint file that cannot be trusted."""


def write(path: Path, tree: PyTree, about: dict[str, Any]) -> None:
    """Writes `tree` after one line of JSON; `path` holds either the old content or the new one, never a mixture."""
    payload = io.BytesIO()
    eqx.tree_serialise_leaves(payload, tree)
    body = payload.getvalue()
    header = {"format": MAGIC, "sha256": hashlib.sha256(body).hexdigest(), **about}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(json.dumps(header).encode() + b"\n")
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself must reach the disk
    finally:
        os.close(folder)


def read(path: Path, like: PyTree) -> tuple[PyTree, dict[str, Any]]:
    """The tree and what was said about it. `like` gives shapes and types."""
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline())
            body = file.read()
        if header["format"] != MAGIC or hashlib.sha256(body).hexdigest() != header["sha256"]:
            raise Damaged(f"`{path.name}` does not match its checksum.")
        return eqx.tree_deserialise_leaves(io.BytesIO(body), like), header
    except (ValueError, KeyError, UnicodeDecodeError, TypeError, RuntimeError, EOFError) as error:
        raise Damaged(f"`{path.name}` cannot be read: {error}") from error


class Checkpoints:
    """The newest two checkpoints of one run, in a folder of their own, so that one damaged file is not the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("done-*.ckpt"), reverse=True)

    def save(self, done: int, tree: PyTree) -> None:
        """Adds a checkpoint, after `done` units of work, and drops all but the newest two."""
        write(self.folder / f"done-{done:09d}.ckpt", tree, {"done": done})
        for path in self._paths()[2:]:
            path.unlink()

    def latest(self, like: PyTree) -> tuple[int, PyTree, list[str]]:
        """Work done and tree of the newest good checkpoint (`0, like` if there is none); complaints about bad ones."""
        complaints = []
        paths = self._paths()
        for i, path in enumerate(paths):
            try:
                tree, header = read(path, like)
                return header["done"], tree, complaints
            except Damaged as error:
                way_out = "Going back to the one before." if i + 1 < len(paths) else "Starting from the beginning."
                complaints.append(f"Damaged checkpoint: {error} {way_out}")
        return 0, like, complaints

    def remove(self) -> None:
        """Deletes the checkpoints of a finished run."""
        for path in [*self._paths(), *self.folder.glob("*.tmp")]:
            path.unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()
