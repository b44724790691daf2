"""Checkpoints: arrays on disk that are never half-written and are checked when read. No pickle, no JAX.

A file is one line that names the format; one line of JSON with the caller's description of the arrays and, for each of
them, name, data type and shape; their bytes, one after the other; and the SHA-256 of all of that, so that a change of
any byte is detected. Saved weights (`*.weights`) are safetensors files with the same guarantee, see
`weights`; those of earlier versions, and arrays that safetensors does not have, are in the form above.
"""

import ast
import contextlib
import hashlib
import json
import os
import re
import stat
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from humboldt.errors import HumboldtError
from humboldt.storage import weights
from humboldt.storage.weights import PIECE_BYTES, Damaged, bytes_of, extended_dtype

KEPT = ".weights"  # extension of files of saved weights
FORMAT = b"humboldt checkpoint 2\n"
DIGEST_BYTES = hashlib.sha256().digest_size
STALE_SECONDS = 3600.0  # a temporary file this old belongs to a process that was killed
LARGEST_SHARE = 0.1  # of the time that may go into saving large ensembles, which take seconds to write


_NAME = re.compile(r"done-(?P<done>[0-9]+)(-attempt-(?P<attempt>[0-9]+))?\.ckpt")


class Superseded(HumboldtError):
    """Another process has taken over this work."""


