"""The RNN against its equation, with weights set by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.zoo.rnn import RNN


def test_one_step_by_hand():
    model = RNN(hidden_size=2).build(2, 1, num_symbols=1, key=jax.random.key(0))
    where = lambda m: (m.cell.input.weight, m.cell.input.bias, m.cell.recurrent.weight)  # noqa: E731
    values = (jnp.array([[1.0, 0.0], [0.0, -1.0]]), jnp.array([0.5, 0.5]), jnp.array([[2.0, 0.0], [0.0, 1.0]]))
    cell = eqx.tree_at(where, model, values).cell
    (state,), output = cell((jnp.array([1.0, 0.25]),), cell.project(jnp.array([0.0, 1.0])))
    np.testing.assert_allclose(output, [2.5, 0.0])  # relu(0 + 0.5 + 2), relu(-1 + 0.5 + 0.25)
    np.testing.assert_array_equal(state, output)


def test_parity_by_hand():
    """Two units that hold (odd, even) and swap at `b`: an RNN can compute parity exactly, at any length."""
    model = RNN(hidden_size=4).build(3, 2, num_symbols=2, key=jax.random.key(0))
    # units: (odd, a), (even, a), (odd, b), (even, b): which parity holds, and which symbol made it so
    odd, even = jnp.array([1.0, 0, 1, 0]), jnp.array([0.0, 1, 0, 1])
    recurrent = 2 * jnp.stack([odd, even, even, odd])  # after `a` the parity stays, after `b` it swaps
    inputs = jnp.array([[0.0, -2, 0], [0, -2, 0], [-2, 0, -2], [-2, 0, -2]])  # only the symbol's own units stay on
    model = eqx.tree_at(
        lambda m: (m.cell.input.weight, m.cell.input.bias, m.cell.recurrent.weight, m.readout.weight, m.readout.bias),
        model,
        (inputs.T, jnp.full(4, -1.0), recurrent.T, jnp.stack([odd, even]).T, jnp.zeros(2)),
    )
    start, rng = (even * jnp.array([1.0, 1, 0, 0]),), np.random.default_rng(0)
    for length in (1, 5, 300):
        symbols = rng.integers(0, 2, length)
        tokens = jnp.array([*symbols, 2], jnp.int32)  # ∅ acts like `a`
        _, logits = jax.lax.scan(lambda *given: model.step(*given), start, tokens)
        assert int(logits[-1].argmax()) == (0 if symbols.sum() % 2 else 1)  # `a` odd, `b` even
