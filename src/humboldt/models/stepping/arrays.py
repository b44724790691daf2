"""Weights as NumPy arrays, and operations that all steppers share."""

from typing import Any

import numpy as np

from humboldt.models.layers.linear import Linear


def as_array(x: Any) -> np.ndarray:
    """Returns a contiguous array in single precision."""
    return np.ascontiguousarray(np.asarray(x), np.float32)


def bias_of(layer: Linear) -> np.ndarray:
    """Returns the bias of a layer; zeros if it has none."""
    return np.zeros(layer.weight.shape[1], np.float32) if layer.bias is None else as_array(layer.bias)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Returns the softmax of each row. Overwrites its argument."""
    np.exp(scores - scores.max(1, keepdims=True), out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores
