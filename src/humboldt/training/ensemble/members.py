"""Applies a function to all members of an ensemble."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, PyTree


def over_members(function: Callable[..., Any], in_axes: tuple[int | None, ...]) -> Callable[..., Any]:
    """Returns `function` applied to all members at once; an argument whose axis is `None` is shared.

    On an accelerator the members are one more axis of every array (`vmap`): thirty small matrix products in the time
    of one. A CPU has no idle units to fill, and its batched matrix product is several times slower than a plain one,
    so there the members run one after the other inside the same program. With several local devices each takes its
    share of the members; their number must then be a multiple of the number of devices (see `pad_members`).
    """
    local = jax.vmap(function, in_axes) if jax.default_backend() != "cpu" else _in_turn(function, in_axes)
    devices = jax.local_devices()
    if len(devices) == 1:
        return local
    specs = tuple(PartitionSpec() if axis is None else PartitionSpec("member") for axis in in_axes)
    mesh = Mesh(np.array(devices), ("member",))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=PartitionSpec("member"), check_vma=False)


def _in_turn(function: Callable[..., Any], in_axes: tuple[int | None, ...]) -> Callable[..., Any]:
    def mapped(*arguments: PyTree) -> PyTree:
        own = [a for a, axis in zip(arguments, in_axes, strict=True) if axis is not None]
        shared = [a for a, axis in zip(arguments, in_axes, strict=True) if axis is None]

        def one(own: list[PyTree]) -> PyTree:
            own_left, shared_left = iter(own), iter(shared)
            return function(*(next(shared_left) if axis is None else next(own_left) for axis in in_axes))

        if jax.tree.leaves(own)[0].shape[0] == 1:  # no loop is needed
            return jax.tree.map(lambda x: x[None], one(jax.tree.map(lambda x: x[0], own)))
        return jax.lax.map(one, own)

    return mapped


def pad_members(count: int) -> int:
    """Returns the number of members to run so that all local devices get equally many; the surplus is discarded."""
    devices = len(jax.local_devices())
    return -(-count // devices) * devices


def stack_weights(build: Callable[[Array], PyTree], seeds: Sequence[int]) -> PyTree:
    """Returns the weights of one freshly initialised model per seed, with a leading axis of members.

    Each is built separately, so a member's weights do not depend on the other members.
    """
    weights = [eqx.filter(build(jax.random.key(seed)), eqx.is_inexact_array) for seed in seeds]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *weights)


def outline(build: Callable[[Array], PyTree]) -> tuple[PyTree, int]:
    """Returns a model without its weights, and their number. Computes nothing, unless the model has other arrays."""

    def is_weight(leaf: Any) -> bool:
        return isinstance(leaf, jax.ShapeDtypeStruct | Array) and jnp.issubdtype(leaf.dtype, jnp.inexact)

    def parted(model: PyTree) -> tuple[PyTree, int]:
        count = sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, is_weight)))
        return eqx.filter(model, is_weight, inverse=True), count

    try:
        static, count = parted(eqx.filter_eval_shape(build, jax.random.key(0)))
        if not any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(static)):
            return static, count
    except jax.errors.JAXTypeError:  # a model that computes with its key in Python
        pass
    return parted(build(jax.random.key(0)))
