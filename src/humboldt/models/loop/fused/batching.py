"""Calls the kernels, which run all examples of all members, from a network that is written for one example.

Training is `vmap` over members of the gradient of `vmap` over examples. Each call here has an axis of members and an
axis of examples, both of length 1 in a network. A `vmap` makes one of them longer: that of members if weights differ
along the new axis, otherwise that of examples. So any number of them, in any order, lead to one call of the kernel.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, PyTree

from humboldt.models.loop.fused import kernels, tape
from humboldt.models.loop.fused.parts import Kernel

MEMBERS, EXAMPLES = 0, 1  # the first two axes of every array but weights, which have members only


@cache
def forward(kernel: Kernel, *, keeps: bool) -> Callable[..., Any]:
    """Returns `(weights, table, symbols) -> (outputs, notes, residuals)`, all with axes of members and examples; that
    of members has length 1 for symbols that they share. `keeps`: whether gradients are wanted, which need residuals.
    Behind the symbols of a string are the numbers of `start_of`, where there is a tape.
    """

    @custom_vmap
    def call(weights: PyTree, table: Array, symbols: Array) -> Any:
        symbols = symbols[0] if len(symbols) == 1 else symbols
        if kernel.tape is not None:
            return tape.forward(kernel.tape, weights, table, symbols, keeps=keeps)
        return kernels.forward(kernel.kind, weights, table, symbols, activation=kernel.activation, keeps=keeps)

    @call.def_vmap
    def rule(size: int, batched: list[Any], weights: PyTree, table: Array, symbols: Array) -> Any:
        is_batched = any(jax.tree.leaves(batched[:2]))
        if not is_batched:
            results = call(weights, table, _joined(symbols, EXAMPLES))
            return _all(jax.tree.map(lambda x: _parted(x, EXAMPLES, size), results))
        weights, table = _tiled((weights, table), batched[:2], size)
        if batched[2] or len(symbols) > 1:
            symbols = symbols if batched[2] else jnp.broadcast_to(symbols, (size, *symbols.shape))
            members = table.shape[1]
            symbols = jnp.broadcast_to(symbols, (size, members, *symbols.shape[2:]))
            symbols = _joined(symbols, MEMBERS)
        weights, table = jax.tree.map(lambda x: _joined(x, MEMBERS), (weights, table))
        return _all(jax.tree.map(lambda x: _parted(x, MEMBERS, size), call(weights, table, symbols)))

    return call


@cache
def backward(kernel: Kernel) -> Callable[..., Any]:
    """Returns `(weights, residuals, outputs, d_outputs) -> (d_drive, d_taps, scale)`, likewise."""

    @custom_vmap
    def call(weights: PyTree, residuals: PyTree, outputs: Array, d_outputs: Array) -> Any:
        if kernel.tape is not None:
            return tape.backward(kernel.tape, weights, residuals, d_outputs)
        return kernels.backward(kernel.kind, weights, residuals, outputs, d_outputs, activation=kernel.activation)

    @call.def_vmap
    def rule(size: int, batched: list[Any], weights: PyTree, *others: PyTree) -> Any:
        is_batched = any(jax.tree.leaves(batched[0]))
        axis = MEMBERS if is_batched else EXAMPLES
        others = _tiled(others, batched[1:], size)
        others = jax.tree.map(lambda x: _joined(x, axis), others)
        if is_batched:
            weights = jax.tree.map(lambda x: _joined(x, MEMBERS), _tiled(weights, batched[0], size))
        return _all(jax.tree.map(lambda x: _parted(x, axis, size), call(weights, *others)))

    return call


def _tiled(arrays: PyTree, batched: PyTree, size: int) -> PyTree:
    """Returns the arrays, all with the new axis."""
    leaves, structure = jax.tree.flatten(arrays)
    has = jax.tree.leaves(batched)
    return structure.unflatten(
        [x if b else jnp.broadcast_to(x, (size, *x.shape)) for x, b in zip(leaves, has, strict=True)]
    )


def _joined(x: Array, axis: int) -> Array:
    """Joins the new axis, which is the first one, and `axis`."""
    x = jnp.moveaxis(x, 0, axis)
    return x.reshape(*x.shape[:axis], -1, *x.shape[axis + 2 :])


def _parted(x: Array, axis: int, size: int) -> Array:
    """Reverses `_joined`."""
    return jnp.moveaxis(x.reshape(*x.shape[:axis], size, -1, *x.shape[axis + 1 :]), axis, 0)


def _all(results: PyTree) -> tuple[PyTree, PyTree]:
    """Returns results of a batching rule, all of which have the new axis, and flags that say so."""
    return results, jax.tree.map(lambda _: True, results)
