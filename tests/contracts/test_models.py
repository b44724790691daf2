"""What every registered model promises. Registering a model is what tests it.

Networks are small, so that strings can be long: memories grow with the length, and jump by it. Most of the time goes
into compiling, so that each program is used by as many tests as possible.
"""

import subprocess
import sys
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt import settings
from humboldt.core.internals import TIME, Internal, blocks
from humboldt.core.problems import ProblemKind
from humboldt.languages import Batch, Pairs, frame_transduction
from humboldt.models import models
from humboldt.models.cells.base import AbstractCell
from humboldt.models.loop.check import check_gradients
from humboldt.models.networks.base import AbstractInspectable, AbstractStepwise
from humboldt.models.networks.recurrent import RecurrentNetwork

SYMBOLS, OUTPUTS = 3, 4
MARK = SYMBOLS  # the token ∅
LENGTH, PADDING = 400, 40


# Those that answer on the axis of what they read. What sequence-to-sequence networks promise instead is held in
# `tests/models/networks/sequence_to_sequence/test_base.py`.
ONE_AXIS = [entry.name for entry in models.entries() if ProblemKind.SEQUENCE_TO_SEQUENCE not in entry.value.problems]


@pytest.fixture(params=ONE_AXIS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def build(name: str, seed: int = 0) -> Any:
    model = models.get(name)
    return model(**model.tiny).build(SYMBOLS + 1, OUTPUTS, num_symbols=SYMBOLS, key=jax.random.key(seed))


network_of = cache(build)


def tokens_of(length: int, slots: int) -> jax.Array:
    rng = np.random.default_rng(length)
    return jnp.array([*rng.integers(0, SYMBOLS, length), *[MARK] * slots], jnp.int32)


call = eqx.filter_jit(lambda network, tokens, mask: network(tokens, mask))


class Reading(NamedTuple):
    """Logits, and the gradient of a loss on the last five."""

    logits: np.ndarray
    gradient: Any


@eqx.filter_jit
def _differentiate(network: Any, tokens: jax.Array, mask: jax.Array) -> tuple[Any, jax.Array]:
    def loss(network: Any) -> tuple[jax.Array, jax.Array]:
        logits = network(tokens, mask)
        return (logits[LENGTH - 5 : LENGTH] ** 2).sum(), logits

    return eqx.filter_grad(loss, has_aux=True)(network)


@cache
def read_long(name: str, slots: int, padding: int) -> Reading:
    """A string of `LENGTH` tokens, of which `slots` are marks, and then padding."""
    tokens = jnp.concatenate([tokens_of(LENGTH - slots, slots), tokens_of(padding, 0)])
    gradient, logits = _differentiate(network_of(name), tokens, jnp.arange(len(tokens)) < LENGTH)
    return Reading(np.asarray(logits), gradient)


def test_it_says_what_it_is(name: str):
    entry = models.entry(name)
    model = entry.value
    assert isinstance(entry.version, int) and model.title and model.__doc__ and model.tiny
    assert model.problems and all(isinstance(kind, ProblemKind) for kind in model.problems)
    for field in settings.fields(model):
        assert field.about and field.source, f"{field.name} says not what it means, or where it stands"
        is_size = field.kind is int
        assert not is_size or field.least is not None, f"{field.name} has no bound"


def test_settings_need_no_jax():
    code = (
        "import sys; from humboldt.models import models; models.entries();"
        "print(sorted({'jax', 'jaxlib', 'equinox', 'jaxtyping', 'optax'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_logits_for_every_step(name: str):
    assert read_long(name, 150, 0).logits.shape == (LENGTH, OUTPUTS)


@pytest.mark.parametrize("slots", [0, 150])
def test_padding_never_changes_a_result(name: str, slots: int):
    expected, padded = (read_long(name, slots, padding).logits[:LENGTH] for padding in (0, PADDING))
    network = network_of(name)
    if isinstance(network, RecurrentNetwork) and not network.keeps_one_table:
        np.testing.assert_array_equal(padded, expected)
    else:  # padding adds exact zeros to sums over time, but XLA adds up a longer sum in another order
        np.testing.assert_allclose(padded, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("slots", [0, 150])
def test_padding_never_changes_a_gradient(name: str, slots: int):
    expected, padded = (read_long(name, slots, padding).gradient for padding in (0, PADDING))
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(padded), strict=True):
        rounding = 1e-5 * max(1.0, float(jnp.abs(a).max()))  # a small entry is a difference of large ones
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=rounding)


def test_gradients_of_long_strings_are_finite(name: str):
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(read_long(name, 150, 0).gradient))


