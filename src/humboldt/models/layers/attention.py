"""Multi-head attention for one example (Vaswani et al. 2017)."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.dropout import dropout
from humboldt.models.layers.linear import Linear
from humboldt.models.layers.positions import RelativePositions, alibi_bias, rotate
from humboldt.models.options.attention import Positions, check_heads


class KeysValues(NamedTuple):
    """What can be attended to."""

    keys: Float[Array, "*layers key head size"]
    values: Float[Array, "*layers key head size"]


class Attention(eqx.Module):
    """Multi-head attention: `softmax(q k / sqrt(size)) v` in each head, then a linear layer over all heads.

    The positional encoding is one of those that act here; `sin_cos` and `none` do not.
    """

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    relative: RelativePositions | None
    num_heads: int = eqx.field(static=True)
    positions: Positions = eqx.field(static=True)
    weight_dropout: float = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        num_heads: int,
        *,
        positions: Positions = "none",
        use_bias: bool = False,
        weight_dropout: float = 0.0,
        relative_offset: int = 0,
        key: PRNGKeyArray,
    ) -> None:
        check_heads(width, num_heads, positions)
        k_query, k_key, k_value, k_output, k_relative = jax.random.split(key, 5)
        self.query = Linear(width, width, use_bias=use_bias, key=k_query)
        self.key = Linear(width, width, use_bias=use_bias, key=k_key)
        self.value = Linear(width, width, use_bias=use_bias, key=k_value)
        self.output = Linear(width, width, use_bias=use_bias, key=k_output)
        relative = RelativePositions(width, num_heads, offset=relative_offset, key=k_relative)
        self.relative = relative if positions == "relative" else None
        self.num_heads = num_heads
        self.positions = positions
        self.weight_dropout = weight_dropout

    def remember(self, x: Float[Array, "key width"], *, first: int | Int[Array, ""] = 0) -> KeysValues:
        """The keys and values of tokens that stand at `first, first + 1, ...`."""
        keys, values = self._heads(self.key, x), self._heads(self.value, x)
        if self.positions == "rope":
            keys = rotate(keys, first + jnp.arange(len(x)))
        return KeysValues(keys, values)

    def __call__(
        self,
        x: Float[Array, "query width"],
        memory: KeysValues,
        mask: Bool[Array, "query key"],
        *,
        first: int | Int[Array, ""] = 0,
        num_positions: int | None = None,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "query width"], Float[Array, "head query key"]]:
        """What each query finds, and how it looked.

        **Arguments:**

        - `x`: what asks, standing at `first, first + 1, ...`; keys stand at `0, 1, ...`.
        - `mask`: which key may be seen by which query. A query that sees none finds zeros.
        - `num_positions`: how many queries there can be at most when all do not come at once; by default there are
          no others.

        **Returns:** the output and the attention matrix of each head, every row of which sums to one.
        """
        num_positions = len(x) if num_positions is None else num_positions
        queries = self._heads(self.query, x)
        places = first + jnp.arange(len(x))
        if self.positions == "rope":
            queries = rotate(queries, places)
        if self.relative is None:
            scores = jnp.einsum("qhd,khd->hqk", queries, memory.keys)
        else:
            scores = self.relative(queries, memory.keys, first=first, num_positions=num_positions)
        scores = scores * queries.shape[-1] ** -0.5
        if self.positions == "alibi":
            distances = places[:, None] - jnp.arange(len(memory.keys))[None, :]
            scores = scores + alibi_bias(distances, self.num_heads).astype(scores.dtype)

        visible = mask[None]  # the same for all heads
        # The least number rather than infinity, and zeros afterwards: a row without any key must not become NaN.
        weights = jax.nn.softmax(jnp.where(visible, scores, jnp.finfo(scores.dtype).min))
        weights = jnp.where(visible, weights, 0.0)
        values = jnp.einsum("hqk,khd->qhd", dropout(weights, self.weight_dropout, key), memory.values)
        return jax.vmap(self.output)(values.reshape(len(x), -1)), weights

    def _heads(self, layer: Linear, x: Float[Array, "time width"]) -> Float[Array, "time head size"]:
        return jax.vmap(layer)(x).reshape(len(x), self.num_heads, -1)
