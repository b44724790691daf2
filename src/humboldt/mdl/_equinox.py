"""The Equinox form of a network. Imported only by a conversion, because it needs JAX."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from humboldt.mdl.network import Network

_ACTIVATIONS = {
    "linear": lambda x: x,
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "square": jnp.square,
    "floor": jnp.floor,
    "step": lambda x: jnp.where(x > 0, 1.0, 0.0).astype(x.dtype),
    "modulo_2": lambda x: jnp.mod(x, 2.0),
    "modulo_3": lambda x: jnp.mod(x, 3.0),
}

State = tuple[Float[Array, " units"], Array]


class MDLNetwork(eqx.Module):
    """Maps a string to one row of log-probabilities per symbol; or reads one symbol at a time with `step`.

    The graph is static, weights and biases are leaves. A state holds the values of all units and whether any symbol has
    been read (at the first step recurrent edges carry nothing).
    """

    weights: Float[Array, " edges"]
    biases: Float[Array, " units"]
    network: Network = eqx.field(static=True)

    def __init__(self, network: Network) -> None:
        self.network = network
        self.weights = jnp.asarray(np.array([float(edge.weight) for edge in network.edges]))
        self.biases = jnp.asarray(np.array([float(unit.bias) if unit.bias else 0.0 for unit in network.units]))

    def init_state(self) -> State:
        """Returns the state before the first symbol."""
        return jnp.zeros_like(self.biases), jnp.asarray(False)

    def step(self, state: State, token: Int[Array, ""]) -> tuple[State, Float[Array, " vocab"]]:
        """Returns the state after reading `token`, and the distribution over the token after it."""
        previous, started = state
        network = self.network
        dtype = self.biases.dtype
        place = {edge: number for number, edge in enumerate(network.edges)}
        values: dict[int, Array] = {}
        for unit in network.topological_order:
            described = network.units[unit]
            incoming = network.incoming[unit]
            forward = [self.weights[place[e]] * values[e.source] for e in incoming if not e.recurrent]
            recurrent = [self.weights[place[e]] * previous[e.source] for e in incoming if e.recurrent]
            if unit in network.inputs:
                forward.insert(0, jnp.where(token == unit, 1.0, 0.0).astype(dtype))
            if described.type == "product":
                now = jnp.prod(jnp.stack(forward)) if forward else jnp.ones((), dtype)
                later = now * jnp.prod(jnp.stack(recurrent)) if recurrent else now
                total = jnp.where(started, later, now)
                if not forward:
                    total = jnp.where(started & bool(recurrent), total, 0.0)
            else:
                total = jnp.zeros((), dtype)
                for term in forward:
                    total = total + term
                for term in recurrent:
                    total = total + jnp.where(started, term, 0.0)
            values[unit] = _ACTIVATIONS[described.activation](total + self.biases[unit])
        row = jnp.stack([values[unit] for unit in range(len(network.units))])
        outputs = jnp.maximum(row[network.num_symbols : 2 * network.num_symbols], 0.0)
        total = outputs.sum()
        uniform = jnp.full_like(outputs, 1.0 / network.num_symbols)
        # The inner `where` keeps gradients finite where the outer one does not select the quotient.
        distribution = jnp.where(total > 0, outputs / jnp.where(total > 0, total, 1.0), uniform)
        return (row, jnp.asarray(True)), distribution

    def __call__(self, tokens: Int[Array, " time"], *, key: Array | None = None) -> Float[Array, "time vocab"]:
        """Returns logits after each token: log-probabilities, minus infinity where the network excludes a symbol."""
        del key  # nothing here is random
        # A plain function: JAX hashes the function it scans, and a bound method would hash the weights.
        _, distributions = jax.lax.scan(lambda state, token: self.step(state, token), self.init_state(), tokens)
        # log(0) has the right value but no finite gradient, not even times 0.
        possible = distributions > 0
        return jnp.where(possible, jnp.log(jnp.where(possible, distributions, 1.0)), -jnp.inf)
