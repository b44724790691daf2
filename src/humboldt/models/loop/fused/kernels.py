"""Placeholder until the kernels are here: nothing fits."""

from typing import Any


def fits(kind: str, sizes: Any) -> str | None:
    """Returns why the kernels cannot run a loop; `None` if they can."""
    del sizes
    return f"there is no kernel for {kind}"


def forward(kind: str, weights: Any, table: Any, symbols: Any, *, keeps: bool) -> Any:
    """Runs the loop."""
    raise NotImplementedError


def backward(kind: str, weights: Any, residuals: Any, outputs: Any, d_outputs: Any) -> Any:
    """Runs the loop backwards."""
    raise NotImplementedError
