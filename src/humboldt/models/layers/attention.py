"""Multi-head attention for one example (Vaswani et al. 2017)."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.layers.dropout import dropout
from humboldt.models.layers.fused.choice import form_of, why_plain
from humboldt.models.layers.fused.run import attended
from humboldt.models.layers.linear import Linear
from humboldt.models.layers.positions import RelativePositions, alibi_bias, rotate
from humboldt.models.layers.positions_bias import Fire, Kerple, T5Bias
from humboldt.models.layers.positions_context import ContextualPositions
from humboldt.models.layers.softmax import softmax_of_visible
from humboldt.models.zoo.shared.attention import AllPositions, check_heads, is_random


class KeysValues(NamedTuple):
    """Keys and values that queries attend to."""

    keys: Float[Array, "*layers key head size"]
    values: Float[Array, "*layers key head size"]


class Attention(eqx.Module):
    """Multi-head attention: `softmax(q k / sqrt(size)) v` in each head, then a linear layer over all heads.

    The positional encoding is one of those that act here; `sin_cos` and `none` do not. Token `i` is at place `i`, or at
    `places[i]`: randomised positions need these (see `draw_places`). `both_sides` is true if tokens also attend to the
    right. The same numbers result whether all queries come at once or one by one.
    """

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    relative: RelativePositions | None
    bias: T5Bias | Kerple | Fire | None
    contextual: ContextualPositions | None
    num_heads: int = eqx.field(static=True)
    positions: AllPositions = eqx.field(static=True)
    weight_dropout: float = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        num_heads: int,
        *,
        positions: AllPositions = "none",
        use_bias: bool = False,
        weight_dropout: float = 0.0,
        relative_offset: int = 0,
        both_sides: bool = False,
        key: PRNGKeyArray,
    ) -> None:
        check_heads(width, num_heads, positions)
        k_query, k_key, k_value, k_output, k_relative = jax.random.split(key, 5)
        self.query = Linear(width, width, use_bias=use_bias, key=k_query)
        self.key = Linear(width, width, use_bias=use_bias, key=k_key)
        self.value = Linear(width, width, use_bias=use_bias, key=k_value)
        self.output = Linear(width, width, use_bias=use_bias, key=k_output)
        relative = RelativePositions(width, num_heads, offset=relative_offset, key=k_relative)
        self.relative = relative if positions in ("relative", "random_relative") else None
        self.bias = self.contextual = None
        if positions == "t5":
            self.bias = T5Bias(width, num_heads, both_sides=both_sides, key=k_relative)
        elif positions in ("kerple", "fire"):
            self.bias = (Kerple if positions == "kerple" else Fire)(num_heads, key=k_relative)
        elif positions == "cope":
            if both_sides:
                raise UsageError("positions=cope counts tokens on the left, but here attention looks both ways.")
            self.contextual = ContextualPositions(width // num_heads)
        self.num_heads = num_heads
        self.positions = positions
        self.weight_dropout = weight_dropout

    def remember(
        self,
        x: Float[Array, "key width"],
        *,
        first: int | Int[Array, ""] = 0,
        places: Int[Array, " position"] | None = None,
    ) -> KeysValues:
        """Returns the keys and values of tokens at positions `first, first + 1, ...`."""
        keys, values = self._heads(self.key, x), self._heads(self.value, x)
        if self.positions in ("rope", "random_rope"):
            keys = rotate(keys, self._places(first, len(x), places))
        return KeysValues(keys, values)

    def __call__(
        self,
        x: Float[Array, "query width"],
        memory: KeysValues,
        mask: Bool[Array, "query key"],
        *,
        first: int | Int[Array, ""] = 0,
        num_positions: int | None = None,
        places: Int[Array, " position"] | None = None,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "query width"], Float[Array, "head query key"]]:
        """Applies attention to queries.

        **Arguments:**

        - `x`: the queries, at positions `first, first + 1, ...`; keys are at `0, 1, ...`.
        - `mask`: which query may attend to which key. The result of a query without any key is zeros.
        - `num_positions`: the largest number of queries when they do not come all at once; by default, the number of
          rows of `x`.
        - `places`: of all positions, for randomised positions.

        **Returns:** the output and the attention matrix of each head, every row of which sums to one.
        """
        num_positions = len(x) if num_positions is None else num_positions
        queries = self._heads(self.query, x)
        asking = self._places(first, len(x), places)
        asked = self._places(0, len(memory.keys), places)
        if self.positions in ("rope", "random_rope"):
            queries = rotate(queries, asking)
        if self.relative is None:
            scores = jnp.einsum("qhd,khd->hqk", queries, memory.keys)
        elif places is not None:
            scores = self.relative.at_places(queries, memory.keys, asking, asked)
        else:
            scores = self.relative(queries, memory.keys, first=first, num_positions=num_positions)
        scores = scores * queries.shape[-1] ** -0.5
        if self.positions in ("alibi", "random_alibi"):
            distances = asking[:, None] - asked[None, :]
            scores = scores + alibi_bias(distances, self.num_heads).astype(scores.dtype)
        if self.bias is not None:
            scores = scores + self.bias(asking, asked).astype(scores.dtype)
        if self.contextual is not None:
            scores = scores + self.contextual(queries, scores, mask).astype(scores.dtype)

        weights = softmax_of_visible(scores, mask)
        drops = key is not None and self.weight_dropout > 0
        is_whole = isinstance(first, int) and first == 0 and num_positions == len(x)
        if why_plain(self.positions, queries, memory.keys, all_at_once=is_whole, drops=drops):
            values = jnp.einsum("hqk,khd->qhd", dropout(weights, self.weight_dropout, key), memory.values)
        else:  # a compiled program computes the weights only if they are used
            values = self._fused(queries, memory, mask)
        return jax.vmap(self.output)(values.reshape(len(x), -1)), weights

    def _fused(
        self, queries: Float[Array, "query head size"], memory: KeysValues, mask: Bool[Array, "query key"]
    ) -> Float[Array, "query head size"]:
        """Returns what every head reads, by the kernels."""
        form = form_of(self.positions)
        assert form is not None, "chosen for these positions"
        weights = {}
        if self.relative is not None:
            weights = self.relative.by_name(len(queries), len(memory.keys), queries.dtype)
        return attended(form, queries, memory.keys, memory.values, mask, weights)

    def _heads(self, layer: Linear, x: Float[Array, "time width"]) -> Float[Array, "time head size"]:
        return jax.vmap(layer)(x).reshape(len(x), self.num_heads, -1)

    def _places(self, first: int | Array, count: int, places: Int[Array, " position"] | None) -> Int[Array, " count"]:
        if places is None:
            if is_random(self.positions):
                raise ValueError(f"positions={self.positions} needs the places of all positions: see draw_places.")
            return first + jnp.arange(count)
        return jax.lax.dynamic_slice_in_dim(places, first, count)
