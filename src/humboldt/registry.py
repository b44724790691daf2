"""Names for things that live one to a file, found without importing them.

A registry belongs to a package: the file `humboldt/languages/chomsky/parity_check.py` holds the task
`chomsky/parity_check`. Listing names reads file names only; asking for one imports its file, which registers
itself. So adding a task or a model is adding a file, and `humboldt --help` stays quick.

Other people's things are registered by their own code (see `humboldt.plugins`), and are then like ours.
"""

import hashlib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

from humboldt.errors import UsageError, named_extras, unknown_name

T = TypeVar("T")
V = TypeVar("V")

Layout = Literal["files", "files in folders", "folders"]


@dataclass(frozen=True)
class Entry(Generic[T]):
    """What a name stands for.

    `version` grows when any sampled string, output or score can change. Who declares none is given the hash of the
    source file, so that an edited file never gets an earlier result.
    """

    name: str
    version: int | str
    value: T
    origin: str  # the file it was registered in


class Registry(Generic[T]):
    """Names of one kind of thing. A name is bound once.

    **Arguments:**

    - `kind`: what is registered, as error messages call it: `"task"`.
    - `package`: the package whose files (or folders) are the entries, except those whose name starts with `_`. Without
      one, names exist once they are registered.
    - `layout`: whether its files are entries, or the files of its folders (as `folder/file`), or its folders.
    - `check`: is given everything that is registered from outside our package, and raises if it will not do.
    """

    def __init__(
        self, kind: str, package: str = "", *, layout: Layout = "files", check: Callable[[str, T], None] | None = None
    ) -> None:
        self.kind = kind
        self.package = package
        self.layout = layout
        self._check = check
        self._entries: dict[str, Entry[T]] = {}

    def register(self, name: str, *, version: int | str | None = None, origin: str | None = None) -> Callable[[V], V]:
        """Decorator that binds `name`. `origin` is the file that what is registered was made from, where it is not the
        one that defines it."""
        made_from = origin

        def bind(value: V) -> V:
            origin = made_from or origin_of(value)
            if name in self._entries and self._entries[name].origin == origin:
                return value  # the same file, imported under another name
            if name in self._entries:
                raise UsageError(
                    f"The {self.kind} {name!r} is registered twice: by {self._entries[name].origin} and by {origin}. "
                    "Choose another name for one of them."
                )
            own = self._module(name)
            if name in self._files and _module_name(value) != own:
                raise UsageError(
                    f"The {self.kind} {name!r} is one of Humboldt's own ({own}), and {origin} registers it again. "
                    "Choose another name."
                )
            if self._check is not None and not _module_name(value).startswith("humboldt."):
                self._check(name, cast(T, value))
            known = version if version is not None else _source_hash(origin)
            self._entries[name] = Entry(name, known, cast(T, value), origin)  # the decorated class keeps its own type
            return value

        return bind

    def forget(self, name: str) -> None:
        """Unbinds a name that was registered."""
        del self._entries[name]

    def names(self, prefix: str = "") -> list[str]:
        """All names that start with `prefix`, sorted. Imports nothing below the package."""
        return sorted(name for name in {*self._files, *self._entries} if name.startswith(prefix))

    def entry(self, name: str) -> Entry[T]:
        """The entry of a name; an unknown name gets an error with the nearest known ones."""
        if name not in self._entries:
            if name not in self._files:
                raise unknown_name(self.kind, name, self.names())
            with named_extras():
                importlib.import_module(self._module(name))
            if name not in self._entries:
                raise ValueError(f"The file of the {self.kind} {name!r} does not register that name.")
        return self._entries[name]

    def entries(self) -> list[Entry[T]]:
        """All entries, by name."""
        return [self.entry(name) for name in self.names()]

    def get(self, name: str) -> T:
        """The thing itself."""
        return self.entry(name).value

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in self._files

    def _module(self, name: str) -> str:
        return f"{self.package}.{name.replace('/', '.')}"

    @cached_property
    def _files(self) -> frozenset[str]:
        def walk(paths: list[str], prefix: str) -> Iterator[str]:
            for module in pkgutil.iter_modules(paths):
                if module.name.startswith("_"):
                    continue
                if module.ispkg and self.layout == "folders":
                    yield module.name
                elif module.ispkg and self.layout == "files in folders":
                    yield from walk([f"{path}/{module.name}" for path in paths], f"{prefix}{module.name}/")
                elif not module.ispkg and (self.layout == "files" or prefix):
                    yield prefix + module.name

        if not self.package:
            return frozenset()
        return frozenset(walk(list(importlib.import_module(self.package).__path__), ""))


def _module_name(value: Any) -> str:
    return value.__module__ if hasattr(value, "__module__") else type(value).__module__


def origin_of(value: Any) -> str:
    """The file that defines a class, a function, or the class of an object."""
    definition = value if inspect.isclass(value) or inspect.isfunction(value) else type(value)
    try:
        return inspect.getfile(definition)
    except (TypeError, OSError):  # typed at a prompt
        return f"`{definition.__module__}`"


def _source_hash(origin: str) -> str:
    path = Path(origin).resolve()
    if not path.is_file():
        raise UsageError(
            f"What {origin} registers has no source file that could tell one version from another. "
            "Give it a version: register(..., version=1)."
        )
    folder = path.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    is_package = (folder / "__init__.py").is_file()  # then an edit to any of its files counts
    digest = hashlib.sha256()
    for source in sorted(folder.rglob("*.py")) if is_package else [path]:
        digest.update(source.read_bytes())
    return f"sha256:{digest.hexdigest()[:16]}"
