"""Compares the kernels of attention with plain products once in every process, before they are used."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from humboldt.models.layers.fused.kernels import Form
from humboldt.models.layers.fused.run import attended
from humboldt.models.layers.positions import RelativePositions, alibi_bias
from humboldt.models.layers.softmax import softmax_of_visible
from humboldt.models.loop.fused.self_test import agree

MEMBERS, EXAMPLES, HEADS, QUERIES, KEYS = 2, 3, 2, 21, 37

_faults: dict[Any, str] = {}  # by form and size of a head; empty strings where kernels and products agree


def fault_of(form: Form, size: int) -> str:
    """Returns why the kernels for heads of a size cannot be trusted in this process; an empty string if they can.

    At first use, one small attention is computed both ways. If the results differ, or the kernels fail, a warning says
    so.
    """
    key = form, size
    if key not in _faults:
        # The caller is being traced; a thread of its own is not, and has JAX's default settings.
        with ThreadPoolExecutor(1) as pool:
            _faults[key] = pool.submit(_fault, form, size).result()
        if _faults[key]:
            warnings.warn(f"Attention runs as plain products, not as one kernel: {_faults[key]}.", stacklevel=2)
    return _faults[key]


def _fault(form: Form, size: int) -> str:
    try:
        differing = _differing(form, size)
    except Exception as error:  # whatever the driver or XLA raises
        text = str(error).strip()
        return f"the kernel failed ({type(error).__name__}: {text.splitlines()[0] if text else 'no message'})"
    return f"the kernel's {differing} differ from those of products" if differing else ""


def by_products(
    form: Form, queries: Array, keys: Array, values: Array, mask: Array, relative: RelativePositions | None
) -> Array:
    """Returns what `by_kernel` returns."""
    num_queries, heads, size = queries.shape
    if relative is None:
        scores = jnp.einsum("qhd,khd->hqk", queries, keys)
    else:
        scores = relative(queries, keys, first=0, num_positions=num_queries)
    scores = scores * size**-0.5
    if form.alibi:
        scores = scores + alibi_bias(jnp.arange(num_queries)[:, None] - jnp.arange(len(keys))[None, :], heads)
    return jnp.einsum("hqk,khd->qhd", softmax_of_visible(scores, mask), values)


def by_kernel(
    form: Form, queries: Array, keys: Array, values: Array, mask: Array, relative: RelativePositions | None
) -> Array:
    """Returns the sum of values that each head of each query of one example reads."""
    weights = {} if relative is None else relative.by_name(len(queries), len(keys), queries.dtype)
    return attended(form, queries, keys, values, mask, weights)


def _differing(form: Form, size: int) -> str:
    """Runs random numbers both ways, with queries that see nothing; returns the names of results that differ."""
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> Array:
        return jnp.asarray(rng.standard_normal((MEMBERS, *shape)), jnp.float32)

    tokens = tuple(drawn(EXAMPLES, count, HEADS, size) for count in (QUERIES, KEYS, KEYS))
    mask = jnp.asarray((rng.random((EXAMPLES, QUERIES, KEYS)) < 0.7) & (np.arange(QUERIES) != 5)[:, None])
    shapes = eqx.filter_eval_shape(RelativePositions, HEADS * size, HEADS, key=jax.random.key(0))
    relative = jax.tree.map(lambda x: drawn(*x.shape) / x.shape[0] ** 0.5, shapes) if form.relative else None

    def learned(road: Any) -> Any:
        def loss(tokens: Any, relative: Any) -> tuple[Array, Array]:
            def member(tokens: Any, relative: Any) -> Array:
                return jax.vmap(lambda mask, *x: road(form, *x, mask, relative))(mask, *tokens)

            outputs = jax.vmap(member)(tokens, relative)
            return jnp.sin(3 * outputs).sum(), outputs

        gradients, outputs = jax.grad(loss, (0, 1), has_aux=True)(tokens, relative)
        return {"outputs": outputs, "gradients": gradients}

    @jax.jit
    @jax.default_matmul_precision("highest")
    def both() -> Any:
        return learned(by_products), learned(by_kernel)

    expected, actual = jax.device_get(both())
    return " and ".join(name for name in expected if not agree(expected[name], actual[name]))
