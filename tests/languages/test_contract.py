"""The checks of a task: ours pass, and a fault is named before anything is trained, by `check` and by `run`."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from humboldt import cli, plugins
from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Alphabet, tasks
from humboldt.languages.contract import check_task
from humboldt.suites import task_check
from humboldt.testing import TaskContract

SOUND = '''
import numpy as np
import humboldt
from humboldt.languages import Alphabet, Pairs
from humboldt.languages.chomsky import AbstractTransduction, Level


@humboldt.register("chomsky/majority")
class Majority(AbstractTransduction):
    """Which symbol occurs more often?   abb -> b"""

    level = Level.DETERMINISTIC_CONTEXT_FREE
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a b b", "b"), ("a b", "a"), ("a", "a"))

    def oracle(self, symbols):
        return ["b" if symbols.count("b") > symbols.count("a") else "a"]

    def draw(self, rng, count, length):
        strings = rng.integers(0, 2, (count, length))
        return Pairs.full(strings, 2 * strings.sum(1, keepdims=True) > length)
'''
# The file above with one text replaced by another, and what the user reads.
FAULTS = {
    "sampler against oracle": ("> length)", "< length)", "oracle: for 'b' the sampler gives 'a' and the oracle 'b'"),
    "examples against oracle": ('("a b", "a")', '("a b", "b")', "examples: for 'a b' the oracle answers 'a'"),
    "ids outside the alphabet": ("integers(0, 2,", "integers(0, 4,", "alphabet: the sampler drew the id"),
    "another length": ("(count, length))", "(count, length + 2))", "lengths: a length of 1 was asked for"),
    "random numbers of its own": ("rng.integers", "np.random.randint", "seed: the same seed gave different strings"),
    "no random numbers": ("rng.integers(0, 2,", "np.zeros(", "seed: two seeds gave the same strings"),
    "one seed for ever": ("rng.integers", "np.random.default_rng(1).integers", "seed: two seeds gave the same strings"),
    "an oracle that raises": ('return ["b"', 'return symbols[7] and ["b"', "examples: 'a b b' -> 'b': IndexError"),
    "a sampler that raises": ("strings.sum(1,", "strings.sum(5,", "AxisError: axis 5 is out of bounds"),
    "answers outside the alphabet": ('else "a"]', 'else "c"]', "examples: for 'a b' the oracle answers 'c'"),
    "no examples": ('(("a b b", "b"), ("a b", "a"), ("a", "a"))', "()", "declaration: `examples` is empty"),
    "chance in percent": ("chance = 0.5", "chance = 50", "declaration: `chance` is 50"),
}


@pytest.fixture(autouse=True)
def files_unread(registrations_undone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plugins._load_file.cache_clear()
    yield
    plugins._load_file.cache_clear()


def command(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str]:
    sys.argv = ["humboldt", *map(str, arguments)]
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    captured = capsys.readouterr()
    return int(leaving.value.code or 0), captured.out + captured.err


@pytest.mark.parametrize("name", tasks.names())
def test_every_task_keeps_the_contract(name: str):
    report = check_task(name, tasks.get(name)())
    assert report.passed, str(report)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_is_named_before_training(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    old, new, message = FAULTS[fault]
    assert SOUND.count(old) == 1
    path = tmp_path / "mine.py"
    path.write_text(SOUND.replace(old, new))
    code, told = command(capsys, "check", "task", f"{path}:Majority")
    assert code == 1 and message in told and "FAILED" in told and "Traceback" not in told
    run = "run", "chomsky", "--plugin", path, "--task", "majority", "--model", "rnn", "--out", tmp_path / "out"
    code, told = command(capsys, *run)
    assert code == 2 and message in told and "nothing was trained" in told and "mine.py:Majority" in told
    assert not list((tmp_path / "out").rglob("*.weights"))


def test_a_sound_task_passes_and_is_checked_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "mine.py"
    path.write_text(SOUND)
    code, told = command(capsys, "check", "task", f"{path}:Majority")
    assert code == 0 and told.endswith("Ready to be trained on.\n") and told.count("passed") == 8
    code, told = command(capsys, "check", "task", "chomsky/majority", "--plugin", path, "--json")
    assert code == 0 and json.loads(told)["passed"]
    checked = []
    check = task_check.check_experiment
    monkeypatch.setattr(task_check, "check_experiment", lambda *a: checked.append(a) or check(*a))
    from humboldt import plan

    for seeds in (1, 2):
        study = plan("chomsky", tasks="majority", models="rnn", seeds=seeds, out=tmp_path)
        task_check.check_before_training(study.suite, study.experiments)
        assert len(checked) == 1  # the second time it is remembered
    plugins._load_file.cache_clear()
    tasks.forget("chomsky/majority")
    path.write_text(SOUND.replace("> length)", "< length)"))
    plugins.load_file(path, "")
    study = plan("chomsky", tasks="majority", models="rnn", out=tmp_path)
    with pytest.raises(UsageError, match="the sampler gives"):
        task_check.check_before_training(study.suite, study.experiments)


def test_a_file_without_a_name_lists_its_tasks(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "mine.py"
    path.write_text(SOUND)
    code, told = command(capsys, "check", "task", path)
    assert code == 2 and f"Say which of its tasks: Majority. Write e.g. {path}:Majority" in told
    (tmp_path / "none.py").write_text("import humboldt")
    assert "has no tasks" in command(capsys, "check", "task", tmp_path / "none.py")[1]
    assert "There is no task 'majority'" in command(capsys, "check", "task", "majority")[1]


class Unregistered(tasks.get("chomsky/parity_check")):  # pyright: ignore[reportGeneralTypeIssues]
    """Strings of one symbol, all with the same answer."""

    def draw(self, rng: Any, count: int, length: int) -> Any:
        pairs = super().draw(rng, count, length)  # pyright: ignore[reportAttributeAccessIssue]
        pairs.inputs[:] = 0
        pairs.targets[:] = 1  # no `b`, which is an even number of them
        return pairs


def test_one_answer_is_a_fault():
    report = check_task("mine", Unregistered())  # pyright: ignore[reportAbstractUsage]
    assert [finding.check for finding in report.findings if not finding.passed] == ["seed", "oracle"]


class TestContract(TaskContract):
    """The tests that a plugin inherits, on one of ours."""

    task = "chomsky/reverse_string"


class Broken(TaskContract):
    """Is not collected, because its name does not begin with Test."""

    task = Unregistered


def test_the_inherited_tests_fail_with_the_finding():
    with pytest.raises(AssertionError, match=r"oracle: the answer to all \d+ strings is 'b'\. A task needs"):
        Broken().test_oracle()
    Broken().test_alphabet()


class Bare(AbstractTask):
    """A task of a suite that draws strings itself."""

    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a b", "a"),)

    def oracle(self, symbols: Any) -> list[str]:
        return list(symbols[:1])


def test_a_task_that_draws_nothing_is_held_to_its_examples():
    report = check_task("bare", Bare())
    assert report.passed and "not checked: the task itself draws no strings" in str(report)
