"""Registers languages from users' files, `my.grammar`, as tasks of a suite.

A task is named by its file, without the folder. Its version is a hash of the canonical form of the part of the language
that the suite uses, so that another spelling of the same language gets the same results, and an edited language never
gets an earlier result.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from humboldt.core.identity import Training
from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, tasks
from humboldt.languages.formal.language import READERS, read
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite

STORE = "a store of results"  # the origin of a task whose file is not known

FILES: dict[str, Path] = {}  # that users have named, by name


def is_language_file(text: str) -> bool:
    """Returns whether a text names the file of a language: `my.regex`, `my.automaton` or `my.grammar`."""
    return Path(text).suffix in READERS


def register_language(suite: AbstractSuite, text: str) -> str:
    """Registers the task that a file makes in a suite; returns its name, which is that of the file without its folder.

    Any other text is returned as it is.
    """
    if not is_language_file(text):
        return text
    path = Path(text)
    name = f"{suite.name}/{path.name}"
    if not path.is_file() and path.name == text and name in tasks:
        return path.name  # it was registered before, by a file in another folder
    task: Any = suite.task_of_language(read(path))
    version, origin = _hash(task.identity), str(path.resolve())
    if name in tasks:
        known = tasks.entry(name)
        if known.version == version and known.origin != STORE:
            return path.name
        if known.origin in (STORE, origin):
            tasks.forget(name)
    tasks.register(name, version=version, origin=origin)(task)
    FILES[path.name] = path.resolve()
    return path.name


def register_languages(suite: AbstractSuite, names: Iterable[str]) -> tuple[str, ...]:
    """Registers the files among these names of tasks; returns the names of all tasks."""
    return tuple(register_language(suite, name) for name in names)


def remember(trainings: Iterable[Training]) -> None:
    """Registers tasks of files that are not known here, from stored trainings.

    So their results can be shown wherever the store is; strings need the file.
    """
    versions = {}
    for training in trainings:
        name = f"{training.suite}/{training.task}"
        if is_language_file(training.task) and training.suite in suites and name not in tasks:
            versions[name] = training.versions["task"]  # the last one in a store is the newest
    for name, version in versions.items():
        suite, _, file = name.partition("/")
        body = {"problem": suites.get(suite).kind, "file": file, "__module__": __name__, "__doc__": file}
        tasks.register(name, version=version, origin=STORE)(type("RememberedTask", (RememberedTask,), body))


class RememberedTask(AbstractTask):
    """A task of which only the name is known."""

    file: ClassVar[str]
    chance = float("nan")
    examples = ()

    def __init__(self, **_: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UsageError(
            f"The file of {self.file} is not known here. Name the task with its place: path/to/{self.file}."
        )

    def oracle(self, symbols: Any) -> list[str]:
        return self.__getattr__("oracle")


def _hash(identity: Any) -> str:
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
