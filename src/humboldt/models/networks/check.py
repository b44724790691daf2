"""Checks a model from outside Humboldt when it is registered, once, on a small network and short strings."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Int

from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError, contained
from humboldt.models.forms import form
from humboldt.models.loop.check import QUICK, check_gradients

SYMBOLS, OUTPUTS, TIME = 3, 4, 7
TOLERANCE = 1e-4  # of logits that ought to be the same


def check_model(name: str, model: Any) -> None:
    """Builds a small network and checks the shapes that it returns, and its gradients.

    The network is built with the model's `tiny` settings, if it has such a class variable.
    """
    settings = model(**getattr(model, "tiny", {}))
    build = eqx.filter_jit(lambda key: settings.build(SYMBOLS + 1, OUTPUTS, num_symbols=SYMBOLS, key=key))
    try:
        with contained():
            network = build(jax.random.key(0))
    except Exception:  # a run of this model will report it; the other models of its file must work
        return
    tokens = jnp.array([[0, 1, 2, 1, 0, 2, SYMBOLS], [1, 1, 0, SYMBOLS, SYMBOLS, 0, 0]], jnp.int32)
    mask = jnp.arange(TIME)[None, :] < jnp.array([[TIME], [5]])
    kind = ProblemKind.SEQUENCE_TO_SEQUENCE
    is_sequence_to_sequence = kind in model.problems and form(model, kind) == "encoder-decoder"
    arguments = (tokens[0], mask[0], tokens[0][:5], mask[0][:5]) if is_sequence_to_sequence else (tokens[0], mask[0])
    shape = _shape(name, "__call__", lambda network: network(*arguments), network, arguments)
    time = 5 if is_sequence_to_sequence else TIME
    if shape != (time, OUTPUTS):
        raise UsageError(
            f"The network of the model {name!r} returns an array of shape {shape} for {time} steps and {OUTPUTS} "
            f"outputs. It must return logits of shape {(time, OUTPUTS)}: one row for every step."
        )
    if is_sequence_to_sequence:
        decoded = _shape(name, "encode, start and step", lambda network: _first_symbol(network, *arguments), network)
        if decoded != (OUTPUTS,):
            raise UsageError(
                f"The network of the model {name!r} returns logits of shape {decoded} from `step`. It must return "
                f"those of one symbol, {(OUTPUTS,)}, after the next state."
            )
        return
    try:
        check_gradients(network, tokens, mask)
    except UsageError as error:
        raise UsageError(f"The model {name!r} cannot be registered. {error}") from None
    change = change_by_later_token(network, tokens[0])
    if change > TOLERANCE:
        # Registered anyway: it fits the kinds where later tokens may be seen. A plan of another kind raises this text.
        model.sees_ahead = (
            f"The network of the model {name!r} sees what comes after: a later token changes its answers by up to "
            f"{change:.2g}."
        )


def change_by_later_token(network: Any, tokens: Int[Array, " time"]) -> float:
    """Returns the largest change of any logits when the token after them is replaced, or is padding."""
    time = len(tokens)
    others = jnp.stack([tokens, tokens.at[time - 1].set((tokens[time - 1] + 1) % SYMBOLS), tokens])
    masks = jnp.ones((3, time), bool).at[2, time - 1].set(False)
    weights, static = eqx.partition(network, eqx.is_array)

    def logits(weights: Any) -> Array:
        network = eqx.combine(weights, static)
        return jax.vmap(lambda tokens, mask: network(tokens, mask))(others, masks)

    rows = jax.jit(logits).lower(weights).compile(compiler_options=QUICK)(weights)
    return float(jnp.abs(rows[1:, : time - 1] - rows[:1, : time - 1]).max())


def _first_symbol(network: Any, source: Array, mask: Array, told: Array, _: Array) -> Array:
    """Returns the logits of the first symbol, as in greedy decoding."""
    return network.step(network.start(network.encode(source, mask), len(told)), told[0])[1]


def _shape(
    name: str, method: str, ask: Callable[[Any], Array], network: Any, arguments: tuple[Array, ...] = ()
) -> tuple[int, ...]:
    try:
        with contained():
            return eqx.filter_eval_shape(ask, network).shape
    except Exception as error:
        shapes = f" (given arrays of shape {', '.join(str(array.shape) for array in arguments)})" if arguments else ""
        raise UsageError(
            f"The network of the model {name!r} raised {type(error).__name__}: {error}{shapes}. Fix its {method}; "
            "the arguments of networks are described in docs/jax.md."
        ) from error
