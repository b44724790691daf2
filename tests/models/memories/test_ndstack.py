"""The nondeterministic stack against all runs of its automaton, one by one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.cells.base import Extent
from humboldt.models.memories.ndstack import EPSILON, Actions, NDStack, normalise


def make(
    num_states: int = 2,
    num_symbols: int = 2,
    *,
    read_states: bool = True,
    fading: bool = False,
    places: int | None = None,
) -> NDStack:
    sizes = {"num_states": num_states, "num_symbols": num_symbols}
    return NDStack(3, **sizes, read_states=read_states, fading=fading, places=places, key=jax.random.key(0))


def random_actions(stack: NDStack, num_steps: int) -> list[Actions]:
    hidden = 2 * jax.random.normal(jax.random.key(1), (num_steps, 3))
    return [stack.actions(h) for h in hidden]


def readings(stack: NDStack, all_actions: list[Actions]) -> np.ndarray:
    """What is read before the first action and after each."""

    def step(memory: Any, actions: Actions) -> tuple[Any, jax.Array]:
        memory = stack.act(memory, actions)
        return memory, stack.read(memory)

    start = stack.init(Extent.of(jnp.ones(len(all_actions), bool)))
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *all_actions)
    return np.concatenate([stack.read(start)[None], jax.lax.scan(step, start, stacked)[1]])


Configurations = Mapping[tuple[int, tuple[int, ...]], float]  # (state, stack): weight


def runs(all_actions: list[Actions]) -> Iterator[Configurations]:
    """All configurations after each step, by following every run, with its stack."""
    configurations: Configurations = {(0, (0,)): 1.0}
    yield configurations
    for actions in all_actions:
        push, replace, pop = (np.asarray(weights, np.float64) for weights in actions)
        states, symbols = push.shape[:2]
        after: defaultdict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
        for (state, stack), weight in configurations.items():
            rest, top = stack[:-1], stack[-1]
            for new_state in range(states):
                for symbol in range(symbols):
                    after[new_state, (*stack, symbol)] += weight * push[state, top, new_state, symbol]
                    if rest:
                        after[new_state, (*rest, symbol)] += weight * replace[state, top, new_state, symbol]
                if len(rest) > 1:
                    after[new_state, rest] += weight * pop[state, top, new_state]
        configurations = after
        yield configurations


def tops(stack: NDStack, configurations: Configurations) -> np.ndarray:
    """The weight of every top symbol and state."""
    weights = np.zeros((stack.num_symbols, stack.num_states))
    for (state, symbols), weight in configurations.items():
        weights[symbols[-1], state] += weight
    return weights.reshape(-1) if stack.read_states else weights.sum(1)


@pytest.mark.parametrize("read_states", [True, False])
@pytest.mark.parametrize(("num_states", "num_symbols", "num_steps"), [(2, 2, 7), (1, 2, 9), (2, 4, 5), (3, 1, 7)])
def test_equals_all_runs(num_states: int, num_symbols: int, num_steps: int, read_states: bool):
    stack = make(num_states, num_symbols, read_states=read_states)
    all_actions = random_actions(stack, num_steps)
    weights = np.stack([tops(stack, configurations) for configurations in runs(all_actions)])
    found = readings(stack, all_actions)
    np.testing.assert_allclose(found, weights / weights.sum(1, keepdims=True), rtol=2e-5, atol=1e-7)
    assert found.shape == (num_steps + 1, stack.read_size)


def test_fading_equals_all_runs():
    stack = make(fading=True)
    all_actions = random_actions(stack, 7)
    weights = np.stack([tops(stack, configurations) for configurations in runs(all_actions)])
    expected = weights / (weights.sum(1, keepdims=True) + EPSILON)
    np.testing.assert_allclose(readings(stack, all_actions)[1:], expected[1:], rtol=2e-5, atol=1e-7)
    np.testing.assert_array_equal(readings(stack, all_actions)[0], 0)
    assert expected.sum(1)[-1] < 0.05  # it does fade


@pytest.mark.parametrize("fading", [False, True])
@pytest.mark.parametrize("places", [1, 2, 4, 9])
def test_a_stack_whose_places_are_used_up_stays_as_it_is(places: int, fading: bool):
    """Each step takes a place, and the bottom symbol has the first: with one place nothing is ever stored."""
    all_actions = random_actions(make(fading=fading), 7)
    free, few = (readings(make(fading=fading, places=n), all_actions) for n in (None, places))
    np.testing.assert_allclose(few[:places], free[:places], rtol=1e-6)
    np.testing.assert_array_equal(few[places:], np.broadcast_to(few[places - 1 : places], few[places:].shape))
    bottom = [0, 0, 0, 0] if fading else [1, 0, 0, 0]
    np.testing.assert_array_equal(few[0], bottom)


def test_actions_of_each_state_and_symbol_sum_to_one():
    [actions] = random_actions(make(2, 4), 1)
    total = actions.push.sum((2, 3)) + actions.replace.sum((2, 3)) + actions.pop.sum(2)
    np.testing.assert_allclose(total, np.ones((2, 4)), rtol=1e-6)
    [joint] = random_actions(make(2, 4, fading=True), 1)
    np.testing.assert_allclose(sum(weights.sum() for weights in joint), 1, rtol=1e-6)


def one_hot_actions(kind: int, symbol: int, symbols: int) -> Actions:
    """In the only state there is, whatever the top symbol."""
    push, replace, pop = (jnp.zeros((1, symbols, 1, *last)) for last in ((symbols,), (symbols,), ()))
    if kind == 0:
        push = push.at[..., symbol].set(1.0)
    elif kind == 1:
        replace = replace.at[..., symbol].set(1.0)
    else:
        pop = jnp.ones_like(pop)
    return Actions(push, replace, pop)


def test_one_action_at_a_time_is_a_plain_stack():
    stack, rng = make(1, 3), np.random.default_rng(0)
    plain, expected, all_actions = [0], [0], []
    for _ in range(60):
        allowed = [0, *([1] if len(plain) > 1 else []), *([2] if len(plain) > 2 else [])]
        kind, symbol = int(rng.choice(allowed)), int(rng.integers(3))
        plain = [[*plain, symbol], [*plain[:-1], symbol], plain[:-1]][kind]
        expected.append(plain[-1])
        all_actions.append(one_hot_actions(kind, symbol, 3))
    np.testing.assert_array_equal(readings(stack, all_actions), np.eye(3)[expected])


def test_only_the_ratio_of_weights_matters():
    """Runs of 200 steps with weights around 1e-900 together: no float holds one, and the reading is not affected."""
    stack = make()
    all_actions = random_actions(stack, 200)
    small = [Actions(*(3e-5 * weights for weights in actions)) for actions in all_actions]
    np.testing.assert_allclose(readings(stack, small), readings(stack, all_actions), rtol=1e-3, atol=1e-6)


def test_zeros_once_every_run_has_failed():
    stack = make(1, 2)
    push, replace, pop = (one_hot_actions(kind, 1, 2) for kind in range(3))
    found = readings(stack, [push, pop, push, replace])
    np.testing.assert_array_equal(found, [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]])


def test_finite_gradients_when_runs_all_but_fail():
    """The controller insists on popping, first at the bottom, then above it: what survives has a weight of e^-60."""
    stack = make()

    @jax.jit
    def last(logits: jax.Array) -> jax.Array:
        def step(memory: Any, logits: jax.Array) -> tuple[Any, None]:
            push, replace, pop = jnp.split(jax.nn.softmax(logits, 1), (4, 8), 1)
            to_node, to_state = (2, 2, 2, 2), (2, 2, 2)
            return stack.act(
                memory, Actions(push.reshape(to_node), replace.reshape(to_node), pop.reshape(to_state))
            ), None

        start = stack.init(Extent.of(jnp.ones(len(logits), bool)))
        return stack.read(jax.lax.scan(step, start, logits)[0])

    jacobian = jax.jit(jax.jacrev(last))
    logits = jax.random.normal(jax.random.key(0), (12, 4, 10))
    for insistence, total in ((60.0, 1.0), (200.0, 0.0)):
        insisting = logits.at[:, :, 8:].add(insistence)
        np.testing.assert_allclose(last(insisting).sum(), total, rtol=1e-5)
        assert np.isfinite(jacobian(insisting)).all()


def test_normalise_where_there_is_nothing():
    weights = jnp.array([[1.0, 3.0], [0.0, 0.0]])
    normalised, total = normalise(weights)
    np.testing.assert_array_equal(normalised, [[0.25, 0.75], [0, 0]])
    np.testing.assert_array_equal(total, [4, 0])
    assert np.isfinite(jax.jacrev(normalise)(weights)[0]).all()
