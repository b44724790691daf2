"""Names for things that live one to a file, found without importing them.

A registry belongs to a package: the file `humboldt/languages/chomsky/parity_check.py` holds the task
`chomsky/parity_check`. Listing names reads file names only; asking for one imports its file, which registers
itself. So adding a task or a model is adding a file, and `humboldt --help` stays quick.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from humboldt.errors import EXTRAS, MissingExtra, unknown_name

T = TypeVar("T")
V = TypeVar("V")


@dataclass(frozen=True)
class Entry(Generic[T]):
    """What a name stands for. `version` grows when any sampled string, output or score can change."""

    name: str
    version: int
    value: T


class Registry(Generic[T]):
    """Names of one kind of thing. A name is bound once.

    **Arguments:**

    - `kind`: what is registered, as error messages call it: `"task"`.
    - `package`: the package whose files are the entries; files whose name starts with `_` are not.
    - `nested`: whether the files of its folders are entries too, as `folder/file`.
    """

    def __init__(self, kind: str, package: str, *, nested: bool = False) -> None:
        self.kind = kind
        self.package = package
        self.nested = nested
        self._entries: dict[str, Entry[T]] = {}

    def register(self, name: str, *, version: int) -> Callable[[V], V]:
        """Decorator that binds `name`."""

        def bind(value: V) -> V:
            if name in self._entries:
                raise ValueError(f"The {self.kind} {name!r} is registered already, by {self._entries[name].value!r}.")
            self._entries[name] = Entry(name, version, cast(T, value))  # the decorated class keeps its own type
            return value

        return bind

    def names(self, prefix: str = "") -> list[str]:
        """All names that start with `prefix`, sorted. Imports nothing below the package."""
        found = set(self._files()) | set(self._entries)
        return sorted(name for name in found if name.startswith(prefix))

    def entry(self, name: str) -> Entry[T]:
        """The entry of a name; an unknown name gets an error with the nearest known ones."""
        if name not in self._entries:
            if name not in self._files():
                raise unknown_name(self.kind, name, self.names())
            try:
                importlib.import_module(f"{self.package}.{name.replace('/', '.')}")
            except ModuleNotFoundError as error:
                if error.name in EXTRAS:
                    raise MissingExtra(error.name) from error
                raise
            if name not in self._entries:
                raise ValueError(f"The file of the {self.kind} {name!r} does not register that name.")
        return self._entries[name]

    def get(self, name: str) -> T:
        """The thing itself."""
        return self.entry(name).value

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in set(self._files())

    def _files(self) -> Iterator[str]:
        def walk(paths: list[str], prefix: str) -> Iterator[str]:
            for module in pkgutil.iter_modules(paths):
                if module.name.startswith("_"):
                    continue
                if module.ispkg:
                    if self.nested:
                        yield from walk([f"{path}/{module.name}" for path in paths], f"{prefix}{module.name}/")
                else:
                    yield prefix + module.name

        yield from walk(list(importlib.import_module(self.package).__path__), "")
