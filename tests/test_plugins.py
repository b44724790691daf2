"""Other people's tasks, models and suites: from a file, and by `humboldt.register`."""

import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import humboldt
from humboldt import plugins
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.models import models
from humboldt.settings import Role, setting, settings
from humboldt.suites import catalogue, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Contender, Preset


@pytest.fixture(autouse=True)
def files_unread(registrations_undone: None):
    """What a test reads is read anew by the next one."""
    plugins._load_file.cache_clear()
    yield
    plugins._load_file.cache_clear()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_an_edit_within_the_same_second_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = write(tmp_path / "mine.py", "VALUE = 1\n")
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    assert plugins._load_file(path).VALUE == 1
    os.utime(write(path, "VALUE = 2\n"), ns=times)
    plugins._load_file.cache_clear()
    assert plugins._load_file(path).VALUE == 2


MODEL = """
from dataclasses import dataclass
import humboldt
from humboldt.languages import ProblemKind

@humboldt.register("{name}")
@dataclass(frozen=True)
class Mine:
    hidden_size: int = 8
    problems = (ProblemKind.TRANSDUCTION,)
    def build(self, input_size, output_size, *, num_symbols, key):
        raise NotImplementedError
"""


def test_a_file_adds_a_model_that_is_planned_like_ours(tmp_path: Path):
    path = write(tmp_path / "mine.py", MODEL.format(name="mine"))
    plugins.load_files([path])
    assert "mine" in models.names() and "mine" in catalogue.models(suites.get("chomsky"))
    assert "mine" not in catalogue.models(suites.get("syntax"))  # another kind of problem
    (experiment,) = humboldt.plan("chomsky", tasks="parity_check", models="mine", out=tmp_path).experiments
    assert experiment.training.versions["model"] == models.entry("mine").version
    assert str(experiment.training.versions["model"]).startswith("sha256:")
    assert models.entry("mine").origin == str(path)


def test_an_edited_file_never_gets_an_earlier_result(tmp_path: Path):
    keys = []
    for text in (MODEL, MODEL + "\n# an edit\n"):
        models._entries.pop("mine", None)
        plugins._load_file.cache_clear()
        plugins.load_files([write(tmp_path / "mine.py", text.format(name="mine"))])
        (experiment,) = humboldt.plan("chomsky", tasks="parity_check", models="mine", out=tmp_path).experiments
        keys.append(experiment.training.key)
    assert keys[0] != keys[1]


def test_a_package_that_is_not_installed_can_be_given_as_a_file():
    assert importlib.util.find_spec("humboldt_example") is None
    plugins.load_files([Path(__file__).parents[1] / "examples/plugin/src/humboldt_example/__init__.py"])
    network = models.get("leaky_rnn")().build(3, 2, num_symbols=2, key=jax.random.key(0))
    assert network(jnp.array([0, 1, 2]), jnp.ones(3, bool)).shape == (3, 2)
    assert "last_symbol" in catalogue.tasks(suites.get("chomsky"))


def test_the_same_file_again_does_nothing(tmp_path: Path):
    path = write(tmp_path / "mine.py", MODEL.format(name="mine"))
    plugins.load_files([path, path, tmp_path / "." / "mine.py"])
    assert "mine" in models


def test_a_name_that_is_taken_names_both_places(tmp_path: Path):
    first, second = (write(tmp_path / f"{name}.py", MODEL.format(name="mine")) for name in ("first", "second"))
    with pytest.raises(UsageError, match=r"'mine' is registered twice: by .*first\.py and by .*second\.py"):
        plugins.load_files([first, second])
    with pytest.raises(UsageError, match=r"'rnn' is .*rnn.*third\.py"):
        plugins.load_files([write(tmp_path / "third.py", MODEL.format(name="rnn"))])


def test_a_task_of_another_kind_of_problem_is_refused(tmp_path: Path):
    text = """
import humboldt
from humboldt.languages import tasks
Parity = tasks.get("chomsky/parity_check")

@humboldt.register("{name}")
class Mine(Parity):
    pass
"""
    with pytest.raises(UsageError, match=r"is a problem of transduction, but the suite syntax has problems of classif"):
        plugins.load_files([write(tmp_path / "wrong.py", text.format(name="syntax/mine"))])
    with pytest.raises(UsageError, match=r"'mine' has no suite in its name\. Name it `suite/task`"):
        plugins.load_files([write(tmp_path / "nobodys.py", text.format(name="mine"))])
    with pytest.raises(UsageError, match=r"No suite named 'chomski'\. Did you mean 'chomsky'"):
        plugins.load_files([write(tmp_path / "typo.py", text.format(name="chomski/mine"))])
    plugins.load_files([write(tmp_path / "right.py", text.format(name="chomsky/mine"))])
    assert catalogue.tasks(suites.get("chomsky"))[-1] == "mine"
    assert [e.name for e in humboldt.plan("chomsky", tasks="mine", models="rnn").experiments] == ["mine · rnn"]


