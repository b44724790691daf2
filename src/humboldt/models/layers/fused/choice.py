"""Chooses between the kernels of attention and plain products."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from humboldt.models.layers.fused import kernels
from humboldt.models.layers.fused.kernels import Form, Sizes
from humboldt.models.layers.fused.self_test import fault_of
from humboldt.models.loop.fused import choice as loops
from humboldt.models.zoo.shared.attention import AllPositions

OUTSIDE = ("none", "sin_cos", "random_sin_cos", "rope", "random_rope")  # positions that act before attention

_notes: ContextVar[dict[str, None] | None] = ContextVar("notes about attention", default=None)


@contextmanager
def noted_attention() -> Iterator[dict[str, None]]:
    """Yields a collection which then receives a note about every attention that is traced inside the context: why it is
    plain products, or an empty string."""
    token = _notes.set(notes := {})
    try:
        yield notes
    finally:
        _notes.reset(token)


def form_of(positions: AllPositions) -> Form | None:
    """Returns the form of the kernels for these positions; `None` if there is none."""
    if positions in OUTSIDE:
        return Form()
    return {"relative": Form(relative=True), "alibi": Form(alibi=True)}.get(positions)


def why_plain(
    positions: AllPositions,
    queries: Float[Array, "query head size"],
    keys: Float[Array, "key head size"],
    *,
    all_at_once: bool,
    drops: bool,
) -> str:
    """Returns why an attention is plain products; an empty string if the kernels run it.

    **Arguments:**

    - `all_at_once`: whether queries begin at position 0, and no others follow.
    - `drops`: whether attention weights are dropped.
    """
    reason = loops.device_fault() or _fault(positions, queries, keys, all_at_once, drops)
    notes = _notes.get()
    if notes is not None:
        notes[reason] = None
    return reason


def _fault(positions: AllPositions, queries: Array, keys: Array, all_at_once: bool, drops: bool) -> str:
    form = form_of(positions)
    if loops.is_scan_asked_for():
        return "it was asked for"
    if form is None:
        return f"there is no kernel for positions={positions}"
    if not all_at_once:
        return "tokens come one by one"
    if drops:
        return "attention weights are dropped"
    if any(x.dtype != jnp.float32 for x in (queries, keys)):
        return "the kernels compute in single precision"
    if not loops.may_round():
        return "the kernels round factors of products"
    sizes = Sizes(queries.shape[2], len(queries), len(keys))
    return kernels.fits(form, sizes, gradients=loops.needs_gradients()) or fault_of(form, sizes.size)
