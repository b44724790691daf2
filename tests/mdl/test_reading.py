"""A network of units with the interface of all others."""

import numpy as np
import pytest

from humboldt.mdl import PlainStepper, published_networks
from humboldt.mdl.reading import ReadableNetwork


@pytest.mark.parametrize("name", published_networks())
def test_it_says_what_the_fast_form_says(name: str):
    network = published_networks()[name]
    tokens = np.random.default_rng(0).integers(0, network.num_symbols, 12)
    _, expected = PlainStepper(network).feed(tokens)
    logits = ReadableNetwork(network)(tokens, np.ones(12, bool))
    np.testing.assert_allclose(np.exp(logits), expected, rtol=1e-12)


def test_it_shows_all_units_by_name():
    network = published_networks()["dyck_1"]
    tokens = np.array([0, 1, 1, 2])
    seen = ReadableNetwork(network).inspect(tokens, np.ones(4, bool))["units"]
    assert seen.values.shape == (4, len(network.units)) and len(seen.labels) == len(network.units)
    assert seen.labels[:2] == ("input #", "input (")
    np.testing.assert_array_equal(seen.values[:, :3], np.eye(3)[tokens])  # inputs are one-hot
