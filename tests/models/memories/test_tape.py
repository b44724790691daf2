"""The tape against a slow loop over its definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.cells.base import Extent
from humboldt.models.memories.tape import JUMP_LEFT, JUMP_RIGHT, LEFT, RIGHT, STAY, Tape, Tapes, roll


def make(*, jumps_write: bool = False) -> Tape:
    return Tape(4, cell_size=2, num_tapes=1, smallest=7, jumps_write=jumps_write, key=jax.random.key(0))


def extent(num_steps: int, real_steps: int, input_length: int) -> Extent:
    return Extent(num_steps, jnp.array(real_steps, jnp.int32), jnp.array(input_length, jnp.int32))


def slow(tape: np.ndarray, action: int, value: np.ndarray, jump: int, jumps_write: bool) -> np.ndarray:
    """The ring after one pure action, seen from the head: cell i is the one i steps away."""
    cells = len(tape)
    new = tape.copy()
    if action in (STAY, LEFT, RIGHT) or jumps_write:
        new[0] = value
    shift = {STAY: 0, LEFT: -1, RIGHT: 1, JUMP_LEFT: -jump, JUMP_RIGHT: jump}[action]
    return np.stack([new[(i - shift) % cells] for i in range(cells)])


@pytest.mark.parametrize("jumps_write", [False, True])
@pytest.mark.parametrize("beyond", [0, 1, 4])  # cells that are there for padding only
def test_mixtures_of_actions_against_the_definition(jumps_write: bool, beyond: int):
    rng = np.random.default_rng(0)
    tape = rng.normal(size=(7, 2)).astype(np.float32)
    probabilities, value = rng.dirichlet(np.ones(5)).astype(np.float32), rng.normal(size=2).astype(np.float32)
    cells = jnp.array(np.pad(tape, ((0, beyond), (0, 0))))[None]
    memory = Tapes(cells, ring=jnp.array(7, jnp.int32), jump=jnp.array(3, jnp.int32))
    new = make(jumps_write=jumps_write).act(memory, (jnp.array(probabilities)[None], jnp.array(value)[None]))
    expected = sum(p * slow(tape, action, value, 3, jumps_write) for action, p in enumerate(probabilities))
    np.testing.assert_allclose(new.cells[0, :7], expected, rtol=1e-5, atol=1e-6)
    assert not new.cells[0, 7:].any() and (int(new.ring), int(new.jump)) == (7, 3)


def test_a_jump_there_and_back_finds_what_was_written():
    tape = make()
    memory = tape.init(extent(2, 2, 3))
    value = jnp.array([[5.0, 6.0]])
    for action in (RIGHT, LEFT):  # write, step away, come back (writing over the neighbour on the way)
        memory = tape.act(memory, (jax.nn.one_hot(jnp.array([action]), 5), value if action == RIGHT else -value))
    np.testing.assert_allclose(tape.read(memory), [5, 6])
    for action in (JUMP_RIGHT, JUMP_LEFT):
        memory = tape.act(memory, (jax.nn.one_hot(jnp.array([action]), 5), 9 * value))
    np.testing.assert_allclose(tape.read(memory), [5, 6])  # jumping wrote nothing


def test_the_ring_is_that_of_the_real_steps():
    for num_steps, real_steps, cells, ring in ((20, 20, 42, 42), (20, 9, 42, 20), (20, 1, 42, 7), (2, 1, 7, 7)):
        memory = make().init(extent(num_steps, real_steps, 1))
        assert memory.cells.shape == (1, cells, 2) and int(memory.ring) == ring


def test_the_gradient_of_a_roll_is_a_roll_back():
    tape, weights = jnp.arange(10.0).reshape(5, 2), jnp.arange(10.0).reshape(5, 2) ** 2

    def rolled(array: np.ndarray, shift: int, ring: int) -> np.ndarray:
        return np.concatenate([np.roll(array[:ring], shift, 0), array[ring:]])

    for shift in (0, 2, -3, 7):
        for ring in (5, 3):
            s, r = jnp.array(shift, jnp.int32), jnp.array(ring, jnp.int32)
            np.testing.assert_array_equal(roll(tape, s, r), rolled(np.asarray(tape), shift, ring))
            found = jax.grad(lambda t, s=s, r=r: (weights * roll(t, s, r)).sum())(tape)
            np.testing.assert_array_equal(found, rolled(np.asarray(weights), -shift, ring))
