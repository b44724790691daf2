"""Counts the multiply-adds of a network's matrix products, from the traced program of a forward pass."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp


def multiply_adds(network: Any, length: int) -> int | None:
    """Returns the multiply-adds of all matrix products and convolutions while a network reads `length` tokens.

    The body of a loop counts as often as it runs; of several branches, the most expensive one counts. Products of
    single numbers, such as gates, are not counted. Returns `None` if a loop that contains products ends by a condition,
    so that it is not known how often it runs. Shapes (`jax.eval_shape`) suffice in place of arrays.
    """
    tokens = jax.ShapeDtypeStruct((length,), jnp.int32)
    mask = jax.ShapeDtypeStruct((length,), jnp.bool_)
    traced, _, _ = eqx.filter_make_jaxpr(lambda network, tokens, mask: network(tokens, mask))(network, tokens, mask)
    return _of_program(traced.jaxpr)


def _of_program(program: Any) -> int | None:
    total = 0
    for equation in program.eqns:
        count = _of_equation(equation.primitive.name, equation)
        if count is None:
            return None
        total += count
    return total


def _of_equation(name: str, equation: Any) -> int | None:
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        left = equation.invars[0].aval.shape
        return math.prod(equation.outvars[0].aval.shape) * math.prod(left[axis] for axis in contracted)
    if name == "conv_general_dilated":
        kernel = equation.invars[1].aval.shape
        out_channels = kernel[equation.params["dimension_numbers"].rhs_spec[0]]
        return math.prod(equation.outvars[0].aval.shape) * math.prod(kernel) // out_channels
    counts = [_of_program(inner) for inner in _inner_programs(equation.params)]
    if None in counts:
        return None
    known = [count for count in counts if count is not None]
    if name == "cond":
        return max(known, default=0)
    if name == "while" and any(known):
        return None
    return sum(known) * (equation.params["length"] if name == "scan" else 1)


def _inner_programs(parameters: Mapping[str, Any]) -> Iterator[Any]:
    """Yields the programs among the parameters of an equation: bodies of loops, branches, called functions."""
    for value in parameters.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            program = getattr(part, "jaxpr", part)
            if hasattr(program, "eqns"):
                yield program
