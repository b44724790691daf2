"""Attention for tests: plain products in the place of the kernels, since no machine of the tests has a GPU."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.layers.fused import kernels, run, self_test
from humboldt.models.layers.fused.kernels import Form, Gradients
from humboldt.models.layers.positions import alibi_slopes
from humboldt.models.loop.fused import choice


def plainly(form: Form, queries: Any, keys: Any, values: Any, mask: Any, weights: Any) -> Any:
    """One example of one member, written down as it is defined."""
    num_queries, heads, size = queries.shape
    distances = np.arange(num_queries)[:, None] - np.arange(len(keys))[None, :]
    if form.relative:
        rows = weights["table"][num_queries - 1 - distances]
        scores = jnp.einsum("qhd,khd->hqk", queries + weights["content_bias"][None], keys)
        scores += jnp.einsum("qhd,qkhd->hqk", queries + weights["distance_bias"][None], rows)
    else:
        scores = jnp.einsum("qhd,khd->hqk", queries, keys)
    scores = scores / size**0.5
    if form.alibi:
        slopes, apart = np.array(alibi_slopes(heads)), abs(distances) - (distances > 0) / 2
        scores -= jnp.asarray(slopes[:, None, None] * apart, jnp.float32)
    scores = jnp.where(mask[None], scores, -100.0)
    powers = jnp.where(mask[None], jnp.exp(scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True))), 0.0)
    sums = powers.sum(-1, keepdims=True)
    return jnp.einsum("hqk,khd->qhd", powers / jnp.where(sums > 0, sums, 1.0), values)


def for_all(form: Form, queries: Any, keys: Any, values: Any, mask: Any, weights: Any) -> Any:
    """All examples of all members."""
    of_examples = jax.vmap(lambda *x: plainly(form, *x), (0, 0, 0, 0, None))
    mask = jnp.broadcast_to(mask, (*queries.shape[:2], *mask.shape[2:]))
    return jax.vmap(of_examples)(queries, keys, values, mask, weights)


class Products:
    """`forward` and `backward` as products, with a list of the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.factor = 1.0  # on the gradients, to be wrong

    def of(self, members: int, examples: int) -> list[tuple[Any, ...]]:
        """Returns the calls for so many members and examples; JAX also traces the kernels for fewer."""
        return [call for call in self.calls if call[2:4] == (members, examples)]

    def forward(self, form: Form, *arguments: Any) -> Any:
        queries, mask = arguments[0], arguments[3]
        self.calls.append(("forward", form, *queries.shape[:2], mask.shape[:2]))
        return for_all(form, *arguments), jnp.zeros((*queries.shape[:2], queries.shape[3], queries.shape[2]))

    def backward(self, form: Form, *arguments: Any) -> Gradients:
        queries, keys, values, mask, weights, outputs, logarithms, d_outputs = arguments
        assert outputs.shape == d_outputs.shape == queries.shape and logarithms.shape[:2] == queries.shape[:2]
        self.calls.append(("backward", form, *queries.shape[:2], mask.shape[:2]))
        mask = jnp.broadcast_to(mask, (*queries.shape[:2], *mask.shape[2:]))

        def pulled(queries: Any, keys: Any, values: Any, mask: Any, weights: Any, d_outputs: Any) -> Any:
            def attention(queries: Any, keys: Any, values: Any, weights: Any) -> Any:
                return plainly(form, queries, keys, values, mask, weights)

            return jax.vjp(attention, queries, keys, values, weights)[1](self.factor * d_outputs)

        of_examples = jax.vmap(pulled, (0, 0, 0, 0, None, 0))
        return Gradients(*jax.vmap(of_examples)(queries, keys, values, mask, weights, d_outputs))


@pytest.fixture
def fresh_attention() -> Iterator[None]:
    """JAX remembers what the kernels were when they were traced first."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for function in (run._forward, run._backward):
        function.cache_clear()
    jax.clear_caches()


@pytest.fixture
def kernel_products(fresh_attention: None, monkeypatch: pytest.MonkeyPatch) -> Products:
    """Makes the tests' machine one with kernels, which are products, and which pass their self-test."""
    products = Products()
    for name in ("forward", "backward"):
        monkeypatch.setattr(kernels, name, getattr(products, name))
    monkeypatch.setattr(choice, "device_fault", lambda: "")
    monkeypatch.setattr(self_test, "_faults", Trusting())
    return products


class Trusting(dict[Any, str]):
    """What the self-test remembers, if it has found no fault in any kernel."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: object) -> str:
        return ""


class Case(NamedTuple):
    """Sizes of one attention."""

    members: int
    examples: int
    queries: int
    keys: int
    heads: int
    size: int
    form: Form
    mask: str = "random"  # or causal, padding
    own: bool = False  # whether members have masks of their own


def drawn(case: Case) -> tuple[tuple[Any, Any, Any, Any, Any], Any]:
    """Queries, keys, values, mask and weights; and gradients of the outputs. Every fifth query sees nothing."""
    rng = np.random.default_rng(0)

    def normal(*shape: int, by: float = 1.0) -> Any:
        return jnp.asarray(by * rng.standard_normal(shape), jnp.float32)

    members, examples, queries, keys, heads, size, form, kind, own = case
    sides = (members if own else 1, examples, queries, keys)
    i, j = np.arange(queries)[:, None], np.arange(keys)[None, :]
    if kind == "causal":
        mask = np.broadcast_to(i >= j, (1, 1, queries, keys))
    elif kind == "padding":
        mask = np.broadcast_to(j < rng.integers(0, keys + 1, (*sides[:2], 1, 1)), sides)
    else:
        mask = (rng.random(sides) < 0.7) & (i % 5 != 3)
    both = members, examples
    asking, asked, read = (normal(*both, count, heads, size) for count in (queries, keys, keys))
    weights = {}
    if form.relative:
        weights = {"table": normal(members, queries + keys - 1, heads, size)}
        weights |= {name: normal(members, heads, size, by=0.3) for name in ("content_bias", "distance_bias")}
    return (asking, asked, read, jnp.asarray(mask), weights), normal(*both, queries, heads, size)
