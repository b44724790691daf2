"""Compares the kernels with the scan once in every process, before they are used."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.fused.kernels import GATED, gated_table
from humboldt.models.loop.fused.parts import Parts, Sizes
from humboldt.models.loop.fused.run import run_fused
from humboldt.models.loop.unroll import unroll_symbols

MEMBERS, EXAMPLES, STEPS = 2, 3, 6
TOLERANCE = 2e-2  # relative to the largest number of an array; an error in a kernel is larger, rounding is smaller

_faults: dict[Any, str] = {}  # by kind and sizes; empty strings where kernel and scan agree


def fault_of(cell: AbstractCell, parts: Parts, sizes: Sizes, readout: Linear | None = None) -> str:
    """Returns why the kernels for a cell, with a readout if one is given, cannot be trusted in this process; an empty
    string if they can.

    At first use, one small loop is run both ways. If the results differ, or the kernels fail, a warning says so.
    """
    table = gated_table(sizes.symbols) if parts.kind in GATED else None
    key = parts.kind, sizes.hidden, sizes.activation, sizes.cell_size, table, readout is not None
    if key not in _faults:
        shapes = jax.tree.map(lambda x: np.empty(x.shape, x.dtype) if eqx.is_array(x) else x, (cell, readout))
        # The caller is being traced; a thread of its own is not, and has JAX's default settings.
        with ThreadPoolExecutor(1) as pool:
            _faults[key] = pool.submit(_fault, shapes, parts.controller.input.weight.shape[0], sizes.symbols).result()
        if _faults[key]:
            warnings.warn(
                f"The loop over time of {type(cell).__name__} runs step by step, not as one kernel: {_faults[key]}.",
                stacklevel=2,
            )
    return _faults[key]


def _fault(shapes: Any, input_size: int, num_symbols: int) -> str:
    try:
        differing = _differing(shapes, input_size, num_symbols)
    except Exception as error:  # whatever the driver or XLA raises
        text = str(error).strip()
        return f"the kernel failed ({type(error).__name__}: {text.splitlines()[0] if text else 'no message'})"
    return f"the kernel's {differing} differ from those of the scan" if differing else ""


def _differing(shapes: Any, input_size: int, num_symbols: int) -> str:
    """Runs a cell and its readout, if any, with random weights both ways; returns the names of results that differ."""
    rng = np.random.default_rng(0)

    def drawn(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        return jnp.asarray(rng.standard_normal((MEMBERS, *x.shape)) / x.shape[0] ** 0.5, x.dtype)

    networks, static = eqx.partition(jax.tree.map(drawn, shapes), eqx.is_array)
    vectors = jnp.asarray(rng.standard_normal((num_symbols, input_size)), jnp.float32)
    symbols = jnp.asarray(rng.integers(0, num_symbols, (EXAMPLES, STEPS)), jnp.int32)
    extent = Extent.of(jnp.ones(STEPS, bool))

    def by_scan(network: Any, symbols: Array) -> Array:
        cell, readout = network
        outputs = unroll_symbols(cell, cell.init_state(extent), vectors, symbols, hoist=True)[1]
        return outputs if readout is None else jax.vmap(readout)(outputs)

    def by_kernel(network: Any, symbols: Array) -> Array:
        cell, readout = network
        return run_fused(cell, extent, vectors, symbols, readout)

    def evaluated(network: Any, symbols: Array) -> Array:
        cell, readout = network
        return run_fused(cell, extent, vectors, symbols, readout, keeps=False)

    def outputs(loop: Any, networks: Any) -> Array:
        return jax.vmap(lambda one: jax.vmap(lambda s: loop(eqx.combine(one, static), s))(symbols))(networks)

    def learned(loop: Any, networks: Any) -> Any:
        def loss(networks: Any) -> tuple[Array, Array]:
            values = outputs(loop, networks)
            return jnp.sin(3 * values).sum(), values

        gradient, values = jax.grad(loss, has_aux=True)(networks)
        return {"outputs": values, "gradients": gradient}

    @jax.jit
    @jax.default_matmul_precision("highest")
    def both(networks: Any) -> Any:
        return learned(by_scan, networks), learned(by_kernel, networks), outputs(evaluated, networks)

    expected, actual, without = jax.device_get(both(networks))
    wrong = [name for name in expected if not agree(expected[name], actual[name])]
    if not agree(expected["outputs"], without):
        wrong.append("outputs without gradients")
    return " and ".join(wrong)


def agree(expected: Any, actual: Any) -> bool:
    """Whether all arrays agree, up to rounding."""
    pairs = zip(jax.tree.leaves(expected), jax.tree.leaves(actual), strict=True)
    return all(bool(np.abs(a - b).max() <= TOLERANCE * np.abs(a).max() + 1e-6) for a, b in pairs)
