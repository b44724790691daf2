"""What every registered task of every suite promises. Registering a task is what tests it."""

import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks


@pytest.mark.parametrize("name", tasks.names())
def test_the_oracle_agrees_with_the_worked_examples(name: str):
    task = tasks.get(name)()
    assert task.examples
    for source, target in task.examples:
        assert task.oracle(source.split()) == target.split(), source


@pytest.mark.parametrize("name", tasks.names())
def test_the_oracle_refuses_what_is_not_in_its_alphabet(name: str):
    task = tasks.get(name)()
    symbols = task.examples[0][0].split()
    for position in {0, len(symbols) // 2, len(symbols) - 1}:
        spoilt = [*symbols[:position], "§", *symbols[position + 1 :]]
        with pytest.raises(UsageError, match=f"Symbol '§' at position {position} is not in the alphabet"):
            task.oracle(spoilt)


@pytest.mark.parametrize("name", tasks.names())
def test_the_declaration_is_whole(name: str):
    entry = tasks.entry(name)
    task = entry.value()
    assert isinstance(entry.version, int) and entry.version >= 1 and task.problem and 0 < task.chance < 1
    assert len(task.input_alphabet) > 0 and len(task.output_alphabet) > 0
    assert task.__doc__
