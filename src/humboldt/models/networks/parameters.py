"""Counts the parameters of a network, and the numbers of its state."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from humboldt.models.networks.base import AbstractStepwise


def count_parameters(network: Any) -> dict[str, int]:
    """Counts the trainable numbers in the `embedding`, in the `readout`, and in the `body` between them.

    The count is 0 if the network has no field of that name. Shapes (`jax.eval_shape`) are counted like arrays.
    """

    def is_counted(leaf: Any) -> bool:
        is_shape = isinstance(leaf, jax.ShapeDtypeStruct) and jnp.issubdtype(leaf.dtype, jnp.inexact)
        return is_shape or eqx.is_inexact_array(leaf)

    def count(part: Any) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(part) if is_counted(leaf))

    ends = {name: count(getattr(network, name, None)) for name in ("embedding", "readout")}
    return {**ends, "body": count(network) - sum(ends.values())}


def state_floats(network: Any, length: int = 40) -> int | None:
    """Returns how many numbers a network remembers of a string, from the state in which it would read `length` tokens.

    For attention and memories the number grows with the length. It is `None` for a network without `start`. A complex
    number counts as two; counters and places do not count.
    """
    if not isinstance(network, AbstractStepwise):
        return None
    state = eqx.filter_eval_shape(lambda network: network.start(jnp.zeros(length, jnp.int32)), network)
    leaves = [leaf for leaf in jax.tree.leaves(state) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
    return sum(leaf.size * (2 if jnp.issubdtype(leaf.dtype, jnp.complexfloating) else 1) for leaf in leaves)
