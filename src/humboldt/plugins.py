"""Plugins: users' tasks, models and suites.

A user's file or installed package registers its additions when it is imported; then they are listed, run, resumed,
shown and scored like Humboldt's. An installed package names its module under the entry point group `humboldt`; a file
is given with `--plugin my_file.py`; Python code calls `humboldt.register`.
"""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from humboldt.arguments import checked_arguments, optional, text, whole
from humboldt.errors import UsageError, contained, named_extras, unknown_name
from humboldt.languages import AbstractTask, tasks

V = TypeVar("V")
GROUP = "humboldt"
NETWORKS = ("torch", "equinox")  # packages of which classes of networks are derived
LOADED: list[Path] = []  # files that users have named, in order
_UNCHECKED: list[tuple[str, type[AbstractTask]]] = []  # registered tasks, not yet checked against their suites
_LOADING: list[Path] = []  # files that are being imported


@checked_arguments(name=text, version=optional(whole(0)))
def register(name: str, *, version: int | None = None) -> Callable[[V], V]:
    """Decorator that registers a task (named `suite/task`), a model or a suite.

    The default `version` is the hash of the source file, so that an edited file never gets an earlier result.
    """

    def bind(value: V) -> V:
        if makes_networks(value):
            from humboldt.models.own import register_model

            register_model(name, value, version=version)
            return value
        return _registry_for(name, value).register(name, version=version)(value)

    return bind


def makes_networks(value: Any) -> bool:
    """Returns whether a value is a class or function that makes a network; see `humboldt.models.own`. A class of
    networks counts, even if it does not take the required sizes.
    """
    if hasattr(value, "build") or not callable(value):
        return False
    if isinstance(value, type) and any(base.__module__.split(".")[0] in NETWORKS for base in value.__mro__):
        return True
    return {"input_size", "output_size"} <= set(inspect.signature(value).parameters)


def _registry_for(name: str, value: Any) -> Any:
    from humboldt.models import models
    from humboldt.suites import catalogue, suites
    from humboldt.suites.base import AbstractSuite

    if isinstance(value, AbstractSuite):
        catalogue.check_facts(
            value, [fact for fact in AbstractSuite.__annotations__ if not hasattr(AbstractSuite, fact)]
        )
        return suites
    if isinstance(value, type) and issubclass(value, AbstractSuite):
        raise UsageError(f"{value.__name__} is a class, and a suite is an object. Register {value.__name__}().")
    if isinstance(value, type) and issubclass(value, AbstractTask):
        suite, _, task = name.partition("/")
        if not task:
            raise UsageError(f"The task {name!r} has no suite in its name. Name it `suite/task`, e.g. chomsky/{name}.")
        _UNCHECKED.append((name, value))
        if suite in suites or not _LOADING:
            _check_tasks()
        return tasks
    if hasattr(value, "build"):
        return models
    raise UsageError(
        f"{value!r} cannot be registered as {name!r}: it is neither a task (a subclass of AbstractTask) nor a model (a "
        "class of settings with `build`) nor a suite (an object of a subclass of AbstractSuite)."
    )


def _check_tasks() -> None:
    """Checks that registered tasks fit their suites.

    A file may register its tasks before its suite; they are checked after the whole file is imported.
    """
    from humboldt.suites import suites

    while _UNCHECKED:
        name, task = _UNCHECKED.pop()
        suite = name.partition("/")[0]
        if suite not in suites:
            listing = f"Known: {', '.join(suites.names())}. A script registers a suite before its tasks."
            raise unknown_name("suite", suite, suites.names(), hint=listing)
        known = suites.get(suite)
        if task.problem is not known.kind:
            raise UsageError(
                f"The task {name!r} is a problem of {task.problem.value}, but the suite {suite} has problems of "
                f"{known.kind.value}. Derive it from the class that the suite's own tasks are derived from."
            )


