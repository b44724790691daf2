"""The five positional encodings of Delétang et al. (2023)."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from humboldt.models.layers.linear import Linear


def wave_rates(size: int) -> Float[np.ndarray, " half"]:
    """Returns the radians per position of `size / 2` waves: a geometric sequence from 1 to nearly 1 / 10,000."""
    if size % 2:
        raise ValueError(f"Waves fill their space in pairs (sine and cosine), but there is space for {size}.")
    return (10_000.0 ** (-np.arange(0, size, 2) / size)).astype(np.float32)


def fairseq_wave_rates(size: int) -> Float[np.ndarray, " half"]:
    """Returns the rates of fairseq's waves, of which the last is exactly 1 / 10,000."""
    half = size // 2
    return (10_000.0 ** (-np.arange(half) / max(1, half - 1))).astype(np.float32)


def sinusoids(
    positions: Int[Array, " time"], size: int, rates: Float[np.ndarray, " half"] | None = None
) -> Float[Array, "time size"]:
    """Returns the sines, then the cosines, of each position at rates `10000^(-2i / size)` (Vaswani et al. 2017).

    Vaswani et al. alternate the two. The order makes no difference to the linear layer that follows; this is the order
    of the released code.
    """
    rates = wave_rates(size) if rates is None else rates
    angles = positions.astype(jnp.float32)[:, None] * rates[None, :]
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


def rotate(x: Float[Array, "time head size"], positions: Int[Array, " time"]) -> Float[Array, "time head size"]:
    """Rotates each pair of neighbouring features by an angle proportional to the position (RoPE, Su et al. 2021).

    The product of a rotated query and a rotated key depends on their distance, not on their positions.
    """
    angles = (positions.astype(jnp.float32)[:, None] * wave_rates(x.shape[-1])[None, :])[:, None, :]
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    sin, cos = jnp.sin(angles).astype(x.dtype), jnp.cos(angles).astype(x.dtype)
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def alibi_slopes(num_heads: int) -> list[float]:
    """Returns the slope of each head: `2^(-8/n), 2^(-16/n), ...`, from the authors' code (Press et al. 2021).

    For a number of heads that is not a power of two: the slopes of the next smaller power, then every second slope of
    the next larger power.

    >>> alibi_slopes(4)
    [0.25, 0.0625, 0.015625, 0.00390625]
    """
    below = 2 ** math.floor(math.log2(num_heads))
    slopes = [2.0 ** (-8 * (i + 1) / below) for i in range(below)]
    return slopes if below == num_heads else slopes + alibi_slopes(2 * below)[::2][: num_heads - below]


def alibi_bias(distances: Int[Array, "query key"], num_heads: int) -> Float[Array, "head query key"]:
    """Returns the bias of each head's scores: `slope * -|distance|`, and `slope / 2` more for keys on the left.

    A distance is the position of the query minus the position of the key. In Press et al. attention only looks back.
    Here it looks both ways, and the half, which is in the released code, distinguishes left from right.
    """
    penalty = -jnp.abs(distances).astype(jnp.float32) + jnp.where(distances > 0, 0.5, 0.0)
    return jnp.array(alibi_slopes(num_heads), jnp.float32)[:, None, None] * penalty[None]


class RelativePositions(eqx.Module):
    """Scores that depend on content and on distance (Transformer-XL, Dai et al. 2019).

    `score(i, j) = (q_i + u) . k_j + (q_i + v) . W r(i - j)` with `r` the sinusoids of the distance and `u`, `v`, `W`
    learnt. Unlike in Dai et al., keys may be on the right, at negative distances. `offset` is added to every distance.
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
        """Returns the unscaled scores of queries at `first, first + 1, ...` out of `num_positions` positions."""
        num_queries, num_keys = len(queries), len(keys)
        # All distances that any query can have, even if there is only one query: the array depends on nothing that
        # differs between the examples of a batch, so it is computed once for all of them.
        table = self.table(num_positions, num_keys, queries.dtype)
        if num_queries != num_positions:
            begin = num_positions - num_queries - first
            table = jax.lax.dynamic_slice_in_dim(table, begin, num_queries + num_keys - 1)
        by_content = jnp.einsum("qhd,khd->hqk", queries + self.content_bias[None], keys)
        by_distance = jnp.einsum("qhd,rhd->hqr", queries + self.distance_bias[None], table)
        return by_content + jax.vmap(relative_shift)(by_distance)

    def table(self, num_positions: int, num_keys: int, dtype: DTypeLike) -> Float[Array, "distance head size"]:
        """Returns a row for each distance, from that of the last position and the first key down to that of the first
        position and the last key."""
        distances = jnp.arange(num_positions - 1, -num_keys, -1)
        places = sinusoids(distances + self.offset, self.key.weight.shape[0]).astype(dtype)
        return jax.vmap(self.key)(places).reshape(-1, *self.content_bias.shape)

    def by_name(self, num_positions: int, num_keys: int, dtype: DTypeLike) -> dict[str, Array]:
        """Returns what scores of queries at all positions depend on, beside queries and keys."""
        table = self.table(num_positions, num_keys, dtype)
        return {"table": table, "content_bias": self.content_bias, "distance_bias": self.distance_bias}

    def at_places(
        self,
        queries: Float[Array, "query head size"],
        keys: Float[Array, "key head size"],
        query_places: Int[Array, " query"],
        key_places: Int[Array, " key"],
    ) -> Float[Array, "head query key"]:
        """Returns the unscaled scores of queries and keys at any places.

        The sine and cosine of a difference are sums of products of sines and cosines, so that there is no table of all
        distances: `sin(a - b) = sin a cos b - cos a sin b`, `cos(a - b) = cos a cos b + sin a sin b`.
        """
        width = self.key.weight.shape[0]
        weight = self.key.weight.reshape(width, *queries.shape[1:]).astype(queries.dtype)
        turned = jnp.einsum("qhd,whd->qhw", queries + self.distance_bias[None], weight)
        of_sine, of_cosine = jnp.split(turned, 2, -1)
        sine, cosine = jnp.split(sinusoids(query_places + self.offset, width).astype(queries.dtype)[:, None], 2, -1)
        with_cosine = of_sine * sine + of_cosine * cosine
        with_sine = of_cosine * sine - of_sine * cosine
        waves = sinusoids(key_places, width).astype(queries.dtype)
        by_distance = jnp.einsum("qhw,kw->hqk", jnp.concatenate([with_sine, with_cosine], -1), waves)
        return jnp.einsum("qhd,khd->hqk", queries + self.content_bias[None], keys) + by_distance


def relative_shift(by_distance: Float[Array, "query distance"]) -> Float[Array, "query key"]:
    """Converts scores by distance to scores by key: entry `(i, j)` of the result is that for distance `i - j`.

    **Arguments:**

    - `by_distance`: column `c` holds distance `num_queries - 1 - c`, down to `1 - num_keys`.

    Row `i` must move left by `num_queries - 1 - i`. Reading the same numbers in rows that are one shorter moves each
    row one further than the row before (Dai et al. 2019, appendix B): no index arrays, no copies per row.

    >>> relative_shift(jnp.array([[1.0, 0.0, -1.0], [1.0, 0.0, -1.0]])).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    num_queries, num_distances = by_distance.shape
    num_keys = num_distances - num_queries + 1
    if num_queries == 1:
        return by_distance
    shorter = num_distances - 1
    moved = by_distance.reshape(-1)[num_queries - 1 : num_queries - 1 + num_queries * shorter]
    return moved.reshape(num_queries, shorter)[:, :num_keys]
