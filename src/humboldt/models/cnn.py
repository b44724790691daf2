"""The convolutional network of Delétang et al. (2023)."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models import models
from humboldt.models._linear import Linear


def windows(x: Float[Array, "time channel"], size: int) -> Float[Array, "time size*channel"]:
    """What stands around each position, `size // 2` to either side; beyond the ends there are zeros.

    A convolution is a linear layer on these. As one matrix product it stays fast when many networks run at once,
    which convolutions with a kernel for each network do not.
    """
    padded = jnp.pad(x, ((size // 2, size // 2), (0, 0)))
    return jnp.concatenate([padded[i : i + len(x)] for i in range(size)], -1)


class CNNModel(eqx.Module):
    """Convolutions over time, each seeing all channels of the one before, and an MLP at every position."""

    convolutions: list[Linear]
    hidden: Linear
    readout: Linear
    kernel_size: int = eqx.field(static=True)
    input_size: int = eqx.field(static=True)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Logits at every position. There is no dropout: a key changes nothing."""
        del key
        return self._run(tokens, mask)[0]

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Array]:
        """What happened inside: `states` [layer, time, channel], the output of every convolution."""
        return self._run(tokens, mask)[1]

    def _run(self, tokens: Array, mask: Array) -> tuple[Array, dict[str, Array]]:
        def clear(x: Array) -> Array:
            # Padding must look like what lies beyond the end of the string: zeros, after every layer.
            return jnp.where(mask[:, None], x, 0.0)

        x, states = clear(jax.nn.one_hot(tokens, self.input_size, dtype=self.readout.weight.dtype)), []
        for convolution in self.convolutions:
            x = clear(jax.nn.relu(jax.vmap(convolution)(windows(x, self.kernel_size))))
            states.append(x)
        logits = jax.vmap(lambda x: self.readout(jax.nn.relu(self.hidden(x))))(x)
        return logits, {"states": jnp.stack(states)}


@models.register("cnn", version=1)
@dataclass(frozen=True, kw_only=True)
class CNN:
    """A plain CNN with a small MLP on top; it answers at the `∅` it is given.

    The paper (appendix A.2) describes it in four sentences and its code is not released. From the paper: layers,
    channels, kernel sizes, a final MLP, and a first kernel that spans the whole one-hot encoding. Our choices: every
    later kernel spans all channels likewise, which makes the two-dimensional convolutions one-dimensional ones over
    time; zeros beyond both ends, so that the length stays; ReLU; an MLP of one hidden layer, the same at every
    position. A string's `∅` sees `num_layers * (kernel_size // 2)` symbols to its left.
    """

    num_layers: int = 5  # appendix A.2
    channels: int = 32  # appendix A.2
    kernel_size: int = 3  # appendix A.2: the best of 3, 5, 7, 11
    hidden_size: int = 32  # of the MLP; the paper is silent

    def __post_init__(self) -> None:
        if self.kernel_size % 2 == 0:
            raise ValueError(
                f"kernel_size={self.kernel_size} has no middle. Make it odd: the paper has 3, 5, 7 and 11."
            )

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: PRNGKeyArray) -> CNNModel:
        """The network, freshly initialised."""
        del num_symbols  # to a CNN a mark is a token like any other
        k_hidden, k_readout, *k_layers = jax.random.split(key, 2 + self.num_layers)
        depths = [input_size, *[self.channels] * (self.num_layers - 1)]
        return CNNModel(
            [Linear(self.kernel_size * depth, self.channels, key=k) for depth, k in zip(depths, k_layers, strict=True)],
            Linear(self.channels, self.hidden_size, key=k_hidden),
            Linear(self.hidden_size, output_size, key=k_readout),
            self.kernel_size,
            input_size,
        )
