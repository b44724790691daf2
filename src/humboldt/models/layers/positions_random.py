"""Randomised positions: the positions of a string are a sorted random subset of many places (Ruoss et al. 2023)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from humboldt.errors import UsageError


def draw_places(
    length: int | Int[Array, ""], num_positions: int, num_places: int, *, key: PRNGKeyArray | None = None
) -> Int[Array, " position"]:
    """Draws the places of a string: `length` of `0, ..., num_places - 1` without repetition, in increasing order.

    All layers use the same places. Places of padding (positions from `length` to `num_positions`) are
    `num_places - 1`; `num_positions` does not change the others, and may be larger than `num_places`. A plan refuses
    strings that are themselves longer (`humboldt.models.forms.check_fits`). Without a key (in tests) the places depend
    on `length` alone, so that a score can be repeated. Different lengths have different places.

    Departures from the released code, which draws one subset for a whole batch and all its strings: here every string
    of a training batch has a subset of its own. For ALiBi and relative positions the released code draws distances,
    and its distances to the right all get the same encoding, since they are beyond the end of its table. Here these two
    encodings use the distances of the drawn places.
    """
    if isinstance(length, int) and length > num_places:
        raise UsageError(
            f"A string of {length:,} tokens needs as many places, but num_places={num_places:,}. Make num_places "
            "larger, or the strings shorter."
        )
    key = jax.random.fold_in(jax.random.key(0), length) if key is None else key
    ranks = jax.random.permutation(key, num_places)
    return jnp.nonzero(ranks < length, size=num_positions, fill_value=num_places - 1)[0].astype(jnp.int32)
