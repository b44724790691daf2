"""What every registered task of every suite promises. Registering a task is what tests it."""

import pytest

from humboldt.languages import tasks


@pytest.mark.parametrize("name", tasks.names())
def test_the_oracle_agrees_with_the_worked_examples(name: str):
    task = tasks.get(name)()
    assert task.examples
    for source, target in task.examples:
        assert task.oracle(source.split()) == target.split(), source


@pytest.mark.parametrize("name", tasks.names())
def test_the_declaration_is_whole(name: str):
    entry = tasks.entry(name)
    task = entry.value()
    assert isinstance(entry.version, int) and entry.version >= 1 and task.problem and 0 < task.chance < 1
    assert len(task.input_alphabet) > 0 and len(task.output_alphabet) > 0
    assert task.__doc__
