"""Greedy decoding and target likelihoods of sequence-to-sequence ensembles."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from humboldt.languages import Batch
from humboldt.models.networks.sequence_to_sequence.base import AbstractSequenceToSequence
from humboldt.training.ensemble.members import over_members, pad_members
from humboldt.training.ensemble.steps import Examples, all_logits, nats_per_symbol

SHORTEST_SOURCE = 16  # sources are padded to this or to 2, 4, 8, ... times as much, so that few programs are compiled
SHORTEST_CAP = 32  # symbols of room at first; outputs that do not end get eight times as many
FEWEST_ROWS = {"cpu": 16, "accelerator": 64}  # rows are padded to this number or to 4, 16, ... times as many


class Decoding(NamedTuple):
    """State of greedy decoding. `said` has room for all symbols; `ended` marks the rows that are complete."""

    time: Int[Array, ""]
    states: PyTree
    last: Int[Array, "*member batch"]
    ended: Bool[Array, "*member batch"]
    said: Int[Array, "*member batch time"]


@eqx.filter_jit
def _greedy(
    weights: PyTree, static: PyTree, source: Array, mask: Array, start: int, end: int, longest: int
) -> Int[Array, "member batch time"]:
    """Decodes all rows of all members, one symbol after the other, until all have ended."""

    def begin(model: PyTree) -> PyTree:
        return jax.vmap(lambda source, mask: model.start(model.encode(source, mask), longest))(source, mask)

    def advance(model: PyTree, states: PyTree, tokens: Int[Array, " batch"]) -> tuple[PyTree, Int[Array, " batch"]]:
        states, logits = jax.vmap(model.step)(states, tokens)
        return states, logits.argmax(-1).astype(jnp.int32)

    def decode(begin: Any, advance: Any, model: PyTree, shape: tuple[int, ...]) -> Int[Array, "*member batch time"]:
        def body(now: Decoding) -> Decoding:
            states, symbols = advance(model, now.states, now.last)
            symbols = jnp.where(now.ended, end, symbols)
            said = jax.lax.dynamic_update_index_in_dim(now.said, symbols, now.time, now.said.ndim - 1)
            return Decoding(now.time + 1, states, symbols, now.ended | (symbols == end), said)

        first = Decoding(
            jnp.zeros((), jnp.int32),
            begin(model),
            jnp.full(shape, start, jnp.int32),
            jnp.zeros(shape, bool),
            jnp.full((*shape, longest), end, jnp.int32),
        )
        return jax.lax.while_loop(lambda now: (now.time < longest) & ~now.ended.all(), body, first).said

    if jax.default_backend() == "cpu":  # members are decoded one after the other
        return jax.lax.map(lambda weights: decode(begin, advance, settled(weights, static), mask.shape[:1]), weights)
    # One loop for all members: a vectorised loop would copy its whole state at every symbol.
    count = jax.tree.leaves(weights)[0].shape[0]
    models = eqx.filter_vmap(lambda weights: settled(weights, static))(weights)
    return decode(eqx.filter_vmap(begin), eqx.filter_vmap(advance), models, (count, *mask.shape[:1]))


def settled(weights: PyTree, static: PyTree) -> PyTree:
    """Returns a model, prepared for many steps."""
    model = eqx.combine(weights, static)
    return model.settled() if isinstance(model, AbstractSequenceToSequence) else model


def greedy_outputs(
    weights: PyTree, static: PyTree, batch: Batch, *, start: int, end: int, longest: int
) -> Int[np.ndarray, "member batch time"]:
    """Returns at most `longest` symbols for each source, filled with the end symbol."""

    def decode(source: Array, mask: Array, cap: int) -> Array:
        return _greedy(weights, static, source, mask, start, end, cap)

    return in_growing_room(decode, batch, end=end, longest=longest)


def in_growing_room(
    decode: Callable[[Array, Array, int], Array], batch: Batch, *, end: int, longest: int
) -> Int[np.ndarray, "member batch time"]:
    """Returns outputs for the sources of a batch. `decode` takes sources, their mask and the number of symbols of room.

    Most outputs are short, and room for a long one costs memory and time at every symbol. So decoding begins with
    little room, and rows that are not complete for all members are decoded again with more.
    """
    outputs = None
    left, cap = np.arange(len(batch.tokens)), min(SHORTEST_CAP, longest)
    padded = batch.padded(_grown(SHORTEST_SOURCE, 2, batch.time), batch.target_time)
    fewest = FEWEST_ROWS["cpu" if jax.default_backend() == "cpu" else "accelerator"]
    while len(left):
        rows = np.resize(left, _grown(fewest, 4, len(left)))
        source, mask = jnp.asarray(padded.tokens[rows]), jnp.asarray(padded.mask[rows])
        said = np.asarray(decode(source, mask, cap))[:, : len(left)]
        if outputs is None:
            outputs = np.full((len(said), len(batch.tokens), longest), end, np.int32)
        outputs[:, left, :cap] = said
        if cap == longest:
            break
        left = left[~(said == end).any(-1).all(0)]
        cap = min(8 * cap, longest)
    assert outputs is not None, "a batch has rows"
    return outputs


def _grown(size: int, factor: int, needed: int) -> int:
    """Returns the smallest `size * factor**k` that is at least `needed`."""
    while size < needed:
        size *= factor
    return size


@eqx.filter_jit
def _each_symbol(
    weights: PyTree, static: PyTree, examples: Examples, start: int, has_own_examples: bool
) -> tuple[Float[Array, "..."], Bool[Array, "..."]]:
    """Returns the nats of every target symbol, and whether it is the most probable, given the targets before it."""

    def of_member(weights: PyTree, examples: Examples) -> tuple[Array, Array]:
        logits = all_logits(eqx.combine(weights, static), examples, start, None)
        return jax.vmap(nats_per_symbol)(logits, examples.targets), logits.argmax(-1) == examples.targets

    return over_members(of_member, (0, 0 if has_own_examples else None))(weights, examples)


def nats_of_targets(weights: PyTree, static: PyTree, batch: Batch, *, start: int) -> Float[np.ndarray, "member batch"]:
    """Returns minus the log-probability of every row's targets. The batch may have an axis of members."""
    nats, _ = _of_targets(weights, static, batch, start)
    return np.where(batch.target_mask, np.asarray(nats, np.float64), 0).sum(-1)  # in double precision: long strings


def correct_targets(weights: PyTree, static: PyTree, batch: Batch, *, start: int) -> Int[np.ndarray, "member batch"]:
    """Returns the number of target symbols of every row that are the most probable, given the targets before them."""
    _, is_right = _of_targets(weights, static, batch, start)
    return (batch.target_mask & np.asarray(is_right)).sum(-1)


def _of_targets(weights: PyTree, static: PyTree, batch: Batch, start: int) -> tuple[Any, Any]:
    count = jax.tree.leaves(weights)[0].shape[0]
    surplus = pad_members(count) - count
    has_own_examples = batch.tokens.ndim == 3

    def filled(array: Any) -> Any:
        return jnp.concatenate([jnp.asarray(array), *[jnp.asarray(array[-1:])] * surplus]) if surplus else array

    examples = Examples(*(getattr(batch, name) for name in Examples._fields))
    examples = jax.tree.map(filled, examples) if has_own_examples else examples
    results = _each_symbol(jax.tree.map(filled, weights), static, examples, start, has_own_examples)
    return jax.tree.map(lambda x: x[:count], results)
