"""Placeholder until the kernels are here: nothing fits."""

from typing import Any


def fits(kind: str, sizes: Any) -> str | None:
    """Returns why the kernels cannot run a loop; `None` if they can."""
    del sizes
    return f"there is no kernel for {kind}"


def forward(kind: str, weights: Any, table: Any, symbols: Any, *, activation: str = "relu", keeps: bool = True) -> Any:
    """Runs the loop."""
    raise NotImplementedError


def backward(kind: str, weights: Any, residuals: Any, outputs: Any, d_outputs: Any, *, activation: str = "relu") -> Any:
    """Runs the loop backwards."""
    raise NotImplementedError
