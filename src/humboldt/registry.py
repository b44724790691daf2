"""Registries: names of tasks, models and suites, one to a file, listed without importing them.

A registry belongs to a package: the file `humboldt/languages/chomsky/parity_check.py` holds the task
`chomsky/parity_check`. Listing names reads only file names; getting an entry imports its file, which registers
itself. So a task or a model is added by adding a file, and `humboldt --help` stays fast.

Users' code registers its own entries (see `humboldt.plugins`), which are then equal to Humboldt's.
"""

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Sequence
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
    """A registered name and its value.

    `version` increases when any sampled string, output or score can change. The default is the hash of the source file,
    so that an edited file never gets an earlier result.
    """

    name: str
    version: int | str
    value: T
    origin: str  # the file it was registered in


class Registry(Generic[T]):
    """Names of one kind of entry. A name is bound once.

    **Arguments:**

    - `kind`: the kind of entry, for error messages: `"task"`.
    - `package`: the package whose files (or folders) are the entries, except `base` and private ones (`_name`). Folders
      inside these are parts, not entries. Without a package, names exist once they are registered.
    - `layout`: whether entries are its files, the files of its folders (as `folder/file`), or its folders.
    - `folders_of`: the package after whose folders those of `package` are named; other folders have no entries.
    - `folders`: folders of `package` whose files are entries beside its own files, as `folder/file`.
    - `check`: called with the name and value of every entry from outside Humboldt; raises if it is not valid.
    """

    def __init__(
        self,
        kind: str,
        package: str = "",
        *,
        layout: Layout = "files",
        folders_of: str = "",
        folders: Sequence[str] = (),
        check: Callable[[str, T], None] | None = None,
    ) -> None:
        self.kind = kind
        self.package = package
        self.layout = layout
        self.folders_of = folders_of
        self.folders = tuple(folders)
        self._check = check
        self._entries: dict[str, Entry[T]] = {}

    def register(self, name: str, *, version: int | str | None = None, origin: str | None = None) -> Callable[[V], V]:
        """Returns a decorator that binds `name`. `origin`: the file that the value was made from, if another one
        defines it."""
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
            module = self._module(name)
            if name in self._files and not f"{_module_name(value)}.".startswith(f"{module}."):
                raise UsageError(
                    f"The {self.kind} {name!r} is one of Humboldt's own ({module}), and {origin} registers it again. "
                    "Choose another name."
                )
            if self._check is not None and not _module_name(value).startswith("humboldt."):
                self._check(name, cast(T, value))
            known = version if version is not None else source_hash(origin)
            self._entries[name] = Entry(name, known, cast(T, value), origin)  # the decorated class keeps its own type
            return value

        return bind

    def forget(self, name: str) -> None:
        """Unbinds a registered name."""
        del self._entries[name]

    def names(self, prefix: str = "") -> list[str]:
        """Returns all names that start with `prefix`, sorted. Does not import the entries."""
        return sorted(name for name in {*self._files, *self._entries} if name.startswith(prefix))

    def registered(self) -> dict[str, T]:
        """Returns the values that are registered so far, by name. Imports nothing."""
        return {name: entry.value for name, entry in self._entries.items()}

    def entry(self, name: str) -> Entry[T]:
        """Returns the entry of a name; raises an error with the nearest known names if there is none."""
        if name not in self._entries:
            if name not in self._files:
                raise unknown_name(self.kind, name, self.names())
            with named_extras():
                importlib.import_module(self._module(name))
            if name not in self._entries:
                raise ValueError(f"The file of the {self.kind} {name!r} does not register that name.")
        return self._entries[name]

    def entries(self) -> list[Entry[T]]:
        """Returns all entries, by name."""
        return [self.entry(name) for name in self.names()]

    def get(self, name: str) -> T:
        """Returns the registered value."""
        return self.entry(name).value

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in self._files

    def _module(self, name: str) -> str:
        return f"{self.package}.{name.replace('/', '.')}"

    @cached_property
    def _files(self) -> frozenset[str]:
        if not self.package:
            return frozenset()
        if self.layout == "files":
            return frozenset([*_public(self.package, is_folder=False), *self._files_of(self.folders)])
        folders = _public(self.package, is_folder=True)
        if self.layout == "folders":
            return frozenset(folders)
        named = [name for name in _public(self.folders_of, is_folder=True) if name in folders]
        return frozenset(self._files_of(named))

    def _files_of(self, folders: Iterable[str]) -> list[str]:
        return [f"{name}/{file}" for name in folders for file in _public(f"{self.package}.{name}", is_folder=False)]


def _public(package: str, *, is_folder: bool) -> list[str]:
    """Returns the names of the files or folders of a package that can be entries. Imports only its parents."""
    spec = importlib.util.find_spec(package)
    modules = pkgutil.iter_modules(spec.submodule_search_locations if spec else [])
    return [
        module.name
        for module in modules
        if module.ispkg is is_folder and module.name != "base" and not module.name.startswith("_")
    ]


def _module_name(value: Any) -> str:
    return value.__module__ if hasattr(value, "__module__") else type(value).__module__


def origin_of(value: Any) -> str:
    """Returns the file that defines a class, a function, or the class of an object."""
    definition = value if inspect.isclass(value) or inspect.isfunction(value) else type(value)
    try:
        return inspect.getfile(definition)
    except (TypeError, OSError):  # typed at a prompt
        return f"`{definition.__module__}`"


def source_hash(origin: str) -> str:
    """Returns the hash of a source file, or of all files of its package."""
    path = Path(origin).resolve()
    if not path.is_file():
        raise UsageError(
            f"What {origin} registers has no source file by which versions could be distinguished. "
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
