"""The memories of Suzgun et al. (2019), against slow loops."""

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.cells.base import Extent
from humboldt.models.memories.marnn import PushPopStack, RotatingTape

KEY = jax.random.key(0)


def slow_ring(ring: list[float], moves: list[float], value: float) -> list[float]:
    """One step of a ring of numbers, move by move."""
    size = len(ring)
    moved = {
        "left": [ring[(i + 1) % size] for i in range(size)],
        "right": [ring[(i - 1) % size] for i in range(size)],
        "stay": list(ring),
        "pop_right": [0.0, *ring[:-1]],
        "pop_left": [*ring[1:], 0.0],
    }
    new = [sum(weight * cells[i] for weight, cells in zip(moves, moved.values(), strict=True)) for i in range(size)]
    return [new[0] + value, *new[1:]]


def test_the_five_moves_of_the_tape():
    tape = RotatingTape(4, cell_size=1, most_cells=4, key=KEY)
    rng = np.random.default_rng(0)
    cells = [1.0, 2.0, 3.0, 4.0]
    for move in range(5):
        moves = np.eye(5, dtype=np.float32)[move]
        new = tape.act(jnp.array(cells)[:, None], (jnp.asarray(moves), jnp.array([0.5])))
        np.testing.assert_allclose(new[:, 0], slow_ring(cells, moves.tolist(), 0.5))
    for _ in range(6):
        moves = rng.dirichlet(np.ones(5)).astype(np.float32)
        new = tape.act(jnp.array(cells)[:, None], (jnp.asarray(moves), jnp.array([0.25])))
        cells = slow_ring(cells, moves.tolist(), 0.25)
        np.testing.assert_allclose(new[:, 0], cells, rtol=1e-5)


def test_a_stack_that_is_sure_is_a_list():
    stack = PushPopStack(4, cell_size=1, most_cells=5, key=KEY)
    memory, plain = stack.init(Extent.of(jnp.ones(9, bool))), []
    assert memory.shape == (5, 1)
    for action, value in [(0, 0.1), (0, 0.2), (1, 0.9), (0, 0.3), (1, 0.9), (1, 0.9), (1, 0.9), (0, 0.4)]:
        memory = stack.act(memory, (jnp.eye(2)[action], jnp.array([value])))
        plain = [value, *plain] if action == 0 else plain[1:]
        np.testing.assert_allclose(memory[:, 0], [*plain, *[0.0] * (5 - len(plain))], atol=1e-7)
