import json

import pytest
from chomsky_support import every_string

from humboldt.languages import tasks
from humboldt.suites.chomsky.conformance import golden

NAMES = tasks.names("chomsky/")


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_what_the_definition_gives(name: str):
    """Where a string or target has changed on purpose: raise the task's version and write the file anew."""
    assert golden.path(name).read_text(encoding="utf-8").splitlines() == golden.lines(name)


def test_one_file_for_every_task_and_no_other():
    assert sorted(golden.FOLDER.iterdir()) == sorted(golden.path(name) for name in NAMES)


def test_all_short_inputs_are_there():
    sources = [json.loads(line)["input"] for line in golden.lines("chomsky/odds_first")]
    assert len(sources) == len(set(sources))
    assert {source for source in sources if len(source) < 12} == {
        source for length in range(1, 7) for source in every_string("ab", length)
    }


def test_long_inputs_are_there():
    for name in NAMES:
        lines = golden.path(name).read_text(encoding="utf-8").splitlines()
        lengths = {len(json.loads(line)["input"].split(" ")) for line in lines}
        assert {41, 100} <= lengths or {41, 101} <= lengths
