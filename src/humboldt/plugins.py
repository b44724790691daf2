"""Plugins: other people's tasks, models and suites.

A user's file or installed package registers what it adds when it is imported; then it is listed, run, resumed, shown
and scored like ours. An installed package names its module under the entry point group `humboldt`; a file is given
with `--plugin my_file.py`; Python code calls `humboldt.register`.
"""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from humboldt.errors import UsageError, named_extras, unknown_name
from humboldt.languages import AbstractTask, tasks

V = TypeVar("V")
GROUP = "humboldt"
LOADED: list[Path] = []  # files that users have named, in order


def register(name: str, *, version: int | None = None) -> Callable[[V], V]:
    """Decorator that adds a task (named `suite/task`), a model or a suite under a name of its own.

    Without a `version`, the hash of the source file takes its place: an edited file never gets an earlier result.
    """

    def bind(value: V) -> V:
        if makes_networks(value):
            from humboldt.outside_models import register_model

            register_model(name, value, version=version)
            return value
        return _registry_for(name, value).register(name, version=version)(value)

    return bind


def makes_networks(value: Any) -> bool:
    """Whether it is a class or a function that is called with the sizes of a network; see `humboldt.outside_models`."""
    if hasattr(value, "build") or not callable(value):
        return False
    return {"input_size", "output_size"} <= set(inspect.signature(value).parameters)


def _registry_for(name: str, value: Any) -> Any:
    from humboldt.models import models
    from humboldt.suites import suites
    from humboldt.suites.base import AbstractSuite

    if isinstance(value, AbstractSuite):
        return suites
    if isinstance(value, type) and issubclass(value, AbstractTask):
        suite, _, task = name.partition("/")
        if not task:
            raise UsageError(f"The task {name!r} does not say whose it is. Name it `suite/task`, e.g. chomsky/{name}.")
        known = suites.get(suite)  # an error that names the nearest one
        if value.problem is not known.kind:
            raise UsageError(
                f"The task {name!r} is a problem of {value.problem.value}, but the suite {suite} has problems of "
                f"{known.kind.value}. Derive it from the class that the suite's own tasks are derived from."
            )
        return tasks
    if hasattr(value, "build"):
        return models
    raise UsageError(
        f"{value!r} is no task (a subclass of AbstractTask), no model (a class of settings with `build`) and no suite "
        f"(an object of a subclass of AbstractSuite), so it cannot be registered as {name!r}."
    )


@cache
def load_installed() -> None:
    """Imports what installed packages offer, once."""
    for point in metadata.entry_points(group=GROUP):
        try:
            point.load()
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(
                f"The plugin {point.name!r} ({point.value}) cannot be loaded: {type(error).__name__}: {error}. "
                "Correct it, or uninstall its package."
            ) from error


def load_files(paths: Iterable[Path]) -> None:
    """Imports files that a user names. The same file again does nothing."""
    for path in paths:
        load_file(path, f"--plugin {path}")


def sources() -> dict[str, tuple[str, dict[str, bytes]]]:
    """All that is needed to import on another machine what users have named here: for each file its place in a folder,
    and the content of that folder. The `__init__.py` of a package comes with the whole package."""
    found = {}
    for path in dict.fromkeys(LOADED):
        is_package = path.name == "__init__.py"
        folder = path.parent.parent if is_package else path.parent
        files = sorted(path.parent.rglob("*.py")) if is_package else [path]
        content = {str(file.relative_to(folder)): file.read_bytes() for file in files}
        found[str(path)] = (str(path.relative_to(folder)), content)
    return found


def load_file(path: Path, option: str) -> ModuleType:
    """The module that a user's file is. `option` is how messages speak of the request."""
    if not path.is_file():
        raise UsageError(f"{option}: there is no file `{path}`. Give a Python file.")
    try:
        with named_extras():
            module = _load_file(path.resolve())
        LOADED.append(path.resolve())
        return module
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(f"{option}: it imports `{error.name}`, which is not installed. Install it first.") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"{option}: {type(error).__name__}: {error}. Correct the file and try again.") from error


def attribute_of_file(place: str) -> Any:
    """What `my_file.py:name` means."""
    path, colon, name = place.rpartition(":")
    if not colon or not name:
        raise UsageError(f"{place!r} is not of the form FILE.py:NAME. Write e.g. my_file.py:predict.")
    module = load_file(Path(path), place)
    if not hasattr(module, name):
        public = [each for each in vars(module) if not each.startswith("_")]
        raise unknown_name(f"attribute of {path}", name, public)
    return getattr(module, name)


@cache
def _load_file(path: Path) -> ModuleType:
    name = f"humboldt_plugin_{sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: this is not a Python file. Give one that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
