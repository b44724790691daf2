"""Arrays on disk: never half-written, checked when read, no pickle. Used for checkpoints and for kept weights."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

FORMAT = "humboldt arrays 1"

T = TypeVar("T")


class Damaged(Exception):
    """A file that cannot be trusted."""


def write(path: Path, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
    """Writes named arrays after two lines, a checksum and JSON. `path` holds the old content or the new one, never a
    mixture, whoever else writes it at the same time."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    described = [[name, array.dtype.name, list(array.shape)] for name, array in arrays.items()]
    header = json.dumps({"format": FORMAT, "about": about, "arrays": described}).encode()
    body = b"".join(array.tobytes() for array in arrays.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(hashlib.sha256(header + body).hexdigest().encode() + b"\n" + header + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself must reach the disk
    finally:
        os.close(folder)


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and what was said about them."""
    try:
        checksum, header, body = path.read_bytes().split(b"\n", 2)
        if hashlib.sha256(header + body).hexdigest().encode() != checksum:
            raise Damaged(f"`{path.name}` does not match its checksum.")
        described = json.loads(header)
        if described["format"] != FORMAT:
            raise Damaged(f"`{path.name}` is of the format {described['format']!r}, not {FORMAT!r}.")
        arrays, offset = {}, 0
        for name, kind, shape in described["arrays"]:
            array = np.frombuffer(body, _dtype(kind), int(np.prod(shape)), offset).reshape(shape)
            arrays[name] = array.copy()  # what is read from a buffer cannot be written to
            offset += array.nbytes
        return arrays, described["about"]
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise Damaged(f"`{path.name}` cannot be read: {error}") from error


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        import ml_dtypes  # comes with JAX

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


@dataclass(frozen=True)
class Latest(Generic[T]):
    """The newest good checkpoint: how much work was done, what it holds (`None` if there is none), what was said about
    it, and complaints about bad ones."""

    done: int
    value: T | None
    about: Mapping[str, Any]
    complaints: tuple[str, ...]


@dataclass(frozen=True)
class Checkpoints:
    """The newest two checkpoints of one piece of work, in a folder of their own, so that one damaged file is not the
    end. `save_seconds` is how often they should be saved: at most so much work is ever lost."""

    folder: Path
    save_seconds: float = 30.0

    def inner(self, name: str) -> "Checkpoints":
        """Checkpoints of a part of the work."""
        return Checkpoints(self.folder / name, self.save_seconds)

    def _paths(self) -> list[Path]:
        return sorted((path for path in self.folder.glob("done-*.ckpt") if path.is_file()), reverse=True)

    def save(self, done: int, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any] | None = None) -> None:
        """Adds a checkpoint, after `done` units of work, and drops all but the newest two."""
        write(self.folder / f"done-{done:09d}.ckpt", arrays, {**(about or {}), "done": done})
        for path in self._paths()[2:]:
            path.unlink(missing_ok=True)

    def latest(self, convert: Callable[[dict[str, np.ndarray]], T]) -> Latest[T]:
        """The newest checkpoint that can be read and converted."""
        complaints = []
        paths = self._paths()
        for i, path in enumerate(paths):
            try:
                arrays, about = read(path)
                return Latest(about["done"], convert(arrays), about, tuple(complaints))
            except (Damaged, ValueError, KeyError) as error:
                way_out = "Going back to the one before." if i + 1 < len(paths) else "Starting from the beginning."
                complaints.append(f"Damaged checkpoint: `{path.name}`: {error}. {way_out}")
        return Latest(0, None, {}, tuple(complaints))
