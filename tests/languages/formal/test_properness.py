"""Whether derivations end."""

import math

import numpy as np
import pytest
from languages.formal.brute_force import random_grammar

from humboldt.languages.formal.grammar_file import parse
from humboldt.languages.formal.properness import properness
from humboldt.languages.formal.weighted_form import DENSE, least_solution, spectral_radius


@pytest.mark.parametrize(
    ("text", "ends", "radius", "length"),
    [
        ("S -> a S b [0.7] | a b", 1, 0.7, 2 / 0.3),
        ("S -> S S [0.5] | a", 1, 1, math.inf),
        ("S -> S S [0.6] | a", 2 / 3, 1.2, math.inf),
        ("S -> S S S [0.5] | a", (math.sqrt(5) - 1) / 2, 1.5, math.inf),  # x = (x^3 + 1) / 2
        ("S -> a A | b [0.75]\nA -> A", 0.75, 1, math.inf),
        ("S -> S", 0, 1, math.inf),
        ("S -> A A\nA -> a | b [0.75]\nB -> B B", 1, 0, 2),  # what is not reached does not count
        ("S -> A b\nA -> S [0.9] |", 1, math.sqrt(0.9), 10),
    ],
)
def test_known_grammars(text: str, ends: float, radius: float, length: float) -> None:
    found = properness(parse(text))
    assert found.ends == pytest.approx(ends)
    assert found.radius == pytest.approx(radius)
    assert found.expected_length == pytest.approx(length)
    assert found.is_proper == math.isfinite(length)


def test_proper_random_grammars_end_and_have_the_mean_length_of_the_core() -> None:
    proper = 0
    for seed in range(60):
        grammar = random_grammar(seed)
        found = properness(grammar)
        assert found.is_proper == (grammar.useful != () and math.isfinite(grammar.core.expected_length())), seed
        if found.is_proper:
            proper += 1
            assert found.expected_length == pytest.approx(grammar.core.expected_length())
            assert found.entropy == pytest.approx(grammar.core.entropy())
            assert found.ends == pytest.approx(1)
    assert proper >= 20


def test_large_matrices_have_the_same_radius() -> None:
    matrix = np.random.default_rng(0).random((DENSE + 1, DENSE + 1)) / 30
    assert spectral_radius(matrix) == pytest.approx(np.abs(np.linalg.eigvals(matrix)).max())
    cycle = np.roll(np.eye(DENSE + 1), 1, axis=0)
    cycle[0] *= 0.5  # a long loop, whose bounds meet slowly
    assert spectral_radius(cycle) == pytest.approx(0.5 ** (1 / (DENSE + 1)))
    found = properness(parse(f"S -> {'a ' * 100} S [0.5] |"))
    assert found.is_proper and found.expected_length == pytest.approx(100)


def test_least_solutions() -> None:
    assert least_solution(1, [(0, (0, 0), 1.0)], [(0, 0.1)])[0] == pytest.approx((1 - math.sqrt(0.6)) / 2)
    assert least_solution(1, [(0, (0, 0), 1.0)], [(0, 0.3)])[0] == math.inf  # x = x² + 0.3 has no solution
    assert least_solution(1, [(0, (0, 0), 1.0)], [(0, 0.5)])[0] == math.inf
    assert least_solution(2, [(0, (1,), 0.5), (1, (0, 0), 0.0)], [(1, 0.2)]).tolist() == pytest.approx([0.1, 0.2])
