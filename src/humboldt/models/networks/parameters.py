"""How large a network is."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp


def count_parameters(network: Any) -> dict[str, int]:
    """How many numbers training changes: in the `embedding`, in the `readout`, and in the `body` between them.

    A network that has no field of that name has nothing there. Shapes (`jax.eval_shape`) are counted like arrays.
    """

    def is_counted(leaf: Any) -> bool:
        is_shape = isinstance(leaf, jax.ShapeDtypeStruct) and jnp.issubdtype(leaf.dtype, jnp.inexact)
        return is_shape or eqx.is_inexact_array(leaf)

    def count(part: Any) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(part) if is_counted(leaf))

    ends = {name: count(getattr(network, name, None)) for name in ("embedding", "readout")}
    return {**ends, "body": count(network) - sum(ends.values())}
