"""What every registered model promises. Registering a model is what tests it."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models import models
from humboldt.models._recurrent import RecurrentModel
from humboldt.models._unroll import step_by_step, unroll, unroll_symbols

SYMBOLS, OUTPUTS = 3, 4
MARK = SYMBOLS  # the token ∅


def build(name: str, key: Any) -> Any:
    return models.get(name)().build(SYMBOLS + 1, OUTPUTS, num_symbols=SYMBOLS, key=key)


def tokens_of(length: int, slots: int = 2) -> jax.Array:
    rng = np.random.default_rng(length)
    return jnp.array([*rng.integers(0, SYMBOLS, length), *[MARK] * slots], jnp.int32)


def call(model: Any, tokens: jax.Array, real: int | None = None) -> jax.Array:
    mask = jnp.arange(len(tokens)) < (len(tokens) if real is None else real)
    return eqx.filter_jit(lambda model, tokens, mask: model(tokens, mask))(model, tokens, mask)


#: All that are trained by gradients; a network that is searched for has no `build`.
TRAINED = [name for name in models.names() if hasattr(models.get(name), "build")]


@pytest.fixture(params=TRAINED)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_logits_for_every_step(name: str, getkey: Callable[[], Any]):
    assert call(build(name, getkey()), tokens_of(5)).shape == (7, OUTPUTS)


def test_padding_never_changes_a_result(name: str, getkey: Callable[[], Any]):
    model, tokens = build(name, getkey()), tokens_of(9)
    padded = jnp.concatenate([tokens, jnp.array([0, 1, 2, MARK], jnp.int32)])
    expected, found = call(model, tokens), call(model, padded, real=len(tokens))
    if isinstance(model, RecurrentModel):
        np.testing.assert_array_equal(found[: len(tokens)], expected)
    else:  # padding adds exact zeros to sums over time, but XLA adds up a longer sum in another order
        np.testing.assert_allclose(found[: len(tokens)], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("slots", [0, 100])
def test_padding_never_changes_what_a_memory_does(name: str, slots: int, getkey: Callable[[], Any]):
    """Long enough for memories that grow with the length, or move by it, with marks and without. All steps at once, and
    one by one from the padded start, as in evaluation."""
    model, tokens = build(name, getkey()), tokens_of(100, slots)
    if not isinstance(model, RecurrentModel):
        pytest.skip("not recurrent")
    padded = jnp.concatenate([tokens, jnp.array([0, MARK] * 60, jnp.int32)])
    mask = jnp.arange(len(padded)) < len(tokens)
    one_by_one = jax.jit(lambda: jax.lax.scan(lambda *given: model.step(*given), model.start(padded, mask), padded)[1])
    for logits in (call(model, padded, real=len(tokens)), one_by_one()):
        np.testing.assert_allclose(logits[: len(tokens)], call(model, tokens), rtol=1e-4, atol=1e-5)


def test_padding_never_changes_a_gradient(name: str, getkey: Callable[[], Any]):
    model, tokens = build(name, getkey()), tokens_of(9)
    padded = jnp.concatenate([tokens, jnp.array([0, 1, 2, MARK], jnp.int32)])

    def loss(model: Any, tokens: jax.Array) -> jax.Array:
        return (model(tokens, jnp.arange(len(tokens)) < 11)[9:11] ** 2).sum()

    expected, found = (eqx.filter_jit(eqx.filter_grad(loss))(model, t) for t in (tokens, padded))
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        rounding = 1e-6 * max(1.0, float(jnp.abs(a).max()))  # a small entry is a difference of large ones
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=rounding)


def test_the_output_depends_on_the_input(name: str, getkey: Callable[[], Any]):
    model = build(name, getkey())
    first, second = (jnp.array([s, 1, 1, MARK], jnp.int32) for s in (0, 2))
    assert not np.allclose(call(model, first)[-1], call(model, second)[-1])


def test_gradients_are_finite_at_length_500(name: str, getkey: Callable[[], Any]):
    def loss(model: Any) -> jax.Array:
        return (call(model, tokens_of(500))[-1] ** 2).sum()

    gradient = eqx.filter_grad(loss)(build(name, getkey()))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_half_precision_stays_half(name: str, getkey: Callable[[], Any]):
    model, tokens = build(name, getkey()), tokens_of(9)
    halves = jax.tree.map(lambda x: x.astype(jnp.bfloat16) if eqx.is_inexact_array(x) else x, model)
    found, expected = call(halves, tokens), call(model, tokens)
    assert found.dtype == jnp.bfloat16  # and no step in between mixed types: the tests run with strict promotion
    np.testing.assert_allclose(found.astype(jnp.float32), expected, rtol=0.2, atol=0.1)


def test_same_key_same_weights(name: str):
    first, second = (build(name, jax.random.key(3)) for _ in range(2))
    other = build(name, jax.random.key(4))
    assert eqx.tree_equal(first, second) and not eqx.tree_equal(first, other)


@pytest.mark.parametrize("hoist", [False, True])
def test_scan_equals_a_plain_loop(name: str, hoist: bool, getkey: Callable[[], Any]):
    model, tokens = build(name, getkey()), tokens_of(6)
    if not isinstance(model, RecurrentModel):
        pytest.skip("not recurrent")
    xs = jax.nn.one_hot(tokens, SYMBOLS + 1)
    state, outputs = unroll(model.cell, model.start(tokens), xs, hoist=hoist)
    plain_state, plain_outputs = step_by_step(model.cell, model.start(tokens), xs)
    np.testing.assert_allclose(outputs, plain_outputs, rtol=1e-4, atol=1e-5)
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(plain_state), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_one_token_at_a_time_equals_all_at_once(name: str, getkey: Callable[[], Any]):
    model, tokens = build(name, getkey()), tokens_of(6)
    if not hasattr(model, "step"):
        pytest.skip("has to see everything at once")
    state, step, logits = model.start(tokens), eqx.filter_jit(model.step), []
    for token in tokens:
        state, output = step(state, token)
        logits.append(output)
    np.testing.assert_allclose(jnp.stack(logits), call(model, tokens), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("looked_up", [False, True])
def test_hoisted_gradients_are_the_same_gradients(name: str, looked_up: bool, getkey: Callable[[], Any]):
    model = build(name, getkey())
    if not isinstance(model, RecurrentModel):
        pytest.skip("not recurrent")
    batch = jnp.stack([tokens_of(6), tokens_of(6)[::-1]])
    # Not one-hot and with a gradient of their own, as word vectors have.
    vectors = jax.random.normal(getkey(), (SYMBOLS + 1, SYMBOLS + 1))

    def loss(weights: tuple[RecurrentModel, jax.Array], hoist: bool) -> jax.Array:
        model, vectors = weights

        def one(tokens: jax.Array) -> jax.Array:
            start = model.start(tokens)
            if looked_up and hoist:
                state, outputs = unroll_symbols(model.cell, start, vectors, tokens, hoist=True)
            else:
                state, outputs = unroll(model.cell, start, vectors[tokens], hoist=hoist)
            return (outputs**2).sum() + sum(
                (leaf**2).sum() for leaf in jax.tree.leaves(eqx.filter(state, eqx.is_inexact_array))
            )

        return jax.vmap(one)(batch).sum()

    plain, hoisted = (eqx.filter_jit(eqx.filter_grad(loss))((model, vectors), hoist) for hoist in (False, True))
    for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(hoisted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
