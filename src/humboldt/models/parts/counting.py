"""How large a network is."""

from typing import Any

import equinox as eqx
import jax


def count_parameters(model: Any) -> dict[str, int]:
    """How many numbers training changes: in the `embedding`, in the `readout`, and in the `body` between them."""

    def count(part: Any) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(part, eqx.is_inexact_array)))

    ends = {"embedding": count(model.embedding), "readout": count(model.readout)}
    return {**ends, "body": count(model) - sum(ends.values())}
