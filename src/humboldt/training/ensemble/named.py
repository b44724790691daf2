"""Converts pytrees to named arrays and back, for checkpoints and saved weights."""

from collections.abc import Mapping
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

T = TypeVar("T")


def to_named(tree: PyTree) -> dict[str, np.ndarray]:
    """Returns the leaves by their paths, such as `.cell.recurrent.weight`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def from_named(arrays: Mapping[str, np.ndarray], like: T) -> T:
    """Restores the tree; `like` gives its structure. Raises a `ValueError` if names, shapes or types do not fit."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    names = [jax.tree_util.keystr(path) for path, _ in leaves]
    if set(names) != set(arrays):
        odd = sorted(set(names) ^ set(arrays))[0]
        raise ValueError(f"it does not hold what this model has: {odd} is in one of them only")
    restored = []
    for name, (_, leaf) in zip(names, leaves, strict=True):
        array = arrays[name]
        if array.shape != leaf.shape or array.dtype != leaf.dtype:
            raise ValueError(
                f"{name} has shape {array.shape} and type {array.dtype}, but this model needs {leaf.shape} and "
                f"{leaf.dtype}"
            )
        restored.append(jnp.asarray(array) if isinstance(leaf, jax.Array) else array)
    return jax.tree_util.tree_unflatten(structure, restored)
