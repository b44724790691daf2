"""How attention learns where a token stands: the five positional encodings of Delétang et al. (2023)."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from humboldt.models.layers.linear import Linear


def wave_rates(size: int) -> Float[np.ndarray, " half"]:
    """Radians per position of `size / 2` waves: a geometric sequence from 1 to nearly 1 / 10,000."""
    if size % 2:
        raise ValueError(f"Waves fill their space in pairs (sine and cosine), but there is space for {size}.")
    return (10_000.0 ** (-np.arange(0, size, 2) / size)).astype(np.float32)


def fairseq_wave_rates(size: int) -> Float[np.ndarray, " half"]:
    """The same as fairseq has it: the last one is 1 / 10,000 itself."""
    half = size // 2
    return (10_000.0 ** (-np.arange(half) / max(1, half - 1))).astype(np.float32)


def sinusoids(
    positions: Int[Array, " time"], size: int, rates: Float[np.ndarray, " half"] | None = None
) -> Float[Array, "time size"]:
    """Sines, then cosines, of each position at rates `10000^(-2i / size)` (Vaswani et al. 2017).

    Vaswani et al. alternate the two. The order means nothing to the linear layer that follows; this one is the
    released code's.
    """
    rates = wave_rates(size) if rates is None else rates
    angles = positions.astype(jnp.float32)[:, None] * rates[None, :]
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


def rotate(x: Float[Array, "time head size"], positions: Int[Array, " time"]) -> Float[Array, "time head size"]:
    """Turns each neighbouring pair of features by an angle proportional to the position (RoPE, Su et al. 2021).

    The product of a turned query and a turned key depends on how far apart they stand, not on where.
    """
    angles = (positions.astype(jnp.float32)[:, None] * wave_rates(x.shape[-1])[None, :])[:, None, :]
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    sin, cos = jnp.sin(angles).astype(x.dtype), jnp.cos(angles).astype(x.dtype)
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def alibi_slopes(num_heads: int) -> list[float]:
    """How steeply each head forgets: `2^(-8/n), 2^(-16/n), ...`, from the authors' code (Press et al. 2021).

    For a number of heads that is no power of two: the slopes of the next smaller power, then every other one of the
    next larger.

    >>> alibi_slopes(4)
    [0.25, 0.0625, 0.015625, 0.00390625]
    """
    below = 2 ** math.floor(math.log2(num_heads))
    slopes = [2.0 ** (-8 * (i + 1) / below) for i in range(below)]
    return slopes if below == num_heads else slopes + alibi_slopes(2 * below)[::2][: num_heads - below]


def alibi_bias(distances: Int[Array, "query key"], num_heads: int) -> Float[Array, "head query key"]:
    """What is added to each head's scores: `slope * -|distance|`, and `slope / 2` more for keys on the left.

    `distances` are position of the query minus position of the key. Press et al. only look back. Here attention looks
    both ways, and the half, which is in the released code, is what tells left from right.
    """
    penalty = -jnp.abs(distances).astype(jnp.float32) + jnp.where(distances > 0, 0.5, 0.0)
    return jnp.array(alibi_slopes(num_heads), jnp.float32)[:, None, None] * penalty[None]


class RelativePositions(eqx.Module):
    """Scores that depend on content and on distance (Transformer-XL, Dai et al. 2019).

    `score(i, j) = (q_i + u) . k_j + (q_i + v) . W r(i - j)` with `r` the sinusoids of the distance and `u`, `v`, `W`
    learnt. Unlike Dai et al., keys may stand on the right, at negative distances. `offset` is added to every distance.
    """

    content_bias: Float[Array, "head size"]
    distance_bias: Float[Array, "head size"]
    key: Linear
    offset: int = eqx.field(static=True)

    def __init__(self, width: int, num_heads: int, *, offset: int = 0, key: PRNGKeyArray) -> None:
        k_content, k_distance, k_key = jax.random.split(key, 3)
        shape = (num_heads, width // num_heads)
        self.content_bias = 0.02 * jax.random.normal(k_content, shape)
        self.distance_bias = 0.02 * jax.random.normal(k_distance, shape)
        self.key = Linear(width, width, use_bias=False, key=k_key)
        self.offset = offset

    def __call__(
        self,
        queries: Float[Array, "query head size"],
        keys: Float[Array, "key head size"],
        *,
        first: int | Int[Array, ""],
        num_positions: int,
    ) -> Float[Array, "head query key"]:
        """The scores, before scaling, of queries at `first, first + 1, ...` out of `num_positions` positions."""
        num_queries, num_keys = len(queries), len(keys)
        # All distances that any query can have, also when there is but one: what is made here depends on nothing
        # that differs between the examples of a batch, so it is made once for all of them.
        distances = jnp.arange(num_positions - 1, -num_keys, -1)
        places = sinusoids(distances + self.offset, self.key.weight.shape[0]).astype(queries.dtype)
        table = jax.vmap(self.key)(places).reshape(-1, *queries.shape[1:])
        if num_queries != num_positions:
            begin = num_positions - num_queries - first
            table = jax.lax.dynamic_slice_in_dim(table, begin, num_queries + num_keys - 1)
        by_content = jnp.einsum("qhd,khd->hqk", queries + self.content_bias[None], keys)
        by_distance = jnp.einsum("qhd,rhd->hqr", queries + self.distance_bias[None], table)
        return by_content + jax.vmap(relative_shift)(by_distance)


def relative_shift(by_distance: Float[Array, "query distance"]) -> Float[Array, "query key"]:
    """From scores by distance to scores by key: entry `(i, j)` of the result is the one for distance `i - j`.

    **Arguments:**

    - `by_distance`: column `c` holds distance `num_queries - 1 - c`, down to `1 - num_keys`.

    Row `i` must move left by `num_queries - 1 - i`. Reading the same numbers in rows that are one shorter moves each
    row one further than the row before (Dai et al. 2019, appendix B): no index arrays, no copies per row.

    >>> relative_shift(jnp.array([[1, 0, -1], [1, 0, -1]])).tolist()
    [[0, -1], [1, 0]]
    """
    num_queries, num_distances = by_distance.shape
    num_keys = num_distances - num_queries + 1
    if num_queries == 1:
        return by_distance
    shorter = num_distances - 1
    moved = by_distance.reshape(-1)[num_queries - 1 : num_queries - 1 + num_queries * shorter]
    return moved.reshape(num_queries, shorter)[:, :num_keys]
