"""The gradients that training takes are those of automatic differentiation of a naive loop, in double precision.

The naive form has nothing of ours in its backward pass: a Python loop in place of the loops over time, and every
function with a hand-written gradient replaced by what it computes.
"""

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models import models
from humboldt.models.cells import lstm
from humboldt.models.loop.check import QUICK
from humboldt.models.loop.unroll import loop_form
from humboldt.models.memories import ndstack, tape

RECURRENT = ("rnn", "lstm", "stack_rnn", "tape_rnn", "ndstack_rnn")  # all that has a gradient written by hand
BY_HAND = ((lstm, "gates"), (tape, "roll"), (ndstack, "_uncover"), (ndstack, "normalise"))
TOKENS = np.array([[0, 2, 1, 3, 3], [2, 0, 3, 3, 0]])
MASK = np.arange(5)[None, :] < np.array([[5], [4]])
EXACT = 1e-11  # of the largest gradient of an array; single precision would be off by 1e-7


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        yield


def python_scan(step: Callable, state: Any, xs: Any, *, reverse: bool = False, **_: Any) -> tuple[Any, Any]:
    """`jax.lax.scan` as a loop in Python."""
    times = range(len(jax.tree.leaves(xs)[0]))
    outputs = []
    for time in reversed(times) if reverse else times:
        state, output = step(state, jax.tree.map(lambda x, time=time: x[time], xs))
        outputs.append(output)
    return state, jax.tree.map(lambda *parts: jnp.stack(parts), *(outputs[::-1] if reverse else outputs))


def network_of(name: str) -> Any:
    """A small network with random weights in double precision."""
    setting = models.get(name)
    network = eqx.filter_eval_shape(
        lambda key: setting(**setting.tiny).build(4, 3, num_symbols=3, key=key), jax.random.key(0)
    )
    random = np.random.default_rng(1)

    def drawn(leaf: Any) -> Any:
        return 0.5 * random.normal(size=leaf.shape) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf

    return jax.tree.map(drawn, network)


def gradient(network: Any, form: Any) -> Any:
    """Of a loss in which every logit of a real step counts."""
    weights, static = eqx.partition(network, eqx.is_inexact_array)

    def loss(weights: Any) -> jax.Array:
        with loop_form(form):
            logits = jax.vmap(lambda tokens, mask: eqx.combine(weights, static)(tokens, mask))(TOKENS, MASK)
        return jnp.where(MASK[:, :, None], jnp.sin(3 * logits), 0.0).sum()

    compiled = jax.jit(jax.grad(loss)).lower(weights).compile(compiler_options=QUICK)
    return compiled(weights)


def difference(found: Any, expected: Any) -> float:
    """The largest, as a part of the largest gradient of each array."""
    pairs = list(zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True))
    assert pairs and all(a.dtype == b.dtype == jnp.float64 for a, b in pairs)
    assert all(np.abs(b).max() > 0 for _, b in pairs)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


@pytest.mark.parametrize("name", RECURRENT)
def test_gradients_are_those_of_a_naive_loop(name: str, monkeypatch: pytest.MonkeyPatch):
    network = network_of(name)
    found = {form: gradient(network, form) for form in ("hoisted", "plain")}
    for module, function in BY_HAND:
        by_hand = getattr(module, function)
        assert isinstance(by_hand, jax.custom_vjp)
        monkeypatch.setattr(module, function, by_hand.fun)
    monkeypatch.setattr(jax.lax, "scan", python_scan)
    expected = gradient(network, "plain")
    for gradients in found.values():
        assert difference(gradients, expected) < EXACT


def test_a_gradient_that_is_slightly_wrong_would_be_seen(monkeypatch: pytest.MonkeyPatch):
    network = network_of("lstm")
    expected = gradient(network, "plain")
    monkeypatch.setattr(lstm, "gates", jax.custom_vjp(lstm._gates, nondiff_argnums=(2,)))

    def backward(offset: float, saved: Any, cotangents: Any) -> Any:
        return jax.tree.map(lambda x: x * (1 + 1e-9), lstm._gates_backward(offset, saved, cotangents))

    lstm.gates.defvjp(lstm._gates_forward, backward)
    assert difference(gradient(network, "plain"), expected) > EXACT
