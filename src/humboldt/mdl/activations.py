"""Activation functions of units, defined once for plain Python and for compiled code.

`apply_activation` is compiled when compiled code calls it; `apply_activation.py_func` is the same code in plain
Python. Both call the same `math` functions, so both return the same bits, which a test checks.
"""

import math
from types import MappingProxyType

import numpy as np

from humboldt.errors import UsageError, unknown_name
from humboldt.mdl.jit import inner

# Position in this tuple is the number that genomes and compiled code use.
ACTIVATIONS = ("linear", "relu", "tanh", "sigmoid", "square", "floor", "step", "modulo_2", "modulo_3")

# The cost of each activation, from Lan et al. (2022): the number of ones before the closing 0 in a unit's code.
ACTIVATION_COST = MappingProxyType(
    {
        "linear": 0,
        "relu": 2,
        "square": 2,
        "sigmoid": 4,
        "floor": 4,
        "tanh": 8,
        "modulo_2": 8,
        "modulo_3": 8,
        "step": 8,
    }
)

# Lan et al. (2023), section 5.1: standard activations only.
PAPER_ACTIVATIONS = ("linear", "relu", "tanh")
# Lan et al. (2022), the set of the released searches for counting languages.
WIDE_ACTIVATIONS = ("sigmoid", "linear", "relu", "square", "step", "floor")
# The same plus the two that the released Dyck-2 search had.
EXTENDED_ACTIVATIONS = (*WIDE_ACTIVATIONS, "modulo_2", "modulo_3")


def activation_ids(names: tuple[str, ...]) -> np.ndarray:
    """Returns the numbers of the named activations, in the given order. Names must be known and must not repeat."""
    if not names:
        raise UsageError("No activation is allowed. A network needs at least one, for example `linear`.")
    for name in names:
        if name not in ACTIVATIONS:
            raise unknown_name("activation", name, ACTIVATIONS)
    if len(set(names)) != len(names):
        raise UsageError(f"Activations {', '.join(names)} repeat a name. List each one once.")
    return np.array([ACTIVATIONS.index(name) for name in names], dtype=np.int64)


@inner
def apply_activation(activation: int, x: float) -> float:
    """Returns the value of activation number `activation` at `x`."""
    if activation == 0:
        return x
    if activation == 1:
        return x if x > 0.0 else 0.0
    if activation == 2:
        return math.tanh(x)
    if activation == 3:
        # Two forms, so that `exp` never overflows: plain Python would raise where compiled code returns infinity.
        if x >= 0.0:
            return 1.0 / (1.0 + math.exp(-x))
        e = math.exp(x)
        return e / (1.0 + e)
    if activation == 4:
        return x * x
    if activation == 5:
        return float(np.floor(x))
    if activation == 6:
        return 1.0 if x > 0.0 else 0.0
    if activation == 7:
        return x % 2.0
    return x % 3.0
