"""The measured floors that ship with the suite."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from humboldt.languages import tasks
from humboldt.suites.chomsky import floors
from humboldt.suites.chomsky.protocol import TASKS, LengthGeneralisation


def test_all_tasks_have_a_floor_of_their_current_version():
    found = {task: floors.floor_of(task, LengthGeneralisation()) for task in TASKS}
    for task, value in found.items():
        chance = tasks.get(f"chomsky/{task}").chance
        assert value is not None and chance - 0.005 < value < 1, task


def exact_floor_of_modular_arithmetic() -> float:
    """The mean over lengths of the share of the most likely value, from the distribution of values at each length."""
    share = np.zeros((501, 5))
    share[1:5] = 1 / 5
    results = np.zeros((5, 5, 5))
    for left, right in np.ndindex(5, 5):
        for value in (left + right, left - right, left * right):
            results[left, right, value % 5] += 1 / 3
    for length in range(5, 501):
        left = np.arange(1, length - 3)
        operands = np.einsum("la,lb->ab", share[left], share[length - 3 - left]) / len(left)
        share[length] = np.einsum("ab,abv->v", operands, results)
    return float(share[41:].max(1).mean())


def exact_floor_of_sorting(length: int) -> float:
    """The most likely symbol at each position: `i` has a symbol of at most `s` if more than `i` symbols are."""
    at_most = np.stack([binom.sf(np.arange(length), length, (s + 1) / 5) for s in range(5)])
    return float(np.diff(at_most, axis=0, prepend=0).max(0).mean())


def test_two_floors_are_those_of_the_exact_distributions():
    shipped = floors.measured()
    exact = {
        "modular_arithmetic": exact_floor_of_modular_arithmetic(),
        "bucket_sort": float(np.mean([exact_floor_of_sorting(length) for length in range(41, 501)])),
    }
    for task, value in exact.items():
        found = shipped[task, 1]
        assert abs(found.score - value) < 4 * found.standard_error + 0.0005, (task, value)
    assert [round(100 * value, 1) for value in exact.values()] == [31.0, 90.1]


@pytest.mark.parametrize("task", ["bucket_sort", "modular_arithmetic", "binary_addition", "even_pairs"])
def test_a_smaller_sample_gives_the_floor_that_ships(task: str):
    language: Any = tasks.get(f"chomsky/{task}")()
    found = floors.measure(language, fitted=300, scored=100, every=23)
    shipped = floors.floor_of(task, LengthGeneralisation())
    assert shipped is not None and abs(found.score - shipped) < 5 * found.standard_error + 0.005


def test_floors_are_for_the_paper_s_lengths_and_measure():
    assert floors.floor_of("bucket_sort", LengthGeneralisation(test_lengths=(41, 100))) is None
    assert floors.floor_of("bucket_sort", LengthGeneralisation(pooled_accuracy=True)) is None
    assert floors.floor_of("bucket_sort", LengthGeneralisation(num_test_lengths=24)) is not None