def test_a_task_before_its_suite_is_refused_in_a_script():
    task = type("Mine", (tasks.get("chomsky/parity_check"),), {})
    with pytest.raises(UsageError, match=r"No suite named 'mine'.*registers a suite before its tasks"):
        humboldt.register("mine/task")(task)


def test_what_is_neither_task_nor_model_nor_suite_is_refused():
    with pytest.raises(UsageError, match=r"neither a task .* nor a model .* nor a suite"):
        humboldt.register("mine")(object())


def protocol_with(name: str, *, each: str | None = None) -> type:
    """A protocol with one setting; with `each` every value has a training, and is stored under that name."""
    option = setting((1,), "a number", role=Role.EACH, each=each) if each else setting(1, "a number")
    kind = tuple[int, ...] if each else int
    return settings(type("Protocol", (), {"__annotations__": {name: kind}, name: option}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"headline": None}, "The suite Mine has no class variable `headline`"),
        ({"contenders": (Contender("rnn", "RNN"),)}, "`contenders` is .* must map names to objects of Contender"),
        ({"presets": {"quick": {}}}, "`presets` is .* must map names to objects of Preset"),
        ({"presets": {"quick": Preset("quick", "few")}}, "has the presets quick, and needs one named 'paper'"),
        ({"protocol": protocol_with("task")}, "`task` would be stored as 'task', where the settings of the task are"),
        ({"protocol": protocol_with("models", each="model")}, "`models` would be stored as 'model'"),
    ],
)
def test_a_suite_with_a_wrong_fact_is_refused(changes: dict[str, Any], message: str):
    facts = {name: getattr(suites.get("chomsky"), name) for name in vars(AbstractSuite)["__annotations__"]}
    methods = {"job": lambda self, resolved, members: None, "score": lambda self, scoring_input: []}
    facts |= methods | changes
    suite = type("Mine", (AbstractSuite,), {name: value for name, value in facts.items() if value is not None})
    with pytest.raises(UsageError, match=message):
        humboldt.register("mine")(suite())
    with pytest.raises(UsageError, match=r"Register Mine\(\)"):
        humboldt.register("mine")(suite)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("extra.py", "raise ModuleNotFoundError(name='jax')", r"This needs `jax`.*pip install 'humboldt\[zoo\]'"),
        ("broken.py", "1 / 0", r"broken\.py: ZeroDivisionError: division by zero\. Correct the file"),
        ("syntax.py", "def", r"syntax\.py: SyntaxError"),
        (
            "imports.py",
            "import no_such_package",
            r"imports\.py: it imports `no_such_package`, which is not installed\.",
        ),
        ("leaves.py", "raise SystemExit(3)", r"leaves\.py"),
        ("notes.txt", "hello", "not a Python file"),
    ],
)
def test_a_file_that_fails_to_import_is_told(tmp_path: Path, name: str, text: str, message: str):
    with pytest.raises(UsageError, match=message):
        plugins.load_files([write(tmp_path / name, text)])


def test_a_file_that_is_not_there(tmp_path: Path):
    for path in (tmp_path / "none.py", tmp_path):
        with pytest.raises(UsageError, match="there is no file"):
            plugins.load_files([path])


def test_installed_packages_are_loaded_and_those_that_fail_are_named(monkeypatch: pytest.MonkeyPatch):
    loaded = []

    class Point:
        name, value = "theirs", "their_package.humboldt"

        def __init__(self, fails: bool) -> None:
            self.fails = fails

        def load(self) -> None:
            if self.fails:
                raise ImportError("no such thing")
            loaded.append(self.name)

    for fails in (False, True):
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group, fails=fails: [Point(fails)])
        plugins.load_installed.cache_clear()
        if not fails:
            plugins.load_installed()
            plugins.load_installed()
            assert loaded == ["theirs"]  # once
        else:
            with pytest.raises(UsageError, match=r"'theirs' \(their_package\.humboldt\) cannot be loaded: ImportError"):
                plugins.load_installed()
    monkeypatch.undo()
    plugins.load_installed.cache_clear()
