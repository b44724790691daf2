from itertools import product

import numpy as np
import pytest
from chomsky_support import drawn, make, oracle

from humboldt.errors import UsageError

TASK = make("modular_arithmetic_simple")


def every_expression(terms: int) -> set[str]:
    alternating = [*["01234", "+-*"] * (terms - 1), "01234"]
    return {" ".join(symbols) for symbols in product(*alternating)}


def test_sampler_draws_every_short_expression_rightly():
    for terms in (1, 2, 3):
        pairs = drawn(TASK, 20_000, 2 * terms - 1)
        assert {source for source, _ in pairs} == every_expression(terms)
        assert all(oracle(TASK, source) == target for source, target in set(pairs))


def test_even_lengths():
    shortened = make("modular_arithmetic_simple", even_length="shorten")
    rng = np.random.default_rng(0)
    for length, longer, shorter in [(2, 3, 1), (40, 41, 39), (41, 41, 41), (1, 1, 1)]:
        assert TASK.sample(rng, 3, length).inputs.shape == (3, longer)
        assert shortened.sample(rng, 3, length).inputs.shape == (3, shorter)


@pytest.mark.parametrize("source", ["1 +", "- 1", "1 * * 2", "1 2 3", "+"])
def test_no_expression(source: str):
    with pytest.raises(UsageError, match="is not digits with one operator between any two"):
        oracle(TASK, source)
