"""Beam search: finds likely outputs by extending a few hypotheses in parallel."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from humboldt.languages import Batch
from humboldt.training.ensemble.decode import in_growing_room, settled


class Beams(NamedTuple):
    """The hypotheses of every row after some symbols, the most probable first."""

    time: Int[Array, ""]
    states: PyTree  # leading axis: hypotheses of all rows
    last: Int[Array, "batch beam"]
    ended: Bool[Array, "batch beam"]
    log_probability: Float[Array, "batch beam"]
    said: Int[Array, "batch beam time"]


@eqx.filter_jit
def _search(
    weights: PyTree, static: PyTree, source: Array, mask: Array, start: int, end: int, longest: int, beam: int
) -> Int[Array, "member batch time"]:
    """Searches all rows, one member after the other. A row is finished when its most probable hypothesis has ended:
    longer ones can only become less probable."""
    rows = len(source)

    def chosen(values: Array, which: Int[Array, "batch beam"]) -> Array:
        """Returns the values of the hypotheses of each row with these numbers."""
        own = values.reshape(rows, beam, *values.shape[1:])
        return jnp.take_along_axis(own, which.reshape(rows, beam, *[1] * (own.ndim - 2)), 1).reshape(values.shape)

    def of_member(weights: PyTree) -> Array:
        model = settled(weights, static)
        states = jax.vmap(lambda source, mask: model.start(model.encode(source, mask), longest))(source, mask)

        def body(now: Beams) -> Beams:
            states, logits = jax.vmap(model.step)(now.states, now.last.reshape(-1))
            steps = jax.nn.log_softmax(logits.astype(jnp.float32)).reshape(rows, beam, -1)
            size = steps.shape[-1]
            # A hypothesis that has ended continues with the end symbol, at no cost.
            resting = jnp.where(jnp.arange(size) == end, 0.0, -jnp.inf)
            steps = jnp.where(now.ended[..., None], resting, steps)
            totals = (now.log_probability[..., None] + steps).reshape(rows, -1)
            log_probability, places = jax.lax.top_k(totals, beam)
            which, symbols = places // size, (places % size).astype(jnp.int32)
            said = jnp.take_along_axis(now.said, which[..., None], 1)
            return Beams(
                now.time + 1,
                jax.tree.map(lambda x: chosen(x, which), states),
                symbols,
                jnp.take_along_axis(now.ended, which, 1) | (symbols == end),
                log_probability,
                jax.lax.dynamic_update_index_in_dim(said, symbols, now.time, 2),
            )

        first = Beams(
            jnp.zeros((), jnp.int32),
            jax.tree.map(lambda x: jnp.repeat(x, beam, 0), states),
            jnp.full((rows, beam), start, jnp.int32),
            jnp.zeros((rows, beam), bool),
            jnp.tile(jnp.where(jnp.arange(beam) == 0, 0.0, -jnp.inf), (rows, 1)),  # one at first
            jnp.full((rows, beam, longest), end, jnp.int32),
        )
        done = jax.lax.while_loop(lambda now: (now.time < longest) & ~now.ended[:, 0].all(), body, first)
        return done.said[:, 0]

    return jax.lax.map(of_member, weights)


def beam_outputs(
    weights: PyTree, static: PyTree, batch: Batch, *, start: int, end: int, longest: int, beam: int
) -> Int[np.ndarray, "member batch time"]:
    """Returns the most probable outputs, as `greedy_outputs` does with a beam of one; there is no length penalty."""

    def search(source: Any, mask: Any, cap: int) -> Array:
        return _search(weights, static, source, mask, start, end, cap, beam)

    return in_growing_room(search, batch, end=end, longest=longest)
