"""What is tried when somebody else's model is registered."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.cells.rnn import RNNCell
from humboldt.models.layers.linear import Linear
from humboldt.models.networks.recurrent import RecurrentNetwork
from humboldt.settings import setting, settings


class GatedCell(RNNCell):
    """Its recurrent layer multiplies the drive, but is made with `joins_drive=True`."""

    def __call__(self, state: Any, drive: jax.Array) -> tuple[Any, jax.Array]:
        hidden = jnp.tanh(jax.nn.sigmoid(self.recurrent(state[0])) * drive)
        return (hidden,), hidden


@settings
class Gated:
    """A model as a user writes it."""

    hidden_size: int = setting(10_000_000, "units", least=1)  # far too many to be built: `tiny` is

    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.TRANSDUCTION,)
    tiny: ClassVar[dict[str, Any]] = {"hidden_size": 5}
    joins_drive: ClassVar[bool] = False

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: Any) -> RecurrentNetwork:
        """The network."""
        k_input, k_recurrent, k_readout = jax.random.split(key, 3)
        size, joins_drive = self.hidden_size, self.joins_drive
        recurrent = Linear(size, size, joins_drive=joins_drive, key=k_recurrent)
        cell = GatedCell(Linear(input_size, size, key=k_input), recurrent, "tanh")
        return RecurrentNetwork(cell, Linear(size, output_size, key=k_readout), input_size, num_symbols)


@settings
class WronglyGated(Gated):
    """Would train with wrong gradients on an accelerator."""

    joins_drive: ClassVar[bool] = True


@settings
class WithoutProblems:
    """Fits nothing."""

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: Any) -> Any:
        """Never called."""
        raise AssertionError


class LastLogits(eqx.Module):
    """Answers once, instead of at every step."""

    readout: Linear

    def __call__(self, tokens: jax.Array, mask: jax.Array, *, key: Any = None) -> jax.Array:
        return self.readout(jax.nn.one_hot(tokens[-1], 4))


@settings
class AnswersOnce:
    """Its logits have no axis of time."""

    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.CLASSIFICATION,)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: Any) -> LastLogits:
        """The network."""
        return LastLogits(Linear(input_size, output_size, key=key))


class Raises(eqx.Module):
    """Cannot be called with a mask."""

    def __call__(self, tokens: jax.Array) -> jax.Array:
        return tokens


class Writes(eqx.Module):
    """Can be told a target, but cannot write by itself: `start` is not told how much will be asked for."""

    def __call__(self, source: jax.Array, mask: jax.Array, told: jax.Array, told_mask: jax.Array) -> jax.Array:
        return jnp.zeros((len(told), 4))

    def encode(self, source: jax.Array, mask: jax.Array) -> jax.Array:
        return jnp.zeros(4)

    def start(self, memory: jax.Array) -> jax.Array:
        return memory

    def step(self, state: jax.Array, token: jax.Array) -> tuple[jax.Array, jax.Array]:
        return state, state


@settings
class MadeOfRaises(AnswersOnce):
    """Its network raises an error."""

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: Any) -> Any:
        """The network."""
        return Raises()


@settings
class MadeOfWrites(AnswersOnce):
    """Its network can be trained, but not asked."""

    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.SEQUENCE_TO_SEQUENCE,)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: Any) -> Any:
        """The network."""
        return Writes()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            MadeOfRaises,
            r"raised TypeError.*\(given arrays of shape \(7,\), \(7,\)\)\. Fix its __call__; .*docs/jax\.md",
        ),
        (MadeOfWrites, r"start\(\) takes 2 positional.*Fix its encode, start and step"),
        (WronglyGated, r"'outside' cannot be registered\. \.cell\.recurrent has joins_drive=True"),
        (WithoutProblems, r"'outside' does not declare which problems.*problems = \(ProblemKind"),
        (AnswersOnce, r"returns an array of shape \(4,\) for 7 steps.*of shape \(7, 4\)"),
    ],
)
def test_a_wrong_model_is_refused(model: type, message: str):
    with pytest.raises(UsageError, match=message):
        models.register("outside", version=1)(model)
    assert "outside" not in models.names()


def test_a_right_model_is_registered(registrations_undone: None):
    models.register("outside", version=1)(Gated)
    assert models.get("outside") is Gated


def test_without_jax_nothing_is_built(monkeypatch: pytest.MonkeyPatch, registrations_undone: None):
    monkeypatch.setattr("humboldt.models.find_spec", lambda name: None)
    models.register("outside", version=1)(WronglyGated)
