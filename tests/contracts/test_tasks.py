"""What every registered task promises. Registering a task is what tests it."""

import itertools

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.chomsky._base import AbstractTransduction

CHOMSKY = tasks.names("chomsky/")


def make(name: str) -> AbstractTransduction:
    task = tasks.get(name)()
    assert isinstance(task, AbstractTransduction)
    return task


def strings(task: AbstractTransduction, seed: int, count: int, length: int) -> list[tuple[list[str], list[str]]]:
    pairs = task.sample(np.random.default_rng(seed), count, length)
    return list(pairs.symbols(task.input_alphabet, task.output_alphabet))


@pytest.mark.parametrize("name", tasks.names())
def test_the_oracle_agrees_with_the_worked_examples(name: str):
    task = tasks.get(name)()
    assert task.examples
    for source, target in task.examples:
        assert task.oracle(source.split()) == target.split(), source


@pytest.mark.parametrize("name", CHOMSKY)
def test_the_sampler_equals_the_oracle(name: str):
    task = make(name)
    for length in [*range(task.shortest, task.shortest + 12), 40, 101]:
        for source, target in strings(task, length, 100, length):
            assert task.oracle(source) == target, source


@pytest.mark.parametrize("name", CHOMSKY)
def test_same_seed_same_strings_other_seed_other_strings(name: str):
    task = make(name)
    assert strings(task, 7, 5, 30) == strings(task, 7, 5, 30)
    assert strings(task, 7, 5, 30) != strings(task, 8, 5, 30)


@pytest.mark.parametrize("name", CHOMSKY)
def test_the_sampler_leaves_the_global_state_alone(name: str):
    before = np.random.get_state(legacy=False)
    make(name).sample(np.random.default_rng(0), 5, 30)
    after = np.random.get_state(legacy=False)
    assert all(np.array_equal(a, b) for a, b in zip(before["state"].values(), after["state"].values(), strict=True))


@pytest.mark.parametrize("name", CHOMSKY)
def test_every_symbol_occurs_and_chance_is_chance(name: str):
    task = make(name)
    seen = strings(task, 0, 2000, 20)
    assert set(itertools.chain.from_iterable(source for source, _ in seen)) <= set(task.input_alphabet.symbols)
    answers = list(itertools.chain.from_iterable(target for _, target in seen))
    assert set(answers) <= set(task.output_alphabet.symbols)
    assert 0 < task.chance < 1


@pytest.mark.parametrize("name", CHOMSKY)
def test_a_length_that_makes_no_sense_is_refused(name: str):
    task = make(name)
    with pytest.raises(UsageError, match="too short"):
        task.sample(np.random.default_rng(0), 1, task.shortest - 1)
