"""Learnt biases of attention scores that depend on distances: T5's, Kerple and FIRE.

Each is called with the places of queries and of keys, and returns what is added to the scaled scores. In causal
attention a distance (the query's place minus the key's) is never negative.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from humboldt.models.layers.linear import Linear

Bias = Float[Array, "head query key"]
QueryPlaces = Int[Array, " query"]
KeyPlaces = Int[Array, " key"]


def t5_buckets(
    distances: Int[Array, "query key"], *, num_buckets: int = 32, max_distance: int = 128, both_sides: bool = False
) -> Int[Array, "query key"]:
    """Returns the bucket of each distance (Raffel et al. 2020).

    Half of the buckets hold one distance each; in the other half the buckets grow logarithmically up to `max_distance`,
    and the last bucket holds all larger distances. With `both_sides` the first half of the buckets is for keys on the
    left and the second for keys on the right; otherwise a key on the right is in the bucket of distance 0.

    >>> t5_buckets(jnp.array([[0, 1, 15, 16, 20, 127, 1000, -3]])).tolist()
    [[0, 1, 15, 16, 17, 31, 31, 0]]
    """
    if both_sides:
        num_buckets //= 2
        side = jnp.where(distances < 0, num_buckets, 0)
        distances = jnp.abs(distances)
    else:
        side = jnp.zeros_like(distances)
        distances = jnp.maximum(distances, 0)
    exact = num_buckets // 2
    ratio = jnp.log(jnp.maximum(distances, 1).astype(jnp.float32) / exact) / math.log(max_distance / exact)
    coarse = exact + (ratio * (num_buckets - exact)).astype(jnp.int32)
    return side + jnp.where(distances < exact, distances, jnp.minimum(coarse, num_buckets - 1))


class T5Bias(eqx.Module):
    """A learnt number for each head and each bucket of distances (Raffel et al. 2020).

    Every layer has a table of its own; T5 uses the table of its first layer in all of them.
    """

    weight: Float[Array, "bucket head"]
    both_sides: bool = eqx.field(static=True)

    def __init__(self, width: int, num_heads: int, *, both_sides: bool = False, key: PRNGKeyArray) -> None:
        self.weight = width**-0.5 * jax.random.normal(key, (32, num_heads))
        self.both_sides = both_sides

    def __call__(self, queries: QueryPlaces, keys: KeyPlaces) -> Bias:
        buckets = t5_buckets(queries[:, None] - keys[None, :], both_sides=self.both_sides)
        return jnp.moveaxis(self.weight[buckets], -1, 0)


class Kerple(eqx.Module):
    """`-p log(1 + a |distance|)` with learnt `p` and `a` of each head (Chi et al. 2022, the logarithmic kernel).

    Both are at least 0.01, as in the released code, and are drawn from [0.02, 2) and [0.02, 1); there from 0 on.
    """

    scale: Float[Array, " head"]
    rate: Float[Array, " head"]

    def __init__(self, num_heads: int, *, key: PRNGKeyArray) -> None:
        k_scale, k_rate = jax.random.split(key)
        # Above the bound: below it the gradient would be 0 from the first step on.
        self.scale = jax.random.uniform(k_scale, (num_heads,), minval=0.02, maxval=2.0)
        self.rate = jax.random.uniform(k_rate, (num_heads,), minval=0.02, maxval=1.0)

    def __call__(self, queries: QueryPlaces, keys: KeyPlaces) -> Bias:
        distances = jnp.abs(queries[:, None] - keys[None, :]).astype(jnp.float32)
        scale, rate = (jnp.maximum(value, 0.01)[:, None, None] for value in (self.scale, self.rate))
        return -scale * jnp.log1p(rate * distances[None])


class Fire(eqx.Module):
    """`f(psi(distance) / psi(max(L, i)))` with `psi(x) = log(|c x| + 1)` (FIRE, Li et al. 2024).

    `i` is the query's place, `f` a network with one hidden layer of 32 units, and `c` and `L` are learnt: `L` is 256
    times a learnt factor, as in the released code, which halves 512. Where attention looks both ways, a distance is
    without its sign (the paper only has causal attention).
    """

    rate: Float[Array, ""]
    threshold_factor: Float[Array, ""]
    inner: Linear
    outer: Linear
    threshold: float = eqx.field(static=True)

    def __init__(self, num_heads: int, *, threshold: float = 256.0, key: PRNGKeyArray) -> None:
        k_inner, k_outer = jax.random.split(key)
        self.rate, self.threshold_factor = jnp.array(0.1), jnp.array(1.0)
        self.inner = Linear(1, 32, key=k_inner)
        self.outer = Linear(32, num_heads, key=k_outer)
        self.threshold = threshold

    def __call__(self, queries: QueryPlaces, keys: KeyPlaces) -> Bias:
        distances = jnp.abs(queries[:, None] - keys[None, :]).astype(jnp.float32)
        largest = jnp.maximum(queries.astype(jnp.float32), jnp.abs(self.threshold_factor * self.threshold))
        shares = self._squeezed(distances) / (self._squeezed(largest)[:, None] + 1e-6)
        bias = jax.vmap(jax.vmap(lambda share: self.outer(jax.nn.relu(self.inner(share[None])))))(shares)
        return jnp.moveaxis(bias, -1, 0)

    def _squeezed(self, x: Array) -> Array:
        return jnp.log1p(jnp.abs(self.rate * x))
