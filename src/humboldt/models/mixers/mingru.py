"""minGRU (Feng et al. 2024): a GRU whose gate and candidate depend on the input only."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.diagonal import states
from humboldt.models.mixers.parts import linear


class MinGRU(AbstractMixer):
    """`h <- (1 - z) ⊙ h + z ⊙ c` with `z = σ(W x)` and a candidate `c = V x`.

    With `positive`, the candidate is `V x + 1/2` where that is larger than 1/2 and `σ(V x)` elsewhere, as in the
    paper's log-space form (appendix B.3) and in lucidrains/minGRU-pytorch, which has no biases either. As there, an
    output layer is needed only where the state is larger than the width.
    """

    input: Linear  # candidate and gate
    output: Linear | None
    positive: bool = eqx.field(static=True)

    def __init__(
        self, width: int, *, expansion: int = 1, positive: bool = True, use_bias: bool = False, key: PRNGKeyArray
    ) -> None:
        k_input, k_output = jax.random.split(key)
        inner = expansion * width
        self.input = linear(width, 2 * inner, use_bias=use_bias, key=k_input)
        self.output = None if expansion == 1 else linear(inner, width, use_bias=use_bias, key=k_output)
        self.positive = positive

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        del mask
        hidden = states(*jax.vmap(self._gates)(xs))
        return hidden if self.output is None else jax.vmap(self.output)(hidden)

    def start(self) -> Float[Array, " inner"]:
        return jnp.zeros(self.input.weight.shape[1] // 2)

    def step(
        self, state: Float[Array, " inner"], x: Float[Array, " width"]
    ) -> tuple[Float[Array, " inner"], Float[Array, " width"]]:
        decay, drive = self._gates(x)
        state = decay * state + drive
        return state, state if self.output is None else self.output(state)

    def _gates(self, x: Float[Array, " width"]) -> tuple[Float[Array, " inner"], Float[Array, " inner"]]:
        candidate, gate = jnp.split(self.input(x), 2)
        if self.positive:
            candidate = jnp.where(candidate >= 0, candidate + 0.5, jax.nn.sigmoid(candidate))
        return jax.nn.sigmoid(-gate), jax.nn.sigmoid(gate) * candidate
