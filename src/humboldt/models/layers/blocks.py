"""Transformer blocks for one example, and several of them one after the other.

Normalisation comes after each residual connection, as in the original (Vaswani et al. 2017) and in the released code of
Delétang et al. (2023), whose other choices are the defaults, too: no biases in attention, dropout only on the input of
a residual connection.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.models.layers.attention import Attention, KeysValues
from humboldt.models.layers.dropout import split_or_none
from humboldt.models.layers.feed_forward import FeedForward
from humboldt.models.layers.normalisation import AddNorm
from humboldt.models.layers.positions_random import draw_places
from humboldt.models.zoo.shared.attention import NUM_PLACES, AllPositions, is_random

FEW_LAYERS = 5  # that an accelerator's program holds one after the other; more would compile for too long
L = TypeVar("L", bound=eqx.Module)


@dataclass(frozen=True)
class BlockOptions:
    """Options that all blocks of a Transformer share.

    - `positions`: an encoding that acts inside attention. For `sin_cos` the caller adds `sinusoids` to `x`.
    - `dropout`: on the input of a residual connection. `inner_dropout`: on attention matrices and inside the
      feed-forward layer, where PyTorch's blocks have it too.
    - `use_bias`: whether the linear layers of attention have biases (PyTorch's do).
    - `norm_first`: whether normalisation comes before each layer instead of after its residual connection.
    - `cross_positions`: whether `positions` acts in the attention to the encoder, too.
    - `num_places`: the places of which randomised positions are a subset.
    """

    width: int
    num_heads: int
    feed_forward_size: int
    positions: AllPositions = "none"
    dropout: float = 0.1
    inner_dropout: float = 0.0
    use_bias: bool = False
    norm_first: bool = False
    norm_epsilon: float = 1e-5
    cross_positions: bool = True
    num_places: int = NUM_PLACES

    def places(
        self, length: int | Int[Array, ""], num_positions: int, *, key: PRNGKeyArray | None = None
    ) -> Int[Array, " position"] | None:
        """Draws the places of a string's tokens, where positions are randomised; see `draw_places`."""
        if not is_random(self.positions):
            return None
        key = None if key is None else jax.random.fold_in(key, 2)  # apart from the keys of dropout
        return draw_places(length, num_positions, self.num_places, key=key)

    def attention(
        self, *, is_cross: bool = False, relative_offset: int = 0, both_sides: bool = False, key: PRNGKeyArray
    ) -> Attention:
        """Builds one attention layer. `both_sides`: whether tokens attend to the right, too."""
        return Attention(
            self.width,
            self.num_heads,
            positions=self.positions if self.cross_positions or not is_cross else "none",
            use_bias=self.use_bias,
            weight_dropout=self.inner_dropout,
            relative_offset=relative_offset,
            both_sides=both_sides,
            key=key,
        )

    def feed_forward(self, *, key: PRNGKeyArray) -> FeedForward:
        """Builds one feed-forward layer."""
        return FeedForward(self.width, self.feed_forward_size, inner_dropout=self.inner_dropout, key=key)

    def add_norm(self) -> AddNorm:
        """Builds the residual connection around each of them."""
        return AddNorm(self.width, self.dropout, is_first=self.norm_first, epsilon=self.norm_epsilon)


class Block(eqx.Module):
    """Self-attention, then the feed-forward layer."""

    attention: Attention
    after_attention: AddNorm
    feed_forward: FeedForward
    after_feed_forward: AddNorm

    def __init__(self, options: BlockOptions, *, both_sides: bool = False, key: PRNGKeyArray) -> None:
        k_attention, k_feed_forward = jax.random.split(key)
        self.attention = options.attention(both_sides=both_sides, key=k_attention)
        self.after_attention = options.add_norm()
        self.feed_forward = options.feed_forward(key=k_feed_forward)
        self.after_feed_forward = options.add_norm()

    def remember(
        self,
        x: Float[Array, "time width"],
        *,
        first: int | Int[Array, ""] = 0,
        places: Int[Array, " position"] | None = None,
    ) -> KeysValues:
        """Returns the keys and values of tokens that enter the block at positions `first, first + 1, ...`."""
        return self.attention.remember(self.after_attention.enter(x), first=first, places=places)

    def __call__(
        self,
        x: Float[Array, "time width"],
        mask: Bool[Array, "time key"],
        memory: KeysValues | None = None,
        *,
        first: int | Int[Array, ""] = 0,
        num_positions: int | None = None,
        places: Int[Array, " position"] | None = None,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "time width"], dict[str, Array]]:
        """Returns the tokens after the block (also as `states`), and its `attention` matrices.

        The tokens, at positions `first, first + 1, ...`, attend to `memory`, by default to themselves; see
        `Attention`.
        """
        k_weights, k_attention, k_inner, k_feed_forward = split_or_none(key, 4)
        asking = self.after_attention.enter(x)
        memory = self.remember(x, first=first, places=places) if memory is None else memory
        attended, weights = self.attention(
            asking, memory, mask, first=first, num_positions=num_positions, places=places, key=k_weights
        )
        x = self.after_attention(x, attended, key=k_attention)
        y = self.feed_forward(self.after_feed_forward.enter(x), key=k_inner)
        x = self.after_feed_forward(x, y, key=k_feed_forward)
        return x, {"attention": weights, "states": x}


