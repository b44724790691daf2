"""Transformer blocks for one example (Vaswani et al. 2017): attention, feed-forward layer, a stack of both.

Normalisation comes after each residual connection, as in the original and in the released code of Delétang et al.
(2023), whose other choices are the defaults: no biases in attention, dropout on what enters a residual connection only.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models._linear import Linear
from humboldt.models._positions import Positions, RelativePositions, alibi_bias, rotate

FEW_LAYERS = 8  # that an accelerator's program holds one after the other; more would compile for too long


def dropout(x: Float[Array, "..."], rate: float, key: PRNGKeyArray | None) -> Float[Array, "..."]:
    """Zeroes a share of the numbers and scales up the rest; without a key nothing is dropped."""
    if key is None or rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0.0)


def split_or_none(key: PRNGKeyArray | None, count: int) -> Any:
    """`count` keys, or as many `None`: no key, no dropout."""
    return [None] * count if key is None else jax.random.split(key, count)


def check_heads(width: int, num_heads: int, positions: Positions) -> None:
    """Raises a `ValueError` unless the width can be shared out among the heads."""
    if width % num_heads:
        raise ValueError(f"width={width} cannot be shared out among num_heads={num_heads}. Make it a multiple.")
    if positions == "rope" and (width // num_heads) % 2:
        raise ValueError(
            f"positions=rope turns pairs of features, but width={width} and num_heads={num_heads} give "
            f"{width // num_heads} to a head. Make that even."
        )


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
        found = jnp.einsum("hqk,khd->qhd", dropout(weights, self.weight_dropout, key), memory.values)
        return jax.vmap(self.output)(found.reshape(len(x), -1)), weights

    def _heads(self, layer: Linear, x: Float[Array, "time width"]) -> Float[Array, "time head size"]:
        return jax.vmap(layer)(x).reshape(len(x), self.num_heads, -1)


class FeedForward(eqx.Module):
    """Two linear layers with a ReLU between them, at every position."""

    up: Linear
    down: Linear
    inner_dropout: float = eqx.field(static=True)

    def __init__(self, width: int, size: int, *, inner_dropout: float = 0.0, key: PRNGKeyArray) -> None:
        k_up, k_down = jax.random.split(key)
        self.up = Linear(width, size, key=k_up)
        self.down = Linear(size, width, key=k_down)
        self.inner_dropout = inner_dropout

    def __call__(self, x: Float[Array, "time width"], *, key: PRNGKeyArray | None = None) -> Float[Array, "time width"]:
        hidden = dropout(jax.nn.relu(jax.vmap(self.up)(x)), self.inner_dropout, key)
        return jax.vmap(self.down)(hidden)


class AddNorm(eqx.Module):
    """A residual connection: `normalise(x + dropout(y))`."""

    norm: eqx.nn.LayerNorm
    dropout: float = eqx.field(static=True)

    def __init__(self, width: int, dropout: float) -> None:
        self.norm = eqx.nn.LayerNorm(width)
        self.dropout = dropout

    def __call__(
        self, x: Float[Array, "time width"], y: Float[Array, "time width"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time width"]:
        return jax.vmap(self.norm)(x + dropout(y, self.dropout, key))


class Block(eqx.Module):
    """Attention of the tokens among themselves, then the feed-forward layer."""

    attention: Attention
    after_attention: AddNorm
    feed_forward: FeedForward
    after_feed_forward: AddNorm

    def __init__(
        self,
        width: int,
        num_heads: int,
        feed_forward_size: int,
        *,
        positions: Positions = "none",
        dropout: float = 0.1,
        inner_dropout: float = 0.0,
        use_bias: bool = False,
        key: PRNGKeyArray,
    ) -> None:
        k_attention, k_feed_forward = jax.random.split(key)
        self.attention = Attention(
            width, num_heads, positions=positions, use_bias=use_bias, weight_dropout=inner_dropout, key=k_attention
        )
        self.after_attention = AddNorm(width, dropout)
        self.feed_forward = FeedForward(width, feed_forward_size, inner_dropout=inner_dropout, key=k_feed_forward)
        self.after_feed_forward = AddNorm(width, dropout)

    def __call__(
        self, x: Float[Array, "time width"], mask: Bool[Array, "time time"], *, key: PRNGKeyArray | None = None
    ) -> tuple[Float[Array, "time width"], dict[str, Array]]:
        """The tokens after the block (also as `states`), and its `attention` matrices."""
        k_weights, k_attention, k_inner, k_feed_forward = split_or_none(key, 4)
        found, weights = self.attention(x, self.attention.remember(x), mask, key=k_weights)
        x = self.after_attention(x, found, key=k_attention)
        y = self.feed_forward(x, key=k_inner)
        x = self.after_feed_forward(x, y, key=k_feed_forward)
        return x, {"attention": weights, "states": x}


class Blocks(eqx.Module):
    """Several blocks, one after the other.

    Each weight has a leading axis of layers, and one compiled block is run over it: a model of 25 layers compiles as
    fast as one of 2.

    **Arguments:**

    - `positions`: an encoding that acts inside attention. For `sin_cos` add `sinusoids` to `x` yourself.
    - `dropout`: on what enters a residual connection. `inner_dropout`: on attention matrices and inside the
      feed-forward layer, where PyTorch's blocks have it too.
    - `use_bias`: whether the linear layers of attention have biases (PyTorch's do).
    - `causal`: whether a token sees only itself and what stands left of it.
    """

    blocks: Block
    causal: bool = eqx.field(static=True)

    def __init__(
        self,
        num_layers: int,
        width: int,
        num_heads: int,
        feed_forward_size: int,
        *,
        positions: Positions = "none",
        dropout: float = 0.1,
        inner_dropout: float = 0.0,
        use_bias: bool = False,
        causal: bool = False,
        key: PRNGKeyArray,
    ) -> None:
        def block(key: PRNGKeyArray) -> Block:
            return Block(
                width,
                num_heads,
                feed_forward_size,
                positions=positions,
                dropout=dropout,
                inner_dropout=inner_dropout,
                use_bias=use_bias,
                key=key,
            )

        self.blocks = eqx.filter_vmap(block)(jax.random.split(key, num_layers))
        self.causal = causal

    def __call__(
        self, x: Float[Array, "time width"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> tuple[Float[Array, "time width"], dict[str, Array]]:
        """The tokens after the last block; and of every block the `attention` matrices and the `states` after it.

        What the caller does not use of these is never computed in a compiled program.
        """
        time = len(x)
        visible = jnp.broadcast_to(mask[None, :], (time, time))
        if self.causal:
            visible = visible & jnp.tri(time, dtype=bool)
        return over_layers(self.blocks, lambda block, x, _, key: block(x, visible, key=key), x, key=key)


def over_layers(
    layers: Any,
    apply: Callable[[Any, Array, Any, PRNGKeyArray | None], tuple[Array, dict[str, Any]]],
    x: Float[Array, "time width"],
    per_layer: Any = None,
    *,
    key: PRNGKeyArray | None = None,
) -> tuple[Float[Array, "time width"], dict[str, Any]]:
    """Runs `apply(layer, x, what is that layer's of per_layer, key) -> (x, notes)` over the leading axis of `layers`.

    **Returns:** the last `x`, and the notes of all layers with a leading axis of layers.
    """
    arrays, static = eqx.partition(layers, eqx.is_array)
    keys = None if key is None else jax.random.split(key, jax.tree.leaves(arrays)[0].shape[0])

    def step(x: Array, inputs: tuple[Any, Any, Any]) -> tuple[Array, dict[str, Any]]:
        arrays, own, key = inputs
        return apply(eqx.combine(arrays, static), x, own, key)

    inputs, count = (arrays, per_layer, keys), jax.tree.leaves(arrays)[0].shape[0]
    if jax.default_backend() == "cpu" or count > FEW_LAYERS:
        return jax.lax.scan(step, x, inputs)
    # What a loop saves for its backward pass is written twice more, which takes longer than all matrix products.
    notes = []
    for i in range(count):
        x, note = step(x, jax.tree.map(lambda leaf, i=i: leaf[i], inputs))
        notes.append(note)
    return x, jax.tree.map(lambda *all_layers: jnp.stack(all_layers), *notes)
