"""What a model from outside must promise: tried once, on a small network and short strings, when it is registered."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from humboldt.errors import UsageError
from humboldt.models.loop.check import check_gradients
from humboldt.problems import ProblemKind

SYMBOLS, OUTPUTS, TIME = 3, 4, 7


def check_model(name: str, model: Any) -> None:
    """Builds a small network and checks what it returns and how its gradients are taken.

    The network is made with the model's `tiny` settings, where it has such a class variable.
    """
    settings = model(**getattr(model, "tiny", {}))
    build = eqx.filter_jit(lambda key: settings.build(SYMBOLS + 1, OUTPUTS, num_symbols=SYMBOLS, key=key))
    try:
        network = build(jax.random.key(0))
    except Exception:  # a run of this model will tell; the others of its file shall work
        return
    tokens = jnp.array([[0, 1, 2, 1, 0, 2, SYMBOLS], [1, 1, 0, SYMBOLS, SYMBOLS, 0, 0]], jnp.int32)
    mask = jnp.arange(TIME)[None, :] < jnp.array([[TIME], [5]])
    is_sequence_to_sequence = ProblemKind.SEQUENCE_TO_SEQUENCE in model.problems
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
                f"those of one symbol, {(OUTPUTS,)}, behind the next state."
            )
        return
    try:
        check_gradients(network, tokens, mask)
    except UsageError as error:
        raise UsageError(f"The model {name!r} cannot be registered. {error}") from None


def _first_symbol(network: Any, source: Array, mask: Array, told: Array, _: Array) -> Array:
    """The logits of the first symbol, as they are asked for when a network writes by itself."""
    return network.step(network.start(network.encode(source, mask), len(told)), told[0])[1]


def _shape(
    name: str, method: str, ask: Callable[[Any], Array], network: Any, arguments: tuple[Array, ...] = ()
) -> tuple[int, ...]:
    try:
        return eqx.filter_eval_shape(ask, network).shape
    except Exception as error:
        shapes = f" (given arrays of shape {', '.join(str(array.shape) for array in arguments)})" if arguments else ""
        raise UsageError(
            f"The network of the model {name!r} raised {type(error).__name__}: {error}{shapes}. Mend its {method}; "
            "what networks are given is in docs/jax.md."
        ) from error