def write(path: Path, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
    """Writes `arrays` and, as JSON, `about`. `path` has either the old content or the new one, never a mixture.

    Arrays may have any data type except Python objects; `ml_dtypes` (such as bfloat16) are supported.
    """
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    header = weights.header_of(plain, about) if path.suffix == KEPT else None
    if header is not None:
        _replace(path, [header, *map(bytes_of, plain.values())])
        return
    described = [
        {"name": name, "dtype": _dtype_text(name, array.dtype), "shape": array.shape} for name, array in plain.items()
    ]
    header = FORMAT + json.dumps({"about": about, "arrays": described}).encode() + b"\n"
    digest = hashlib.sha256()
    for part in (parts := [header, *map(bytes_of, plain.values())]):
        digest.update(part)
    _replace(path, [*parts, digest.digest()])


def _replace(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Replaces a file atomically, also if the machine loses power."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The name is unique, so that two processes never write to the same file.
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        if path.is_dir():  # a folder of that name was created by hand
            path.rename(path.with_name(f"{path.name}.folder-{uuid.uuid4().hex}"))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself must reach the disk
    finally:
        os.close(folder)


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads the arrays and `about` of `write` (in which tuples have become lists)."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for without end
            raise Damaged(f"`{path.name}` is not a plain file.")
        with path.open("rb") as file:
            if (start := file.read(len(FORMAT))) != FORMAT:
                if start[8:9] == b"{":
                    return weights.read(file, path.name)
                raise Damaged(f"`{path.name}` does not begin with `{FORMAT.decode().strip()}`.")
            file.seek(0)
            _check_digest(file, path.name)  # before anything is used
            file.seek(len(FORMAT))
            header = json.loads(file.readline())
            arrays = {}
            for entry in header["arrays"]:
                arrays[entry["name"]] = np.empty(entry["shape"], _dtype(entry["dtype"]))
                file.readinto(bytes_of(arrays[entry["name"]]))
            return arrays, header["about"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, MemoryError, SyntaxError) as error:
        raise Damaged(f"`{path.name}` cannot be read: {error}.") from error


def _check_digest(file: BinaryIO, name: str) -> None:
    left = os.fstat(file.fileno()).st_size - DIGEST_BYTES
    digest = hashlib.sha256()
    while left > 0 and (piece := file.read(min(left, PIECE_BYTES))):
        digest.update(piece)
        left -= len(piece)
    if left or file.read() != digest.digest():
        raise Damaged(f"`{name}` does not match its checksum.")


class Latest(NamedTuple):
    """The newest good checkpoint: `done` is 0 and the mappings are empty if there is none."""

    done: int
    arrays: dict[str, np.ndarray]
    about: dict[str, Any]
    complaints: list[str]  # about newer checkpoints that are damaged


class Checkpoints:
    """The newest two checkpoints of one piece of work, in a separate folder; two, in case one file is damaged.

    `save_seconds`: the time between checkpoints, see `due`; longer if saving would take more than a tenth of the time.
    `attempt`: the number of this attempt, from `begin_attempt`; 0 without one. Checkpoints of later attempts count as
    newer, even if earlier attempts have done more work.
    """

    def __init__(self, folder: Path, save_seconds: float = 30.0, attempt: int = 0, marks: Path | None = None) -> None:
        self.folder = folder
        self.save_seconds = save_seconds
        self.attempt = attempt
        self._marks = marks or folder  # where attempts are counted
        self._damaged: list[Path] = []
        self._saved_at = time.monotonic()
        self._asked_at = 0.0  # time at which `due` returned true; 0 if the last save was not due
        self._cost = 0.0  # seconds of the last save

    def part(self, name: str) -> "Checkpoints":
        """Returns the checkpoints of a part of the work, in a subfolder."""
        return Checkpoints(self.folder / name, self.save_seconds, self.attempt, self._marks)

    def due(self) -> bool:
        """Returns whether it is time to save. The time from this call to the end of `save` counts as saving."""
        now = time.monotonic()
        wait = self.save_seconds and max(self.save_seconds, self._cost / LARGEST_SHARE)
        if now - self._saved_at < wait:
            return False
        self._asked_at = now
        return True

    def save(self, done: int, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any] | None = None) -> None:
        """Adds a checkpoint after `done` units of work, and removes all older ones except the newest of them.

        Raises `Superseded` if a later attempt has begun, or if the work was finished by one.
        """
        if last_attempt(self._marks) != self.attempt:
            raise Superseded(f"Another process has taken over the work in `{self._marks}`, or has finished it.")
        path = self.folder / (f"done-{done:09d}" + (f"-attempt-{self.attempt:04d}" if self.attempt else "") + ".ckpt")
        write(path, arrays, {"done": done, "about": dict(about or {})})
        old = [other for other in self._paths() if other.is_file() and _number(other) < (self.attempt, done)]
        for other in {*old[1:], *self._damaged} - {path}:
            with contextlib.suppress(OSError):  # a folder of that name, or removed by another process
                other.unlink()
        self._damaged = []
        for temporary in self.folder.glob("*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - temporary.stat().st_mtime > STALE_SECONDS:
                    temporary.unlink()
        self._saved_at = time.monotonic()
        if self._asked_at:
            self._cost, self._asked_at = self._saved_at - self._asked_at, 0.0

    def latest(self) -> Latest:
        """Returns the newest readable checkpoint, with warnings about unreadable ones."""
        complaints = []
        paths = self._paths()
        for i, path in enumerate(paths):
            try:
                arrays, header = read(path)
                if not isinstance(header.get("done"), int) or not isinstance(header.get("about"), dict):
                    raise Damaged(f"`{path.name}` does not say how much work was done.")
                return Latest(header["done"], arrays, header["about"], complaints)
            except Damaged as error:
                self._damaged.append(path)
                way_out = "Going back to the one before." if i + 1 < len(paths) else "Starting from the beginning."
                complaints.append(f"Damaged checkpoint: {error} {way_out}")
        return Latest(0, {}, {}, complaints)

    def remove(self) -> None:
        """Deletes the checkpoints of finished work, and the folder if nothing else is in it."""
        for path in [*self._paths(), *self.folder.glob("*.tmp"), *_attempts(self.folder)]:
            if path.is_file():
                path.unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _paths(self) -> list[Path]:
        """Returns the paths of all checkpoints, newest first."""
        paths = [path for path in self.folder.glob("done-*.ckpt") if _NAME.fullmatch(path.name)]
        return sorted(paths, key=_number, reverse=True)


def begin_attempt(folder: Path) -> int:
    """Reserves the next attempt number in this folder.

    An earlier process that still works there can then neither replace nor remove the checkpoints of the new one, and
    ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    number = last_attempt(folder)
    while True:
        number += 1
        try:
            (folder / f"attempt-{number:04d}").touch(exist_ok=False)
            return number
        except FileExistsError:  # another process was faster
            continue


def last_attempt(folder: Path) -> int:
    """Returns the number of the newest attempt; 0 if there is none."""
    return max((int(path.name.removeprefix("attempt-")) for path in _attempts(folder)), default=0)


def _attempts(folder: Path) -> list[Path]:
    return [path for path in folder.glob("attempt-*") if path.name.removeprefix("attempt-").isdecimal()]


def _number(path: Path) -> tuple[int, int]:
    """Returns the attempt and the amount of work done."""
    match = _NAME.fullmatch(path.name)
    assert match is not None
    return int(match["attempt"] or 0), int(match["done"])


def _dtype_text(name: str, dtype: np.dtype[Any]) -> str:
    if dtype.hasobject:
        raise TypeError(
            f"The array `{name}` has the data type {dtype}, which holds Python objects; a checkpoint holds plain "
            "memory. Store numbers, booleans or strings of a fixed length."
        )
    if dtype.isbuiltin == 2:  # registered by another package: `str` would call them all `V2`
        return dtype.name
    return dtype.str if dtype.names is None else repr(np.lib.format.dtype_to_descr(dtype))


def _dtype(text: str) -> np.dtype[Any]:
    if text.startswith("["):
        return np.lib.format.descr_to_dtype(ast.literal_eval(text))
    try:
        return np.dtype(text)
    except TypeError:
        return extended_dtype(text)