@cache
def load_installed() -> None:
    """Imports the plugins of installed packages, once."""
    for point in metadata.entry_points(group=GROUP):
        try:
            with contained():
                point.load()
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(
                f"The plugin {point.name!r} ({point.value}) cannot be loaded: {type(error).__name__}: {error}. "
                "Correct it, or uninstall its package."
            ) from error


def load_files(paths: Iterable[Path]) -> None:
    """Imports files that a user names, each once."""
    for path in paths:
        load_file(path, f"--plugin {path}")


def sources() -> dict[str, tuple[str, dict[str, bytes]]]:
    """Returns the sources of all loaded files, for import on another machine: for each file its path in a folder, and
    the contents of that folder by path. The `__init__.py` of a package includes the whole package. Files of languages
    are included."""
    from humboldt.suites.own_tasks import FILES

    loaded = {}
    for path in dict.fromkeys([*LOADED, *FILES.values()]):
        is_package = path.name == "__init__.py"
        folder = path.parent.parent if is_package else path.parent
        files = sorted(path.parent.rglob("*.py")) if is_package else [path]
        content = {str(file.relative_to(folder)): file.read_bytes() for file in files}
        loaded[str(path)] = (str(path.relative_to(folder)), content)
    return loaded


def load_file(path: Path, option: str) -> ModuleType:
    """Imports a user's file. Messages call it `option`."""
    if not path.is_file():
        raise UsageError(f"{option}: there is no file `{path}`. Give a Python file.")
    try:
        with named_extras(), contained():
            module = _load_file(path.resolve())
        LOADED.append(path.resolve())
        return module
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(f"{option}: it imports `{error.name}`, which is not installed. Install it first.") from error
    except Exception as error:
        raise UsageError(f"{option}: {type(error).__name__}: {error}. Correct the file and try again.") from error


def attribute_of_file(place: str, fits: Callable[[Any], bool] | None = None, kind: str = "") -> Any:
    """Imports the file of `my_file.py:name` and returns the attribute.

    Without a name, the error lists the attributes that `fits` accepts, which are called `kind`.
    """
    path, colon, name = place.rpartition(":")
    if not colon or not name:
        if not place.removesuffix(":").endswith(".py"):
            raise UsageError(f"{place!r} is not of the form FILE.py:NAME. Write e.g. my_file.py:predict.")
        path = place.removesuffix(":")
        names = [name for name, value in _public(load_file(Path(path), place)).items() if fits is None or fits(value)]
        if not names:
            raise UsageError(f"{place}: the file has no {kind or 'names'}. Write FILE.py:NAME.")
        raise UsageError(
            f"{place} names a file. Say which of its {kind or 'names'}: {', '.join(names)}. Write e.g. "
            f"{path}:{names[0]}."
        )
    module = load_file(Path(path), place)
    if not hasattr(module, name):
        raise unknown_name(f"attribute of {path}", name, _public(module))
    return getattr(module, name)


def is_task(value: Any) -> bool:
    """Returns whether a value is a class of a task, and not only a base class."""
    return isinstance(value, type) and issubclass(value, AbstractTask) and not inspect.isabstract(value)


def is_model(value: Any) -> bool:
    """Returns whether a value may be a model: a class or function that makes networks, a class of settings, or a
    function that predicts.
    """
    return callable(value) and not is_task(value)


def _public(module: ModuleType) -> dict[str, Any]:
    """Returns what a file itself defines, by name; all public names if it defines none."""
    named = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    own = {name: value for name, value in named.items() if getattr(value, "__module__", None) == module.__name__}
    return own or named


class _FreshLoader(SourceFileLoader):
    """Compiles a file each time. Python takes cached bytecode for a file that was edited within the same second without
    a change of its size; results would then be stored under the hash of code that did not run."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


@cache
def _load_file(path: Path) -> ModuleType:
    name = f"humboldt_plugin_{sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: this is not a Python file. Give one that ends in .py.")
    if isinstance(spec.loader, SourceFileLoader):
        spec.loader = _FreshLoader(name, str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _LOADING.append(path)
    try:
        spec.loader.exec_module(module)
    finally:
        _LOADING.remove(path)
    _check_tasks()
    return module
