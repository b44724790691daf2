"""Checks that gradients taken out of the loop over time equal those of the plain loop.

A cell must use its linear layers in a certain way (see `AbstractCell`). A cell that does not would train with wrong
gradients on an accelerator, and no other check would detect it.
"""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from humboldt.errors import UsageError
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.taps import is_linear
from humboldt.models.loop.unroll import loop_form

QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}  # compiles fast; runs once
TOLERANCE = 1e-3  # relative to a layer's largest gradient: wrong gradients differ by far more, rounding by far less


def check_gradients(network: Any, tokens: Int[Array, "batch time"], mask: Bool[Array, "batch time"]) -> None:
    """Raises a `UsageError` that names the layers whose gradients are wrong when they are taken out of the loop."""
    weights, static = eqx.partition(network, eqx.is_inexact_array)

    def gradient(weights: Any, form: Literal["hoisted", "plain"]) -> Any:
        def loss(weights: Any) -> Array:
            network = eqx.combine(weights, static)
            with loop_form(form):
                logits = jax.vmap(lambda tokens, mask: network(tokens, mask))(tokens, mask)
            return jnp.where(mask[:, :, None], jnp.sin(3 * logits), 0.0).sum()

        return jax.grad(loss)(weights)

    both = jax.jit(lambda weights: (gradient(weights, "plain"), gradient(weights, "hoisted")))
    plain, hoisted = both.lower(weights).compile(compiler_options=QUICK)(weights)
    faults = jax.tree_util.tree_map_with_path(_fault, network, plain, hoisted, is_leaf=is_linear)
    messages = [message for message in jax.tree.leaves(faults) if message]
    if messages:
        raise UsageError(" ".join(messages))


def _fault(path: tuple[Any, ...], part: Any, plain: Any, hoisted: Any) -> str:
    """Returns a message about the wrong gradient of a layer or of another array; an empty string if it is right."""
    if all(_are_close(a, b) for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(hoisted), strict=True)):
        return ""
    name = jax.tree_util.keystr(path)
    if isinstance(part, Linear) and part.joins_drive:
        return (
            f"{name} has joins_drive=True, but its output is not just added to the drive of the same step, so that its "
            "gradient would be wrong. Leave joins_drive out, or use the output for nothing but `drive + layer(x)`."
        )
    return f"{name} gets a wrong gradient where the loop over time is compiled for an accelerator. See `AbstractCell`."


def _are_close(plain: Array, hoisted: Array) -> bool:
    largest = jnp.maximum(jnp.abs(plain).max(), jnp.abs(hoisted).max())
    return bool(jnp.abs(plain - hoisted).max() <= TOLERANCE * largest + 1e-6)
