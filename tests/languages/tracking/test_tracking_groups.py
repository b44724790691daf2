"""The groups of the tracking suite: they are groups, and the fast form of their word problems equals the slow one."""

import itertools
from typing import Any

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.tracking.base import elements_of, multiplication_table

SIZES = {"z2": 2, "z60": 60, "d4": 8, "a4_z5": 60, "s3": 6, "s4": 24, "a5": 60, "s5": 120}
every_group = pytest.mark.parametrize("name", SIZES)


def make(name: str, **options: Any) -> Any:
    return tasks.get(f"tracking/{name}")(**options)


@every_group
def test_the_elements_are_a_group_of_the_right_size(name: str):
    task = make(name)
    table = multiplication_table(task.generated_by)
    size = SIZES[name]
    assert len(task.states) == size == len(set(task.states)) and task.chance == 1 / size
    assert (table[0] == np.arange(size)).all() and (table[:, 0] == np.arange(size)).all()  # the first is the identity
    everything = np.arange(size)
    assert (np.sort(table, 0) == everything[:, None]).all() and (np.sort(table, 1) == everything).all()
    i, j, k = np.random.default_rng(0).integers(0, size, (3, 500))
    assert (table[table[i, j], k] == table[i, table[j, k]]).all()


def test_which_groups_are_solvable():
    """The commutators of A5 generate A5, those of S5 generate A5; the other groups come down to one element."""

    def derived(elements: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        def product(*factors: tuple[int, ...]) -> tuple[int, ...]:
            points = range(len(factors[0]))
            for factor in factors:
                points = [factor[point] for point in points]
            return tuple(points)

        def inverse(element: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(element.index(point) for point in range(len(element)))

        few = elements[:: max(1, len(elements) // 24)] if len(elements) > 60 else elements
        return elements_of(
            tuple({product(inverse(a), inverse(b), a, b) for a, b in itertools.product(few, elements)})[:400]
        )

    for name in ("z2", "d4", "s3", "s4", "a5", "s5"):
        elements = elements_of(make(name).generated_by)
        while len(smaller := derived(elements)) < len(elements):
            elements = smaller
        assert len(elements) == (60 if name in ("a5", "s5") else 1), name


@every_group
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"inputs": "generators"},
        {"supervision": "last"},
        {"inputs": "generators", "tokens_per_step": 3},
        {"tokens_per_step": 2, "supervision": "last"},
    ],
    ids=str,
)
def test_the_sampler_equals_the_oracle(name: str, options: dict[str, Any]):
    task = make(name, **options)
    for length in (1, 2, 7, 40):
        pairs = task.sample(np.random.default_rng(length), 8, length)
        assert pairs.inputs.shape == (8, length * task.tokens_per_step)
        for source, target in pairs.symbols(task.input_alphabet, task.output_alphabet):
            assert task.oracle(source) == target


def test_the_elements_that_strings_consist_of():
    assert len(make("s5", inputs="swaps").symbols) == 11  # the identity and ten transpositions
    assert len(make("s5", inputs="up_to_3").symbols) == 31  # and twenty cycles of three
    few, more = (make("a5", inputs="generators", generators=(number,)).symbols for number in (6, 12))
    assert len(set(more)) == 12 and more[:6] == few and few[:2] == ("23145", "12453")
    with pytest.raises(UsageError, match="moves so few points"):
        make("a5", inputs="swaps")
    with pytest.raises(UsageError, match="the group has 6 elements"):
        make("s3", inputs="generators", generators=(7,))
    with pytest.raises(UsageError, match="at least one symbol"):
        make("s3").sample(np.random.default_rng(0), 1, 0)
