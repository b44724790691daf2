"""A linear recurrence in JAX, for every suite: `humboldt run SUITE --model THIS_FILE.py:LinearRecurrence`."""

import equinox as eqx
import jax
import jax.numpy as jnp


class LinearRecurrence(eqx.Module):
    """`h = a h + (1 - |a|) x`, whose gate `a` depends on the token alone: all steps at once, by an associative scan."""

    gates: jax.Array
    inputs: jax.Array
    hidden: eqx.nn.Linear
    readout: eqx.nn.Linear

    def __init__(self, input_size: int, output_size: int, *, hidden_size: int = 64, key):
        k_gates, k_inputs, k_hidden, k_readout = jax.random.split(key, 4)
        self.gates = jax.random.normal(k_gates, (input_size, hidden_size))
        self.inputs = jax.random.normal(k_inputs, (input_size, hidden_size))
        self.hidden = eqx.nn.Linear(hidden_size, hidden_size, key=k_hidden)
        self.readout = eqx.nn.Linear(hidden_size, output_size, key=k_readout)

    def __call__(self, tokens, mask, *, key=None):
        del mask, key
        a = jnp.tanh(self.gates[tokens])  # negative gates: it can count modulo two
        x = (1 - jnp.abs(a)) * self.inputs[tokens]

        def joined(earlier, later):
            return earlier[0] * later[0], later[0] * earlier[1] + later[1]

        _, h = jax.lax.associative_scan(joined, (a, x))
        return jax.vmap(self.readout)(jax.nn.gelu(jax.vmap(self.hidden)(h)))
