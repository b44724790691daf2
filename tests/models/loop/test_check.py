"""Cells that break what they promise are found out, and named."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from humboldt.errors import UsageError
from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.check import check_gradients
from humboldt.models.networks.recurrent import RecurrentNetwork

TOKENS = jnp.array([[0, 1, 2, 1, 0], [2, 2, 1, 0, 1]], jnp.int32)


class Cell(AbstractCell):
    """`h' = tanh(...)`, in several ways of which some are wrong."""

    input: Linear
    recurrent: Linear
    way: str = eqx.field(static=True)

    def project(self, x: jax.Array) -> jax.Array:
        return self.input(x)

    def init_state(self, extent: Extent) -> jax.Array:
        return jnp.full(5, 0.5)

    def __call__(self, state: jax.Array, drive: jax.Array) -> tuple[jax.Array, jax.Array]:
        if self.way == "added":
            hidden = jnp.tanh(self.recurrent(state) + drive)
        elif self.way == "multiplied":
            hidden = jnp.tanh(self.recurrent(state) * drive)
        elif self.way == "used twice":
            recurrent = self.recurrent(state)
            hidden = jnp.tanh(recurrent + drive) * jax.nn.sigmoid(recurrent)
        elif self.way == "array":
            hidden = jnp.tanh(state @ self.recurrent.weight + drive)
        else:
            hidden = jnp.tanh(self.recurrent(self.recurrent(state)) + drive)
        return hidden, hidden


def network(way: str, *, joins_drive: bool) -> RecurrentNetwork:
    k_input, k_recurrent, k_readout = jax.random.split(jax.random.key(0), 3)
    recurrent = Linear(5, 5, joins_drive=joins_drive, key=k_recurrent)
    return RecurrentNetwork(Cell(Linear(3, 5, key=k_input), recurrent, way), Linear(5, 2, key=k_readout), 3, 3)


def check(way: str, *, joins_drive: bool) -> None:
    check_gradients(network(way, joins_drive=joins_drive), TOKENS, jnp.ones((2, 5), bool))


@pytest.mark.parametrize("way", ["multiplied", "used twice"])
def test_a_layer_that_does_not_just_join_the_drive(way: str):
    with pytest.raises(UsageError, match=r"\.cell\.recurrent has joins_drive=True.*Leave joins_drive out") as error:
        check(way, joins_drive=True)
    assert ".cell.input" not in str(error.value)
    check(way, joins_drive=False)


def test_a_layer_that_does():
    for joins_drive in (True, False):
        check("added", joins_drive=joins_drive)


def test_a_layer_whose_array_is_used():
    with pytest.raises(UsageError, match=r"uses an array of a linear layer \(5x5\).*Call the layer"):
        check("array", joins_drive=False)


def test_a_layer_that_is_called_twice():
    with pytest.raises(UsageError, match=r"\(5x5\) is called twice in one step"):
        check("called twice", joins_drive=False)
