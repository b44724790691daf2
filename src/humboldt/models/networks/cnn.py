"""The convolutional network of Delétang et al. (2023)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.linear import Linear
from humboldt.models.networks.base import AbstractAtOnce


def windows(x: Float[Array, "time channel"], size: int) -> Float[Array, "time {size}*channel"]:
    """Returns the window around each position, `size // 2` to either side; beyond the ends there are zeros.

    A convolution is a linear layer on these windows. As one matrix product it stays fast when many networks run at
    once, which convolutions with a kernel for each network do not.
    """
    padded = jnp.pad(x, ((size // 2, size // 2), (0, 0)))
    return jnp.concatenate([padded[i : i + len(x)] for i in range(size)], -1)


class CNNNetwork(AbstractAtOnce):
    """Convolutions over time, each over all channels of the one before, and an MLP at every position."""

    convolutions: list[Linear]
    hidden: Linear
    readout: Linear
    kernel_size: int = eqx.field(static=True)
    input_size: int = eqx.field(static=True)

    def __init__(
        self,
        input_size: int,
        output_size: int,
        *,
        num_layers: int,
        channels: int,
        kernel_size: int,
        hidden_size: int,
        key: PRNGKeyArray,
    ) -> None:
        k_hidden, k_readout, *k_layers = jax.random.split(key, 2 + num_layers)
        depths = [input_size, *[channels] * (num_layers - 1)]
        self.convolutions = [
            Linear(kernel_size * depth, channels, key=k) for depth, k in zip(depths, k_layers, strict=True)
        ]
        self.hidden = Linear(channels, hidden_size, key=k_hidden)
        self.readout = Linear(hidden_size, output_size, key=k_readout)
        self.kernel_size = kernel_size
        self.input_size = input_size

    def run(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], key: PRNGKeyArray | None
    ) -> tuple[Float[Array, "time out"], dict[str, Array]]:
        """Returns logits at every position and `states` [layer, time, channel], the output of every convolution.

        There is no dropout: a key changes nothing.
        """
        del key

        def clear(x: Array) -> Array:
            # Padding must be zeros after every layer, as is everything beyond the end of the string.
            return jnp.where(mask[:, None], x, 0.0)

        x, states = clear(jax.nn.one_hot(tokens, self.input_size, dtype=self.readout.weight.dtype)), []
        for convolution in self.convolutions:
            x = clear(jax.nn.relu(jax.vmap(convolution)(windows(x, self.kernel_size))))
            states.append(x)
        logits = jax.vmap(lambda x: self.readout(jax.nn.relu(self.hidden(x))))(x)
        return logits, {"states": jnp.stack(states)}
