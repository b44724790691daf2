"""The stack against a slow loop, and a Stack-RNN whose weights are set by hand."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.cells.base import Extent
from humboldt.models.memories.stack import NO_OP, POP, PUSH, Stack
from humboldt.models.zoo.stack_rnn import StackRNN


def slow(memory: np.ndarray, probabilities: np.ndarray, value: np.ndarray) -> np.ndarray:
    """One stack, cell by cell, as the definition says."""
    new = np.zeros_like(memory)
    for i in range(len(memory)):
        above = value if i == 0 else memory[i - 1]
        below = memory[i + 1] if i + 1 < len(memory) else np.zeros_like(value)
        new[i] = probabilities[PUSH] * above + probabilities[POP] * below + probabilities[NO_OP] * memory[i]
    return new


def test_mixtures_of_actions_against_the_definition():
    rng = np.random.default_rng(0)
    stack = Stack(4, cell_size=3, num_stacks=2, key=jax.random.key(0))
    memory = jnp.array(rng.normal(size=(2, 5, 3)), jnp.float32)
    probabilities = jnp.array(rng.dirichlet(np.ones(3), 2), jnp.float32)
    values = jnp.array(rng.normal(size=(2, 3)), jnp.float32)
    new = stack.act(memory, (probabilities, values))
    for i in range(2):
        expected = slow(np.array(memory[i]), np.array(probabilities[i]), np.array(values[i]))
        np.testing.assert_allclose(new[i], expected, rtol=1e-5, atol=1e-6)


def test_the_actions_of_each_stack_sum_to_one():
    stack = Stack(4, cell_size=3, num_stacks=3, key=jax.random.key(0))
    probabilities, _ = stack.actions(jnp.arange(4.0))
    np.testing.assert_allclose(probabilities.sum(1), np.ones(3), rtol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 10, 11])
def test_a_stack_half_as_deep_as_the_sequence_is_as_good_as_any_deeper_one(length: int):
    """Outputs and gradients are the same bits."""
    cell: Any = StackRNN(hidden_size=8, num_stacks=2).build(4, 2, num_symbols=3, key=jax.random.key(1)).cell
    xs = jax.nn.one_hot(jnp.array(np.random.default_rng(0).integers(0, 4, length)), 4)
    weights = jnp.array(np.random.default_rng(1).normal(size=(length, 8)).astype(np.float32))

    def loss(cell: Any, extent: Extent) -> tuple[jax.Array, jax.Array]:
        outputs = jax.lax.scan(lambda state, x: cell(state, cell.project(x)), cell.init_state(extent), xs)[1]
        return (weights * outputs).sum(), outputs

    half, whole = Extent.of(jnp.ones(length, bool)), Extent.of(jnp.ones(128, bool))._replace(keeps_all=True)
    assert cell.memory.init(half).shape[1] == length // 2 + 1 and cell.memory.init(whole).shape[1] == 129
    shallow, deep = (eqx.filter_grad(loss, has_aux=True)(cell, extent) for extent in (half, whole))
    jax.tree.map(np.testing.assert_array_equal, shallow, deep)


def reverser() -> eqx.Module:
    """A Stack-RNN that pushes what it reads and pops at every ∅: it reverses strings of any length.

    Hidden units: what was read (a, b, ∅), then what lay on top of the stack (a, b) before the step.
    """
    model = StackRNN(hidden_size=5, cell_size=2).build(3, 2, num_symbols=2, key=jax.random.key(0))
    large = 50.0
    show = jnp.zeros((3, 5)).at[jnp.arange(3), jnp.arange(3)].set(1.0)
    top = jnp.zeros((2, 5)).at[jnp.arange(2), jnp.arange(3, 5)].set(1.0)
    push_value = jnp.zeros((5, 2)).at[0, 0].set(1.0).at[1, 1].set(1.0)
    # PUSH at a and b, POP at ∅
    action = jnp.zeros((5, 3)).at[0, PUSH].set(large).at[1, PUSH].set(large).at[2, POP].set(large)
    readout = jnp.zeros((5, 2)).at[3, 0].set(1.0).at[4, 1].set(1.0)
    return eqx.tree_at(
        lambda m: (
            *(m.cell.controller.input.weight, m.cell.controller.input.bias, m.cell.controller.recurrent.weight),
            *(m.cell.reading.weight, m.cell.memory.value.weight, m.cell.memory.value.bias),
            *(m.cell.memory.action.weight, m.cell.memory.action.bias, m.readout.weight, m.readout.bias),
        ),
        model,
        (
            *(show, jnp.zeros(5), jnp.zeros((5, 5))),
            *(top, push_value, jnp.zeros(2)),
            *(action, jnp.zeros(3), readout, jnp.zeros(2)),
        ),
    )


def test_push_and_pop_reverse_any_string_exactly():
    model, run = reverser(), eqx.filter_jit(lambda model, tokens, mask: model(tokens, mask))
    for length in (1, 2, 17, 300):
        string = np.random.default_rng(length).integers(0, 2, length)
        tokens = np.zeros(600, np.int32)
        tokens[: 2 * length] = [*string, *[2] * length]
        answer = run(model, jnp.asarray(tokens), jnp.arange(600) < 2 * length).argmax(-1)[length : 2 * length]
        np.testing.assert_array_equal(answer, string[::-1])


def test_internals_show_push_then_pop():
    found = reverser().inspect(jnp.array([0, 1, 2, 2], jnp.int32), jnp.ones(4, bool))  # pyright: ignore
    probabilities = found["actions"].values
    np.testing.assert_array_equal(probabilities[:, 0].argmax(-1), [PUSH, PUSH, POP, POP])
    assert found["actions"].labels == ("push", "pop", "no-op") and found["stack"].axes[0] == "time"
    np.testing.assert_allclose(found["stack"].values[1, 0, :2], [[0, 1], [1, 0]], atol=1e-5)  # b on top of a
