"""Exact simulation is the suite's evaluation, without the rounding."""

import numpy as np
import pytest

from humboldt.mdl.proofs.geometry.reals import Undecided
from humboldt.mdl.proofs.geometry.simulation import START, Simulation

from ..mutants import random_network, step_slow


@pytest.mark.parametrize("seed", range(40))
def test_distributions_are_those_of_the_suite_on_random_networks(seed: int):
    rng = np.random.default_rng(seed)
    network = random_network(rng)
    simulation = Simulation(network)
    state, values = START, None
    for symbol in [0, *rng.integers(0, 3, 6).tolist()]:
        values, chances = step_slow(network, values, symbol)
        if max(map(abs, values)) > 1e6:
            break
        try:
            state, step = simulation.step(state, symbol)
        except Undecided:
            break
        assert simulation.distribution(step) == pytest.approx(chances, abs=1e-9), network.to_json()
    assert simulation.num_steps
