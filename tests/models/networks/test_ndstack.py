"""A network that holds a nondeterministic stack, with weights set by hand."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.zoo.ndstack_rnn import NDStackRNN


def test_reverses_strings_by_hand():
    """Pushes the input, then pops, and shows what is on top."""
    spec = NDStackRNN(hidden_size=5, num_states=1, num_stack_symbols=2)
    model = spec.build(3, 2, num_symbols=2, key=jax.random.key(0))
    # units: the input symbol (a, b, ∅), and the top symbol before this step
    sees_input, sees_top = jnp.eye(3, 5), jnp.eye(2, 5, 3)
    action = np.zeros((5, 2, 5))  # unit; top symbol; push a, push b, replace by a, by b, pop
    action[0, :, 0] = action[1, :, 1] = action[2, :, 4] = 40
    weights = (sees_input, jnp.zeros((5, 5)), sees_top, jnp.array(action.reshape(5, 10), jnp.float32), sees_top.T)

    def where(m: Any) -> tuple[jax.Array, ...]:
        controller, memory = m.cell.controller, m.cell.memory
        layers = controller.input, controller.recurrent, m.cell.reading, memory.action, m.readout
        return tuple(layer.weight for layer in layers)

    model = eqx.tree_at(where, model, weights)
    rng, run = np.random.default_rng(0), eqx.filter_jit(lambda model, tokens, mask: model(tokens, mask))
    for length in (1, 9, 50):
        string = rng.integers(0, 2, length)
        tokens = np.zeros(100, np.int32)
        tokens[: 2 * length] = [*string, *[2] * length]
        logits = run(model, jnp.asarray(tokens), jnp.arange(100) < 2 * length)[length : 2 * length]
        np.testing.assert_allclose(logits, np.eye(2)[string[::-1]], atol=1e-4)


def test_reading_sizes():
    for symbols, read_states, size in ((2, True, 4), (2, False, 2), (4, True, 8), (4, False, 4)):
        spec = NDStackRNN(hidden_size=8, num_stack_symbols=symbols, read_states=read_states)
        cell: Any = eqx.filter_eval_shape(
            lambda key, spec=spec: spec.build(3, 2, num_symbols=2, key=key), jax.random.key(0)
        ).cell
        assert cell.memory.read_size == size
        assert cell.memory.action.weight.shape == (8, 2 * symbols * (2 * symbols + 2 * symbols + 2))
