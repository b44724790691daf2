"""The tape against a slow loop over its definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models._tape import JUMP_LEFT, JUMP_RIGHT, LEFT, RIGHT, STAY, Tape, roll


def make(*, jumps_write: bool = False) -> Tape:
    return Tape(4, cell_size=2, num_tapes=1, smallest=7, jumps_write=jumps_write, key=jax.random.key(0))


def slow(tape: np.ndarray, action: int, value: np.ndarray, jump: int, jumps_write: bool) -> np.ndarray:
    """The tape after one pure action, seen from the head: cell i is the one i steps away."""
    cells = len(tape)
    new = tape.copy()
    if action in (STAY, LEFT, RIGHT) or jumps_write:
        new[0] = value
    shift = {STAY: 0, LEFT: -1, RIGHT: 1, JUMP_LEFT: -jump, JUMP_RIGHT: jump}[action]
    return np.stack([new[(i - shift) % cells] for i in range(cells)])


@pytest.mark.parametrize("jumps_write", [False, True])
def test_mixtures_of_actions_against_the_definition(jumps_write: bool):
    rng = np.random.default_rng(0)
    tape = rng.normal(size=(7, 2)).astype(np.float32)
    probabilities, value = rng.dirichlet(np.ones(5)).astype(np.float32), rng.normal(size=2).astype(np.float32)
    memory = jnp.array(tape)[None], jnp.array(3, jnp.int32)
    new, jump = make(jumps_write=jumps_write).act(memory, (jnp.array(probabilities)[None], jnp.array(value)[None]))
    expected = sum(p * slow(tape, action, value, 3, jumps_write) for action, p in enumerate(probabilities))
    np.testing.assert_allclose(new[0], expected, rtol=1e-5, atol=1e-6)
    assert int(jump) == 3


def test_a_jump_there_and_back_finds_what_was_written():
    tape = make()
    memory = tape.init(num_steps=2, input_length=jnp.array(3, jnp.int32))
    value = jnp.array([[5.0, 6.0]])
    for action in (RIGHT, LEFT):  # write, step away, come back (writing over the neighbour on the way)
        memory = tape.act(memory, (jax.nn.one_hot(jnp.array([action]), 5), value if action == RIGHT else -value))
    np.testing.assert_allclose(tape.read(memory), [5, 6])
    for action in (JUMP_RIGHT, JUMP_LEFT):
        memory = tape.act(memory, (jax.nn.one_hot(jnp.array([action]), 5), 9 * value))
    np.testing.assert_allclose(tape.read(memory), [5, 6])  # jumping wrote nothing


def test_the_tape_is_never_smaller_than_a_walk():
    memory, _ = make().init(num_steps=20, input_length=jnp.array(10, jnp.int32))
    assert memory.shape == (1, 42, 2)


def test_the_gradient_of_a_roll_is_a_roll_back():
    tape, weights = jnp.arange(10.0).reshape(5, 2), jnp.arange(10.0).reshape(5, 2) ** 2
    for shift in (0, 2, -3, 7):
        s = jnp.array(shift, jnp.int32)
        np.testing.assert_array_equal(roll(tape, s), np.roll(tape, shift, 0))
        found = jax.grad(lambda t, s=s: (weights * roll(t, s)).sum())(tape)
        np.testing.assert_array_equal(found, np.roll(weights, -shift, 0))
