"""Frequencies of terminals, and settings that make no sense."""

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.syntax.parts.terminals import Terminals

from ..helpers import NAMES, make


@pytest.mark.parametrize(("terminals", "exponent"), [(2, 1.0), (5, 1.0), (10, 1.5), (100, 1.0), (7, 0.0)])
def test_zipf_probabilities_follow_the_formula(terminals, exponent):
    weights = 1 / np.arange(1, terminals + 1) ** exponent
    probabilities = Terminals(terminals, "zipf", exponent).probabilities
    np.testing.assert_allclose(probabilities, weights / weights.sum(), rtol=1e-12)


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    expected = counts.sum() * probabilities
    return float(((counts - expected) ** 2 / expected).sum())


def far_tail(degrees: int) -> float:
    """A bound that a chi-square variable passes about once in a million times (Wilson and Hilferty)."""
    return degrees * (1 - 2 / (9 * degrees) + 4.75 * np.sqrt(2 / (9 * degrees))) ** 3


@pytest.mark.parametrize("distribution", ["zipf", "uniform"])
@pytest.mark.parametrize("terminals", [2, 10, 100])
def test_draws_have_these_probabilities(distribution, terminals):
    drawn = Terminals(terminals, distribution, 1.0)
    counts = np.bincount(drawn.draw(np.random.default_rng(3), 200_000), minlength=terminals)
    assert chi_square(counts, drawn.probabilities) < far_tail(terminals - 1)


@pytest.mark.parametrize("distribution", ["zipf", "uniform"])
@pytest.mark.parametrize("name", NAMES)
def test_every_category_of_positives_and_negatives_has_these_frequencies(name, distribution):
    task = make(name, terminals=10, distribution=distribution)
    rng = np.random.default_rng(11)
    lengths = rng.choice(task.lengths_between(4, 30), 5000)
    good = task.positives(rng, lengths)
    bad, bad_lengths = task.negatives(rng, good, lengths, (4, 30))
    expected = Terminals(10, distribution, 1.0).probabilities
    for tokens, counts in ((good, lengths), (bad, bad_lengths)):
        symbols = tokens[np.arange(tokens.shape[1]) < counts[:, None]]
        table = np.bincount(symbols, minlength=len(task.input_alphabet)).reshape(-1, 10)
        for row in table:
            assert chi_square(row, expected) < far_tail(9)


def test_one_terminal_is_always_drawn():
    assert not Terminals(1, "zipf", 1.0).draw(np.random.default_rng(0), 10).any()
    assert Terminals(1, "zipf", 1.0).probabilities.tolist() == [1.0]


@pytest.mark.parametrize("terminals", [0, -1, 2.0, "2", True, 100_001])
def test_wrong_numbers_of_terminals(terminals):
    with pytest.raises(UsageError, match=f"terminals={terminals!r} .* from 1 to 100,000; the paper has 2, 5, 10"):
        make("adj_n_np", terminals=terminals)


def test_unknown_distribution():
    with pytest.raises(UsageError, match=r"'zipff'\. Did you mean 'zipf'\? Known: uniform, zipf\."):
        make("adj_n_np", distribution="zipff")


@pytest.mark.parametrize("exponent", [-0.5, float("nan"), float("inf"), 11, "1", True])
def test_wrong_exponents(exponent):
    with pytest.raises(UsageError, match=r"zipf_exponent=.* from 0 to 10"):
        make("adj_n_np", zipf_exponent=exponent)


def test_an_exponent_without_effect_is_refused():
    with pytest.raises(UsageError, match="no effect with distribution='uniform'"):
        make("adj_n_np", distribution="uniform", zipf_exponent=2.0)


def test_unknown_settings_are_refused():
    with pytest.raises(TypeError):
        make("adj_n_np", terminal=3)