class Blocks(eqx.Module):
    """Several blocks, one after the other.

    With `causal`, a token attends only to itself and the tokens to its left; with `shared`, one block is applied
    several times.
    """

    blocks: Block
    causal: bool = eqx.field(static=True)
    times: int = eqx.field(static=True)

    def __init__(
        self, num_layers: int, options: BlockOptions, *, causal: bool = False, shared: bool = False, key: PRNGKeyArray
    ) -> None:
        self.blocks = make_layers(
            lambda key: Block(options, both_sides=not causal, key=key), 1 if shared else num_layers, key=key
        )
        self.causal = causal
        self.times = num_layers if shared else 1

    def __call__(
        self,
        x: Float[Array, "time width"],
        mask: Bool[Array, " time"],
        *,
        places: Int[Array, " time"] | None = None,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "time width"], dict[str, Array]]:
        """Returns the tokens after the last block, and of every block the `attention` matrices and the `states`.

        In a compiled program, those that the caller does not use are never computed.
        """
        time = len(x)
        visible = jnp.broadcast_to(mask[None, :], (time, time))
        if self.causal:
            visible = visible & jnp.tri(time, dtype=bool)
        blocks = repeated(self.blocks, self.times)
        return over_layers(blocks, lambda block, x, _, key: block(x, visible, places=places, key=key), x, key=key)


def make_layers(make: Callable[[PRNGKeyArray], L], num_layers: int, *, key: PRNGKeyArray) -> L:
    """Builds `num_layers` layers, as one layer whose every array has a leading axis of layers.

    One compiled layer is run over that axis (see `over_layers`): a network of 25 layers compiles as fast as one of 2.
    """
    return eqx.filter_vmap(make)(jax.random.split(key, num_layers))


def repeated(layers: L, times: int) -> L:
    """Returns one layer as `times` layers with the same weights."""
    if times == 1:
        return layers
    return jax.tree.map(lambda x: jnp.repeat(x, times, 0) if eqx.is_array(x) else x, layers)


def over_layers(
    layers: Any,
    apply: Callable[[Any, Array, Any, PRNGKeyArray | None], tuple[Array, dict[str, Any]]],
    x: Float[Array, "time width"],
    per_layer: Any = None,
    *,
    key: PRNGKeyArray | None = None,
) -> tuple[Float[Array, "time width"], dict[str, Any]]:
    """Runs `apply(layer, x, per_layer[i], key) -> (x, notes)` for each `layer` `i` of the leading axis of `layers`.

    **Returns:** the last `x`, and the notes of all layers with a leading axis of layers.
    """
    arrays, static = eqx.partition(layers, eqx.is_array)
    keys = None if key is None else jax.random.split(key, jax.tree.leaves(arrays)[0].shape[0])

    def step(x: Array, inputs: tuple[Any, Any, Any]) -> tuple[Array, dict[str, Any]]:
        arrays, of_layer, key = inputs
        return apply(eqx.combine(arrays, static), x, of_layer, key)

    inputs, count = (arrays, per_layer, keys), jax.tree.leaves(arrays)[0].shape[0]
    if jax.default_backend() == "cpu" or count > FEW_LAYERS:
        return jax.lax.scan(step, x, inputs)
    # The arrays that a loop saves for its backward pass are written twice more, which takes longer than all products.
    notes = []
    for i in range(count):
        x, note = step(x, jax.tree.map(lambda leaf, i=i: leaf[i], inputs))
        notes.append(note)
    return x, jax.tree.map(lambda *all_layers: jnp.stack(all_layers), *notes)
