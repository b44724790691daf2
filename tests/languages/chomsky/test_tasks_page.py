"""The page that defines the tasks for readers says what the code says."""

import re
from pathlib import Path

import pytest
from chomsky_support import make, oracle

from humboldt.languages import tasks

PAGE = (Path(__file__).parents[3] / "docs" / "tasks.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \|.*\| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE)


def test_every_task_has_a_row():
    assert sorted(f"chomsky/{name}" for name, _, _ in ROWS) == tasks.names("chomsky/")


@pytest.mark.parametrize(("name", "source", "target"), ROWS, ids=lambda text: text[:30])
def test_the_examples_are_right(name: str, source: str, target: str):
    assert oracle(make(name), source) == target


def test_the_settings_are_possible():
    settings = re.findall(r'^\| `(\w+)` \| `(\w+)="(\w+)"`.*\| `\w+="(\w+)"`', PAGE, re.MULTILINE)
    assert len(settings) == 3
    for name, option, paper, code in settings:
        assert vars(make(name)) == vars(make(name, **{option: paper})) != vars(make(name, **{option: code}))
