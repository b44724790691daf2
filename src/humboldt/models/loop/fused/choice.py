"""Chooses between the kernels and the scan."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from humboldt.models.cells.base import AbstractCell
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.fused import kernels
from humboldt.models.loop.fused.parts import parts_of
from humboldt.models.loop.fused.self_test import fault_of
from humboldt.models.loop.unroll import is_form_set

LoopRoad = Literal["auto", "scan"]
ROUNDED = (
    None,
    "default",
    "tensorfloat32",
)  # precisions of products in which a GPU may round factors to ten binary digits
CAPABILITY = "9.0"  # of the device that the kernels are compiled for

# Part of the key by which JAX finds compiled programs. Without it (JAX before 0.7.1) there is the scan only.
_road: Any = jax.make_user_context("auto") if hasattr(jax, "make_user_context") else None
_needs_gradients: ContextVar[bool] = ContextVar("whether gradients of loops are needed", default=True)
_notes: ContextVar[dict[str, None] | None] = ContextVar("notes about loops", default=None)


def loop_road(road: LoopRoad) -> AbstractContextManager[Any]:
    """Sets how loops over time and attention run in all programs that are called inside the context: `scan`, as plain
    programs, or `auto`, which uses the kernels where they can run."""
    return nullcontext() if _road is None else _road(road)


def is_scan_asked_for() -> bool:
    """Returns whether programs that are traced now may use no kernels."""
    return _road is not None and _road.value == "scan"


def may_round() -> bool:
    """Returns whether factors of products may be rounded in programs that are traced now."""
    return jax.config.jax_default_matmul_precision in ROUNDED  # pyright: ignore[reportAttributeAccessIssue]


@contextmanager
def without_gradients() -> Iterator[None]:
    """Sets that no gradients are needed through loops that are traced inside the context."""
    token = _needs_gradients.set(False)
    try:
        yield
    finally:
        _needs_gradients.reset(token)


def needs_gradients() -> bool:
    """Returns whether gradients may be taken through loops that are traced now."""
    return _needs_gradients.get()


@contextmanager
def noted_loops() -> Iterator[dict[str, None]]:
    """Yields a collection which then receives a note about every loop that is traced inside the context: why it is a
    scan, or an empty string."""
    token = _notes.set(notes := {})
    try:
        yield notes
    finally:
        _notes.reset(token)


def why_scan(cell: AbstractCell, vectors: Array, steps: int, readout: Linear | None = None) -> str:
    """Returns why a loop is a scan; an empty string if the kernels run it, with a readout if one is given."""
    reason = device_fault() or _fault(cell, vectors, steps, readout)
    notes = _notes.get()
    if notes is not None:
        notes[reason] = None
    return reason


def within_kernel(cell: AbstractCell, readout: Linear, *, relu: bool) -> Linear | None:
    """Returns the readout of a cell, before which is a ReLU if `relu`, if the kernel for this cell applies it."""
    parts = parts_of(cell)
    return readout if parts is not None and parts.reads_out(readout, relu=relu) else None


def device_fault() -> str:
    """Returns why no kernel can run on this machine; an empty string if they can."""
    if jax.default_backend() != "gpu":
        return "there is no GPU"
    if _road is None:
        return f"JAX {jax.__version__} is too old"
    device = jax.devices()[0]
    capability = getattr(device, "compute_capability", "none")
    if capability != CAPABILITY:
        return f"the kernels are for CUDA devices of compute capability {CAPABILITY}, not {capability}"
    return ""


def _fault(cell: AbstractCell, vectors: Array, steps: int, readout: Linear | None) -> str:
    if is_scan_asked_for():
        return "it was asked for"
    if is_form_set():
        return "the form of the loop is set"
    parts = parts_of(cell)
    if parts is None:
        return f"there is no kernel for this cell ({type(cell).__name__})"
    weights = parts.weights()
    if any(array.dtype != jnp.float32 for array in (vectors, parts.controller.input.weight, *weights.values())):
        return "the kernels compute in single precision"
    if not may_round():
        return "the kernels round factors of products"
    sizes = parts.sizes(steps, len(vectors), readout)
    return kernels.fits(parts.kind, sizes) or fault_of(cell, parts, sizes, readout)