def test_one_token_at_a_time_equals_all_at_once(name: str):
    """From the padded start, as in evaluation, with marks and without."""
    network = network_of(name)
    if not isinstance(network, AbstractStepwise):
        pytest.skip("has to see everything at once")

    @eqx.filter_jit
    def one_by_one(network: Any, tokens: jax.Array) -> jax.Array:
        start = network.start(tokens, jnp.arange(len(tokens)) < LENGTH)
        return jax.lax.scan(lambda *given: network.step(*given), start, tokens)[1]

    for slots in (0, 150):
        tokens = jnp.concatenate([tokens_of(LENGTH - slots, slots), jnp.array([0, MARK] * (PADDING // 2), jnp.int32)])
        logits = one_by_one(network, tokens)[:LENGTH]
        np.testing.assert_allclose(logits, read_long(name, slots, 0).logits, rtol=1e-4, atol=1e-5)


def test_it_shows_its_internals_and_padding_does_not_change_them(name: str):
    network = network_of(name)
    assert isinstance(network, AbstractInspectable)
    look = eqx.filter_jit(lambda network, tokens, mask: network.inspect(tokens, mask))
    tokens = jnp.concatenate([tokens_of(9, 2), tokens_of(5, 0)])
    whole, short = look(network, tokens, jnp.arange(16) < 11), look(network, tokens[:11], jnp.ones(11, bool))
    assert whole.keys() == short.keys() and whole
    for what, seen in short.items():
        assert seen.axes.count(TIME) == 1 and len(seen.axes) == seen.values.ndim, what
        assert not seen.labels or len(seen.labels) == seen.values.shape[-1], what
        time = seen.axes.index(TIME)
        assert seen.values.shape[time] == 11, what
        padded = whole[what].values[tuple(slice(size) for size in seen.values.shape)]  # memories have more room
        np.testing.assert_allclose(padded, seen.values, rtol=1e-4, atol=1e-5, err_msg=what)
        assert list(blocks(what, Internal(np.asarray(seen.values), seen.axes, seen.labels), 11))


def test_the_output_depends_on_the_input(name: str):
    tokens, mask = tokens_of(9, 2), jnp.ones(11, bool)
    logits = [call(network_of(name), tokens.at[8].set(symbol), mask)[9] for symbol in (0, 2)]
    assert not np.allclose(*logits)


def test_half_precision_stays_half(name: str):
    network, tokens, mask = network_of(name), tokens_of(9, 2), jnp.ones(11, bool)
    halves = jax.tree.map(lambda x: x.astype(jnp.bfloat16) if eqx.is_inexact_array(x) else x, network)
    logits, expected = call(halves, tokens, mask), call(network, tokens, mask)
    assert logits.dtype == jnp.bfloat16  # and no step in between mixed types: the tests run with strict promotion
    np.testing.assert_allclose(logits.astype(jnp.float32), expected, rtol=0.2, atol=0.1)


def test_same_key_same_weights(name: str):
    assert eqx.tree_equal(network_of(name), build(name)) and not eqx.tree_equal(network_of(name), build(name, seed=4))


def test_hoisted_gradients_are_the_same_gradients(name: str):
    """As an accelerator takes them, whatever this machine is."""
    parts = jax.tree.leaves(network_of(name), is_leaf=lambda part: isinstance(part, AbstractCell))
    if not any(isinstance(part, AbstractCell) for part in parts):
        pytest.skip("has no loop over time")
    tokens = jnp.stack([tokens_of(6, 2), tokens_of(6, 2)[::-1]])
    check_gradients(network_of(name), tokens, jnp.arange(8)[None, :] < jnp.array([[8], [6]]))


def batch_of(kind: ProblemKind) -> Batch:
    """A batch of one language, posed as each kind of problem poses it: strings of two symbols, 8 steps."""
    strings = np.random.default_rng(0).integers(0, 2, (6, 4)).astype(np.int32)
    if kind is ProblemKind.TRANSDUCTION:
        return frame_transduction(Pairs.full(strings, strings[:, ::-1]), SYMBOLS)
    tokens = np.concatenate([np.full((6, 1), 2, np.int32), strings], 1)  # `#` first
    targets = np.concatenate([strings, np.full((6, 1), 2, np.int32)], 1)
    counted = np.ones((6, 5), bool)
    if kind is ProblemKind.CLASSIFICATION:
        targets = np.broadcast_to(strings.sum(1, keepdims=True) % 2, (6, 5)).astype(np.int32)
        counted = np.broadcast_to(np.arange(5) == 4, (6, 5))
    return Batch(tokens, np.ones((6, 5), bool), targets, counted, np.ones(6, np.float32)).padded(8)


@eqx.filter_jit
def descend(network: Any, tokens: jax.Array, mask: jax.Array, targets: jax.Array, counted: jax.Array) -> Any:
    """The loss, and the network after a small step along its gradient."""

    def loss(network: Any) -> jax.Array:
        logits = jax.vmap(lambda tokens, mask: network(tokens, mask))(tokens, mask)
        nats = -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], 2)[..., 0]
        return jnp.where(counted, nats, 0.0).sum() / counted.sum(dtype=jnp.float32)

    value, gradient = eqx.filter_value_and_grad(loss)(network)
    return value, eqx.apply_updates(network, jax.tree.map(lambda g: -0.05 * g, gradient))


def test_it_learns_from_each_kind_of_problem_it_declares(name: str):
    for kind in models.get(name).problems:
        batch, network, losses = batch_of(kind), network_of(name), []
        for _ in range(8):
            arrays = map(jnp.asarray, (batch.tokens, batch.mask, batch.targets, batch.target_mask))
            value, network = descend(network, *arrays)
            losses.append(float(value))
        assert losses[-1] < losses[0], f"{kind}: {losses}"
