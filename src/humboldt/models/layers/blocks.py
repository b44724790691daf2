"""Transformer blocks for one example, and several of them one after the other.

Normalisation comes after each residual connection, as in the original (Vaswani et al. 2017) and in the released code of
Delétang et al. (2023), whose other choices are the defaults, too: no biases in attention, dropout only on what enters a
residual connection.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.models.layers.attention import Attention, KeysValues
from humboldt.models.layers.dropout import split_or_none
from humboldt.models.layers.feed_forward import FeedForward
from humboldt.models.layers.normalisation import AddNorm
from humboldt.models.options.attention import Positions

FEW_LAYERS = 5  # that an accelerator's program holds one after the other; more would compile for too long
L = TypeVar("L", bound=eqx.Module)


@dataclass(frozen=True)
class BlockOptions:
    """What all blocks of a Transformer have in common.

    - `positions`: an encoding that acts inside attention. For `sin_cos` add `sinusoids` to `x` yourself.
    - `dropout`: on what enters a residual connection. `inner_dropout`: on attention matrices and inside the
      feed-forward layer, where PyTorch's blocks have it too.
    - `use_bias`: whether the linear layers of attention have biases (PyTorch's do).
    - `norm_first`: whether normalisation comes before each layer instead of after its residual connection.
    - `cross_positions`: whether `positions` acts in the attention to the encoder, too.
    """

    width: int
    num_heads: int
    feed_forward_size: int
    positions: Positions = "none"
    dropout: float = 0.1
    inner_dropout: float = 0.0
    use_bias: bool = False
    norm_first: bool = False
    norm_epsilon: float = 1e-5
    cross_positions: bool = True

    def attention(self, *, is_cross: bool = False, relative_offset: int = 0, key: PRNGKeyArray) -> Attention:
        """One attention layer."""
        return Attention(
            self.width,
            self.num_heads,
            positions=self.positions if self.cross_positions or not is_cross else "none",
            use_bias=self.use_bias,
            weight_dropout=self.inner_dropout,
            relative_offset=relative_offset,
            key=key,
        )

    def feed_forward(self, *, key: PRNGKeyArray) -> FeedForward:
        """One feed-forward layer."""
        return FeedForward(self.width, self.feed_forward_size, inner_dropout=self.inner_dropout, key=key)

    def add_norm(self) -> AddNorm:
        """What comes after each of them."""
        return AddNorm(self.width, self.dropout, is_first=self.norm_first, epsilon=self.norm_epsilon)


class Block(eqx.Module):
    """Attention of the tokens among themselves, then the feed-forward layer."""

    attention: Attention
    after_attention: AddNorm
    feed_forward: FeedForward
    after_feed_forward: AddNorm

    def __init__(self, options: BlockOptions, *, key: PRNGKeyArray) -> None:
        k_attention, k_feed_forward = jax.random.split(key)
        self.attention = options.attention(key=k_attention)
        self.after_attention = options.add_norm()
        self.feed_forward = options.feed_forward(key=k_feed_forward)
        self.after_feed_forward = options.add_norm()

    def remember(self, x: Float[Array, "time width"]) -> KeysValues:
        """The keys and values of tokens before the block."""
        return self.attention.remember(self.after_attention.enter(x))

    def __call__(
        self,
        x: Float[Array, "time width"],
        mask: Bool[Array, "time key"],
        memory: KeysValues | None = None,
        *,
        key: PRNGKeyArray | None = None,
    ) -> tuple[Float[Array, "time width"], dict[str, Array]]:
        """The tokens after the block (also as `states`), and its `attention` matrices.

        `memory` is what they attend to, by default themselves.
        """
        k_weights, k_attention, k_inner, k_feed_forward = split_or_none(key, 4)
        asking = self.after_attention.enter(x)
        memory = self.remember(x) if memory is None else memory
        attended, weights = self.attention(asking, memory, mask, key=k_weights)
        x = self.after_attention(x, attended, key=k_attention)
        y = self.feed_forward(self.after_feed_forward.enter(x), key=k_inner)
        x = self.after_feed_forward(x, y, key=k_feed_forward)
        return x, {"attention": weights, "states": x}


class Blocks(eqx.Module):
    """Several blocks, one after the other. With `causal`, a token sees only itself and what stands left of it; with
    `shared`, it is one block several times."""

    blocks: Block
    causal: bool = eqx.field(static=True)
    times: int = eqx.field(static=True)

    def __init__(
        self, num_layers: int, options: BlockOptions, *, causal: bool = False, shared: bool = False, key: PRNGKeyArray
    ) -> None:
        self.blocks = make_layers(lambda key: Block(options, key=key), 1 if shared else num_layers, key=key)
        self.causal = causal
        self.times = num_layers if shared else 1

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
        blocks = repeated(self.blocks, self.times)
        return over_layers(blocks, lambda block, x, _, key: block(x, visible, key=key), x, key=key)


def make_layers(make: Callable[[PRNGKeyArray], L], num_layers: int, *, key: PRNGKeyArray) -> L:
    """As many layers, as one whose every array has a leading axis of layers.

    One compiled layer is run over that axis (see `over_layers`): a network of 25 layers compiles as fast as one of 2.
    """
    return eqx.filter_vmap(make)(jax.random.split(key, num_layers))


def repeated(layers: L, times: int) -> L:
    """One layer as so many with the same weights."""
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
    """Runs `apply(layer, x, what is that layer's of per_layer, key) -> (x, notes)` over the leading axis of `layers`.

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
    # What a loop saves for its backward pass is written twice more, which takes longer than all matrix products.
    notes = []
    for i in range(count):
        x, note = step(x, jax.tree.map(lambda leaf, i=i: leaf[i], inputs))
        notes.append(note)
    return x, jax.tree.map(lambda *all_layers: jnp.stack(all_layers), *notes)
