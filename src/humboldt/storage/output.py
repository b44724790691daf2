"""Writes the output files of commands: completely or not at all, replacing only plain files, never through a link."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from humboldt.errors import UsageError

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields the path of a new, empty file, which replaces `path` when the block ends without an error.

    Its name is random, so that no link can be waiting there. Raises `OSError`, and a usage error if `path` exists and
    is not a plain file.
    """
    _check_plain(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".humboldt-", suffix=path.suffix[:20])
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        _check_plain(path)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def appearing(path: Path) -> Iterator[IO[bytes]]:
    """Yields the file of `replacing`, open for writing."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        yield file


def write_file(path: Path, content: str | bytes, option: str = "--output") -> None:
    """Writes a file. Raises a usage error that names it, and the option that chose it, if that fails."""
    try:
        with appearing(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise UsageError(
            f"`{shortened(path)}` cannot be written: {reason(error)}. Choose another file with {option}."
        ) from error


def check_output(path: Path, option: str = "--output") -> None:
    """Raises a usage error if no file can be written to `path`. Commands call this before they begin to work."""
    try:
        _check_plain(path, option)
        mode = os.stat(path.parent).st_mode
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{option} {shortened(path)}: {reason(error)}. Give a file in a folder that exists."
        ) from error
    if not stat.S_ISDIR(mode):
        raise UsageError(f"{option} {shortened(path)}: `{path.parent}` is not a folder. Choose another file.")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{option} {shortened(path)}: `{path.parent}` cannot be written. Choose another folder.")


def shortened(path: object) -> str:
    """Returns a path, shortened for a message."""
    text = str(path)
    return text if len(text) <= 120 else f"{text[:117]}..."


def reason(error: Exception) -> str:
    """Returns the reason of an error, without the path, which may be long."""
    return getattr(error, "strerror", None) or str(error)


def _check_plain(path: Path, option: str = "--output") -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "not a file")
        raise UsageError(f"{option} {path}: that is {kind}, and only plain files are replaced. Choose another file.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
