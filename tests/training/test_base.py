"""The seam between suites and engines."""

import numpy as np
import pytest
from training_support import Parity

from humboldt.errors import UsageError
from humboldt.training.base import AbstractPredictor, engines


class Mine(AbstractPredictor):
    num_members = 1

    def take(self, members) -> "Mine":
        del members
        return self

    def nats(self, batch) -> np.ndarray:
        return np.zeros((1, len(batch.tokens)))


def test_a_predictor_offers_what_it_can_and_says_what_it_lacks():
    mine = Mine()
    assert mine.offers("nats") and not mine.offers("correct")
    batch = Parity().batch(0)
    for ask, ability in (
        (lambda: mine.correct(batch), "say which symbols are right"),
        (lambda: mine.outputs(batch, 3), "generate outputs"),
        (lambda: mine.stepper(0, longest=3, most_memory=3), "read a string symbol by symbol"),
    ):
        with pytest.raises(UsageError, match=f"can {ability}, and `Mine` cannot"):
            ask()
    assert mine.about(0) == ({}, {}) and mine.parameters() == {}


def test_a_problem_without_a_fixed_training_set_says_so():
    with pytest.raises(UsageError, match="draws fresh strings"):
        Parity().training_set()


def test_engines_are_registered_by_their_files():
    assert {"jax", "search"} <= set(engines.names())
