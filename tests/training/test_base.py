"""The seam between suites and engines."""

import numpy as np
import pytest
from training_support import Parity

from humboldt.errors import UsageError
from humboldt.training.abilities import CountsRight, GivesProbabilities, ReadsSymbols, WritesOutputs, ability
from humboldt.training.base import AbstractPredictor, engines


class Mine(AbstractPredictor, GivesProbabilities):
    num_members = 1

    def take(self, members) -> "Mine":
        del members
        return self

    def nats(self, batch) -> np.ndarray:
        return np.zeros((1, len(batch.tokens)))


def test_abilities_are_types_and_a_missing_one_is_named():
    mine = Mine()
    assert ability(mine, GivesProbabilities) is mine
    for wanted, words in (
        (CountsRight, "say which symbols are right"),
        (WritesOutputs, "generate outputs"),
        (ReadsSymbols, "read a string symbol by symbol"),
    ):
        with pytest.raises(UsageError, match=f"can {words}, and `Mine` cannot"):
            ability(mine, wanted)
    assert mine.about(0) == ({}, {}) and mine.parameters() == {}


def test_engines_have_the_abilities_of_their_predictors():
    from humboldt.training.engines.search import SearchPredictor
    from humboldt.training.ensemble.predictor import EnsemblePredictor

    for name, predictor in (("jax", EnsemblePredictor), ("search", SearchPredictor)):
        declared = engines.get(name).abilities
        assert {one for one in predictor.__mro__ if one in declared} == declared


def test_a_problem_without_a_fixed_training_set_says_so():
    with pytest.raises(UsageError, match="draws fresh strings"):
        Parity().training_set()


def test_engines_are_registered_by_their_files():
    assert {"jax", "search"} <= set(engines.names())
