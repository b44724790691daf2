"""Arrays on disk, between the steps of long work: never half-written, checked when read, no pickle, no JAX.

A file is one line that names the format; one line of JSON with what the caller says about the arrays and, for each of
them, name, data type and shape; their bytes, one after the other; and the SHA-256 of all of that. So an edit to any
byte is noticed, the header's included.
"""

import ast
import contextlib
import hashlib
import json
import os
import re
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from humboldt.errors import HumboldtError, MissingExtra

FORMAT = b"humboldt checkpoint 2\n"
DIGEST_BYTES = hashlib.sha256().digest_size
PIECE_BYTES = 1 << 20
STALE_SECONDS = 3600.0  # a temporary file this old belongs to a process that was killed
LARGEST_SHARE = 0.1  # of the time that saving may take, of large ensembles that take seconds to write


_NAME = re.compile(r"done-(?P<done>[0-9]+)(-attempt-(?P<attempt>[0-9]+))?\.ckpt")


class Damaged(Exception):
    """A checkpoint file that cannot be trusted."""


class Superseded(HumboldtError):
    """Somebody else does this work now."""


def write(path: Path, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> None:
    """Writes `arrays` and, as JSON, `about`. `path` holds either the old content or the new one, never a mixture.

    Arrays may have any data type but Python objects, `ml_dtypes` (such as bfloat16) included.
    """
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    described = [
        {"name": name, "dtype": _dtype_text(name, array.dtype), "shape": array.shape} for name, array in plain.items()
    ]
    header = json.dumps({"about": about, "arrays": described}).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    # The name is this call's own, so that two processes never write to one file.
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex}.tmp")
    digest = hashlib.sha256()
    try:
        with temporary.open("xb") as file:
            for part in (FORMAT, header, *map(_bytes_of, plain.values())):
                digest.update(part)
                file.write(part)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        if path.is_dir():  # whoever made a folder of this name may want it back
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
    """The arrays and what was said about them, as `write` was given them (in JSON, a tuple is a list)."""
    try:
        with path.open("rb") as file:
            if file.readline(len(FORMAT)) != FORMAT:
                raise Damaged(f"`{path.name}` does not begin with `{FORMAT.decode().strip()}`.")
            file.seek(0)
            _check_digest(file, path.name)  # before anything is believed
            file.seek(len(FORMAT))
            header = json.loads(file.readline())
            arrays = {}
            for entry in header["arrays"]:
                arrays[entry["name"]] = np.empty(entry["shape"], _dtype(entry["dtype"]))
                file.readinto(_bytes_of(arrays[entry["name"]]))
            return arrays, header["about"]
    except (OSError, ValueError, KeyError, TypeError) as error:
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
    complaints: list[str]  # about newer checkpoints that are damaged, in words


class Checkpoints:
    """The newest two checkpoints of one piece of work, in a folder of their own: one damaged file is not the end.

    `save_seconds` is how often whoever works should save, asking `due`: at most so much work is ever lost, unless
    saving would take more than a tenth of the time. `attempt` is the number of whoever works, from `begin_attempt`: 0
    where nobody has asked for one. Those of later attempts are newer, however much the earlier ones have done.
    """

    def __init__(self, folder: Path, save_seconds: float = 30.0, attempt: int = 0, marks: Path | None = None) -> None:
        self.folder = folder
        self.save_seconds = save_seconds
        self.attempt = attempt
        self._marks = marks or folder  # where attempts are counted
        self._damaged: list[Path] = []
        self._saved_at = time.monotonic()
        self._asked_at = 0.0  # of the answer that it is time; 0 if the last one was not asked for
        self._cost = 0.0  # seconds that the last one took

    def part(self, name: str) -> "Checkpoints":
        """Those of a part of the work, in a folder inside this one."""
        return Checkpoints(self.folder / name, self.save_seconds, self.attempt, self._marks)

    def due(self) -> bool:
        """Whether it is time to save. What the caller does between this answer and `save` counts as saving."""
        now = time.monotonic()
        wait = self.save_seconds and max(self.save_seconds, self._cost / LARGEST_SHARE)
        if now - self._saved_at < wait:
            return False
        self._asked_at = now
        return True

    def save(self, done: int, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any] | None = None) -> None:
        """Adds a checkpoint after `done` units of work, and drops older ones but for the newest of these.

        Raises `Superseded` if a later attempt has begun, or if the work was finished by one.
        """
        if last_attempt(self._marks) != self.attempt:
            raise Superseded(f"Another process has taken over the work in `{self._marks}`, or has finished it.")
        path = self.folder / (f"done-{done:09d}" + (f"-attempt-{self.attempt:04d}" if self.attempt else "") + ".ckpt")
        write(path, arrays, {"done": done, "about": dict(about or {})})
        old = [other for other in self._paths() if other.is_file() and _number(other) < (self.attempt, done)]
        for other in {*old[1:], *self._damaged} - {path}:
            with contextlib.suppress(OSError):  # a folder of that name, or another process was faster
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
        """The newest checkpoint that can be read, and complaints about those that cannot."""
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
        """The newest first."""
        paths = [path for path in self.folder.glob("done-*.ckpt") if _NAME.fullmatch(path.name)]
        return sorted(paths, key=_number, reverse=True)


def begin_attempt(folder: Path) -> int:
    """A number for whoever goes on with the work in this folder, larger than all before.

    A forgotten process that still works on it then neither replaces nor removes what the new one saves, and ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    number = last_attempt(folder)
    while True:
        number += 1
        try:
            (folder / f"attempt-{number:04d}").touch(exist_ok=False)
            return number
        except FileExistsError:  # somebody was faster
            continue


def last_attempt(folder: Path) -> int:
    """The number of the newest attempt; 0 if none has a number."""
    return max((int(path.name.removeprefix("attempt-")) for path in _attempts(folder)), default=0)


def _attempts(folder: Path) -> list[Path]:
    return [path for path in folder.glob("attempt-*") if path.name.removeprefix("attempt-").isdecimal()]


def _number(path: Path) -> tuple[int, int]:
    """The attempt, and how much was done."""
    found = _NAME.fullmatch(path.name)
    assert found is not None
    return int(found["attempt"] or 0), int(found["done"])


def _bytes_of(array: np.ndarray) -> memoryview:
    """The memory of a contiguous array, as bytes."""
    return array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(bytearray())


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
        try:
            import ml_dtypes  # comes with JAX; nothing else here needs it
        except ImportError as error:
            raise MissingExtra("ml_dtypes") from error
        return np.dtype(getattr(ml_dtypes, text))
