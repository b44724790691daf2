"""The page that defines the tasks and measures says what the code does."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

from humboldt.languages import tasks
from humboldt.languages.bias import AbstractBiasTask
from humboldt.measures.bias import retrainings

PAGE = (Path(__file__).parents[3] / "docs" / "bias.md").read_text(encoding="utf-8")
ROW = r"^\| `(\w+)` \|([^|]*)\|[^|]*\|[^|]*\| (\d+) \| (\d+)[^|]*\|$"  # task, settings, block, trainings per seed
SETTINGS = {name: cells for name, *cells in re.findall(ROW, PAGE, re.MULTILINE)}


def make(name: str) -> AbstractBiasTask:
    task: Any = tasks.get(f"bias/{name}")()
    return task


def test_every_task_has_its_settings():
    registered = [name for name in tasks.names("bias/") if name != "bias/first_or_last"]  # the page's own example
    assert sorted(f"bias/{name}" for name in SETTINGS) == registered


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_defaults_blocks_and_trainings(name: str):
    settings, block, trainings = SETTINGS[name]
    task = make(name)
    assert {setting: int(value) for setting, value in re.findall(r"(\w+) \((\d+)\)", settings)} == {
        setting: value for setting, value in vars(task).items() if isinstance(value, int)
    }
    assert task.block_size == int(block)
    assert len(retrainings(task, seed=0)) == int(trainings)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_rules(name: str):
    (row,) = re.findall(rf"^\| `{name}` \|(?:[^|]*\|){{2}} (`[^|]*) \|$", PAGE, re.MULTILINE)
    assert re.findall(r"`(\w+)`:", row) == list(make(name).rules)


def test_the_python_on_the_page_runs(registrations_undone: None):
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    names: dict[str, Any] = {}
    exec(code, names)
    agreement, report = names["agreement"], names["report"]
    assert agreement.fitting == 1 and [each.share for each in agreement.rules] == [0.0, 1.0]
    # Three outputs of one symbol and the end, each one of three that are equally likely.
    assert [each.nats for each in report.everyone.rules] == pytest.approx([6 * math.log(3)] * 2)
    assert names["lengths"].nats.shape == (1, 2)
