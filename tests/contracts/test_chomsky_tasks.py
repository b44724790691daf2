"""What every task of the Chomsky suite promises, beyond what every task does."""

import random

import numpy as np
import pytest
from chomsky_support import drawn, make, oracle

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction

NAMES = [name.removeprefix("chomsky/") for name in tasks.names("chomsky/")]
TASKS = [make(name) for name in NAMES]
SETTINGS = [
    make("odds_first", order="code"),
    make("compute_sqrt", endian="big"),
    make("modular_arithmetic_simple", even_length="shorten"),
]
every_task = pytest.mark.parametrize("task", TASKS, ids=NAMES)
every_setting = pytest.mark.parametrize("task", TASKS + SETTINGS, ids=[*NAMES, "evens_first", "big_endian", "shorten"])


def test_there_are_fifteen():
    assert len(NAMES) == 15


@every_task
def test_examples(task: AbstractTransduction):
    for source, target in task.examples:
        task.input_alphabet.encode(source.split(" "))
        assert oracle(task, source) == target


@every_setting
def test_sampler_equals_oracle(task: AbstractTransduction):
    for length in [*range(task.shortest, 42), 64, 65, 130]:
        for source, target in drawn(task, 60, length, seed=length):
            assert oracle(task, source) == target


@every_task
@pytest.mark.parametrize("length", [499, 500])
def test_sampler_equals_oracle_at_the_longest_scored_lengths(task: AbstractTransduction, length: int):
    for source, target in drawn(task, 12, length):
        assert oracle(task, source) == target


@every_task
def test_shapes(task: AbstractTransduction):
    for length in range(task.shortest, 20):
        pairs = task.sample(np.random.default_rng(0), 7, length)
        even_simple = isinstance(task, type(make("modular_arithmetic_simple"))) and length % 2 == 0
        assert pairs.inputs.shape == (7, length + even_simple)
        assert len(set(pairs.slots.tolist())) == 1
        assert (pairs.target_lengths <= pairs.slots).all() and (pairs.target_lengths >= 1).all()
        if "#" in task.output_alphabet.symbols:
            assert set(pairs.slots.tolist()) == {length + 1}
            for _, target in pairs.symbols(task.input_alphabet, task.output_alphabet):
                assert target.index("#") == len(target) - 1
        else:
            assert (pairs.target_lengths == pairs.slots).all()


@every_task
def test_no_rows_asked_for_none_given(task: AbstractTransduction):
    assert len(task.sample(np.random.default_rng(0), 0, 12)) == 0


@every_task
def test_same_seed_same_strings(task: AbstractTransduction):
    assert drawn(task, 50, 17, seed=3) == drawn(task, 50, 17, seed=3)
    assert drawn(task, 50, 17, seed=3) != drawn(task, 50, 17, seed=4)


@every_task
def test_the_generator_moves_on(task: AbstractTransduction):
    rng = np.random.default_rng(0)
    first, second = (task.sample(rng, 50, 17).inputs for _ in range(2))
    assert (first != second).any()


@every_task
def test_global_random_state_is_neither_used_nor_moved(task: AbstractTransduction):
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state(legacy=False)
    strings = drawn(task, 20, 17)
    after = random.getstate(), np.random.get_state(legacy=False)
    assert before[0] == after[0]
    assert np.array_equal(before[1]["state"]["key"], after[1]["state"]["key"])  # type: ignore[index]
    assert before[1]["state"]["pos"] == after[1]["state"]["pos"]  # type: ignore[index]
    random.seed(2)
    np.random.seed(2)
    assert drawn(task, 20, 17) == strings


@every_task
def test_every_symbol_occurs(task: AbstractTransduction):
    pairs = [pair for length in (12, 13) for pair in drawn(task, 500, length)]
    assert {symbol for source, _ in pairs for symbol in source.split(" ")} == set(task.input_alphabet.symbols)
    assert {symbol for _, target in pairs for symbol in target.split(" ")} == set(task.output_alphabet.symbols)


@every_task
def test_too_short(task: AbstractTransduction):
    for length in range(-1, task.shortest):
        with pytest.raises(UsageError, match=rf"Length {length} is too short .* at least {task.shortest} symbols"):
            task.sample(np.random.default_rng(0), 2, length)


def test_shortest_lengths():
    shortest = {name: task.shortest for name, task in zip(NAMES, TASKS, strict=True) if task.shortest > 1}
    assert shortest == {
        "binary_addition": 3,
        "binary_multiplication": 3,
        "missing_duplicate": 2,
        "solve_equation": 3,
    }


@pytest.mark.parametrize(
    ("name", "option", "allowed"),
    [
        ("odds_first", "order", "paper, code"),
        ("compute_sqrt", "endian", "little, big"),
        ("modular_arithmetic_simple", "even_length", "lengthen, shorten"),
    ],
)
def test_unknown_setting(name: str, option: str, allowed: str):
    with pytest.raises(UsageError, match=rf"{option}=other: {option} must be one of {allowed}"):
        make(name, **{option: "other"})
