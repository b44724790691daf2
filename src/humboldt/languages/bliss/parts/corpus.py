"""A training corpus, and the authors' file layout."""

import collections
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Pairs

if TYPE_CHECKING:
    from humboldt.languages.bliss.base import AbstractLanguage

BOUNDARY = "#"
PRIOR = 0.3  # appendix A.1
PASSWORD = b"1234"  # keeps the released files out of web crawls for language models; it is public


@dataclass(frozen=True)
class Corpus:
    """Training strings with repetitions, sorted by length. `p` is the prior they were drawn with."""

    language: "AbstractLanguage"
    strings: tuple[str, ...]
    p: float = PRIOR

    def __post_init__(self) -> None:
        if not self.strings:
            raise UsageError("The corpus has no strings. A test set begins after the longest one: give at least one.")

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of occurrences of each distinct string, in order of first occurrence."""
        return dict(collections.Counter(self.strings))

    @property
    def last(self) -> str:
        """The last string by length, then lexicographically (the order of the alphabets is that of characters)."""
        return max(self.counts, key=lambda string: (len(string), string))

    def records(self) -> Iterator[dict[str, str]]:
        """Yields one `{"input": "# a b", "target": "a b #"}` for each string."""
        return records(self.language, self.strings)

    def pairs(self) -> tuple[Pairs, np.ndarray]:
        """Returns the distinct strings as arrays, and their numbers of occurrences, shape `(distinct,)`."""
        lengths = np.array([len(string) + 1 for string in self.counts], np.int32)
        inputs = np.zeros((len(lengths), lengths.max()), np.int32)
        targets = np.zeros_like(inputs)
        for row, string in enumerate(self.counts):
            ids = self.language.input_alphabet.encode(string)
            inputs[row, 1 : len(ids) + 1] = ids  # after `#`, which is id 0
            targets[row, : len(ids)] = ids  # and `#` comes last
        return Pairs(inputs, lengths, targets, lengths, lengths), np.array(list(self.counts.values()))


def records(language: "AbstractLanguage", strings: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yields strings as `{"input": ..., "target": ...}`."""
    for string in strings:
        source, target = language.pair(string)
        yield {"input": source, "target": target}


def to_released(strings: Iterable[str]) -> str:
    """Returns a text in the authors' layout: `#aabb#`, one per line, no newline at the end."""
    return "\n".join(f"#{string}#" for string in strings)


def from_released(text: str) -> tuple[str, ...]:
    """Returns the strings of a text in the authors' layout."""
    strings = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) < 2 or line[0] != BOUNDARY or line[-1] != BOUNDARY or BOUNDARY in line[1:-1]:
            raise UsageError(f"Line {number}, {line[:60]!r}, is not a string between two '#', such as '#aabb#'.")
        strings.append(line[1:-1])
    return tuple(strings)


def read_released(path: str | Path) -> tuple[str, ...]:
    """Reads the strings of a released file: `.txt`, or `.txt.zip` with the authors' password."""
    path = Path(path)
    if path.suffix != ".zip":
        return from_released(path.read_text("utf-8"))
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise UsageError(f"{path.name} holds {len(names)} files. A released archive holds one: unpack it first.")
        return from_released(archive.read(names[0], PASSWORD).decode("utf-8"))
