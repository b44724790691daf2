"""A cell and a readout."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.zoo.lstm import LSTM
from humboldt.models.zoo.rnn import RNN


@pytest.mark.parametrize(("model", "has_negative"), [(LSTM, True), (RNN, False)])
def test_a_relu_before_the_readout(model: type[LSTM | RNN], has_negative: bool):
    """As in the released code. An RNN's states are never negative: there it changes nothing."""
    tokens, mask = jnp.array([0, 1, 1, 2, 2]), jnp.ones(5, bool)
    plain, with_relu = (
        model(hidden_size=6, relu_readout=relu).build(3, 2, num_symbols=2, key=jax.random.key(0))
        for relu in (False, True)
    )
    hidden = plain.inspect(tokens, mask)["hidden"].values
    assert bool((hidden < 0).any()) is has_negative
    expected = jax.vmap(plain.readout)(jnp.maximum(hidden, 0))
    np.testing.assert_allclose(with_relu(tokens, mask), expected, rtol=1e-5, atol=1e-6)
    assert np.allclose(plain(tokens, mask), expected) is not has_negative
    first = with_relu.step(with_relu.start(tokens), tokens[0])[1]
    np.testing.assert_allclose(first, expected[0], rtol=1e-5, atol=1e-6)
