"""Attention by the kernels, with its gradients: from a network of one example to one launch for all of them.

As in `humboldt.models.loop.fused.batching`, each call has axes of members and examples, and a `vmap` makes one of them
longer: that of members if weights of positions, or everything but the mask, differ along the new axis.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Bool, Float, PyTree

from humboldt.models.layers.fused import kernels
from humboldt.models.layers.fused.kernels import Form

MEMBERS, EXAMPLES = 0, 1


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def attended(
    form: Form,
    queries: Float[Array, "query head size"],
    keys: Float[Array, "key head size"],
    values: Float[Array, "key head size"],
    mask: Bool[Array, "query key"],
    weights: dict[str, Array],
) -> Float[Array, "query head size"]:
    """Returns the sum of values that every head of every query reads; see `kernels.forward`."""
    return _attended(form, queries, keys, values, mask, weights)[0]


def _attended(form: Form, *arguments: Any) -> tuple[Array, PyTree]:
    *arrays, weights = arguments
    inputs = *(x[None, None] for x in arrays), jax.tree.map(lambda x: x[None], weights)
    results = _forward(form)(*inputs)
    return results[0][0, 0], (inputs, results)


def _pulled(form: Form, kept: PyTree, d_outputs: Array) -> PyTree:
    inputs, results = kept
    gradients = _backward(form)(*inputs, *results, d_outputs[None, None])
    d_queries, d_keys, d_values, d_weights = jax.tree.map(lambda x: x[0, 0], tuple(gradients))
    return d_queries, d_keys, d_values, None, d_weights


attended.defvjp(_attended, _pulled)


@cache
def _forward(form: Form) -> Callable[..., Any]:
    return _for_all(lambda *arguments: kernels.forward(form, *arguments))


@cache
def _backward(form: Form) -> Callable[..., Any]:
    return _for_all(lambda *arguments: kernels.backward(form, *arguments))


def _for_all(run: Callable[..., Any]) -> Callable[..., Any]:
    """Makes one call of all calls under `vmap`. The arguments are queries, keys, values, mask, weights, and others."""
    call = custom_vmap(run)

    @call.def_vmap
    def rule(size: int, batched: list[Any], *arguments: PyTree) -> Any:
        *_, has_mask, has_weights = batched[:5]
        *arrays, mask, weights = arguments[:5]
        of_members = any(jax.tree.leaves(has_weights)) if weights else not has_mask
        axis = MEMBERS if of_members else EXAMPLES
        length = arrays[0].shape[axis + 1 if batched[0] else axis]
        joined = [_joined(x, b, axis, size) for x, b in zip(arrays, batched, strict=False)]
        if has_mask or mask.shape[axis] > 1:
            mask = mask if has_mask else jnp.broadcast_to(mask, (size, *mask.shape))
            shape = list(mask.shape)
            shape[axis + 1] = length
            mask = _joined(jnp.broadcast_to(mask, shape), True, axis, size)
        if of_members:
            weights = {name: _joined(x, has_weights[name], MEMBERS, size) for name, x in weights.items()}
        others = [_joined(x, b, axis, size) for x, b in zip(arguments[5:], batched[5:], strict=True)]
        results = jax.tree.map(lambda x: _parted(x, axis, size), call(*joined, mask, weights, *others))
        return results, jax.tree.map(lambda _: True, results)

    return call


def _joined(x: Array, is_batched: bool, axis: int, size: int) -> Array:
    """Joins the new axis, which is the first one if there is one, and `axis`."""
    x = jnp.moveaxis(x if is_batched else jnp.broadcast_to(x, (size, *x.shape)), 0, axis)
    return x.reshape(*x.shape[:axis], -1, *x.shape[axis + 2 :])


def _parted(x: Array, axis: int, size: int) -> Array:
    """Reverses `_joined`."""
    return jnp.moveaxis(x.reshape(*x.shape[:axis], size, -1, *x.shape[axis + 1 :]), axis, 0)
