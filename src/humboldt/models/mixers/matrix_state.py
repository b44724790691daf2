"""A matrix per head as a memory: keys write values into it, queries read them.

For every token the state `S` is multiplied by a decay, row by row, then written to one or more times, then read:

- `S <- diag(decay) S`
- `S <- S + strength k (v - kᵀS)ᵀ` for each write, which replaces what `k` had stored (the delta rule), or
  `S <- S + k vᵀ` where there are no strengths
- `y = qᵀS`
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

State = Float[Array, "heads key value"]
Decay = Float[Array, "heads key_or_one"]

# Tokens that are read at once, see `read_all`. Processor time of four sequences of length 500 on two cores (other
# programs ran beside it), width 128 in 4 heads, forward and with the gradient, in ms:
#              step by step   chunks of 8   of 16
#   deltanet      18, 138       15, 62      10, 60
#   gla            7,  71       10, 30      13, 54
CHUNK = 16
VECTOR_CHUNK = 8  # with a decay per feature, which takes memory for each feature of each pair of tokens


# For `read_all_shared`, on any backend. Processor time of the gradient of two blocks of Mamba-2 (160 sequences, width
# 32, 4 heads, state 128, two busy cores) at lengths 40 and 80, in ms: chunks of 32, the last one padded, 282, 502; even
# ones of at most 64, 158, 406. A GPU was not measured.
SHARED_CHUNK = 64

# Numbers in the state of a head up to which a CPU reads tokens one by one, where there is erasure or a decay per
# feature. Processor time of the gradient for 32 sequences, 4 heads, on two busy cores, in ms:
#   key x value, length     one by one   chunks
#   8 x 16,  80, one write       6.6      12.1
#   8 x 16,  80, two writes     10.8      42.4
#   16 x 32, 40, one write      22.6       8.5
#   32 x 64, 40, one write      83.7      13.9
# A decay per feature, 96 sequences, 8 x 16, length 40: 8.2 and 12.2. Without either: 8.3 and 7.3.
SMALL_STATE = 128

# Tokens that a CPU reads at once where there is neither, and a head has more numbers than that. Processor time of the
# gradient for 160 sequences of length 40, 22 x 23, in ms: one by one 69, chunks of 16 43, of 40 26.
LONG_CHUNK = 64


def write(
    state: State,
    log_decay: Decay,
    keys: Float[Array, "writes heads key"],
    values: Float[Array, "writes heads value"],
    strengths: Float[Array, "writes heads"] | None,
) -> State:
    """Returns the state after one token."""
    state = state * jnp.exp(log_decay)[:, :, None]
    for i in range(len(keys)):
        value = values[i]
        if strengths is not None:
            value = strengths[i][:, None] * (value - read(state, keys[i]))
        state = state + keys[i][:, :, None] * value[:, None, :]
    return state


def read(state: State, query: Float[Array, "heads key"]) -> Float[Array, "heads value"]:
    """Returns what the state holds for a query."""
    return jnp.einsum("hk,hkv->hv", query, state)


def read_all(
    queries: Float[Array, "time heads key"],
    log_decays: Float[Array, "time heads key_or_one"],
    keys: Float[Array, "time writes heads key"],
    values: Float[Array, "time writes heads value"],
    strengths: Float[Array, "time writes heads"] | None,
    *,
    chunk: int | None = None,
) -> Float[Array, "time heads value"]:
    """Returns what `write` and `read` give for all tokens, `chunk` tokens at a time; 1 is the plain loop. Without a
    number, the form is the one that was measured to be faster.

    Within a chunk all writes are computed together, by one triangular system of equations (the WY form of Yang et al.
    2024, with decays as in Gated DeltaNet): only the state between chunks is carried along. Every exponent is a sum of
    log decays over a stretch of the chunk, which is at most zero, so nothing overflows.
    """
    num_steps, num_writes = keys.shape[:2]
    chunk = max(1, min(best_chunk(log_decays, keys, values, strengths) if chunk is None else chunk, num_steps))
    if chunk == 1:
        return _one_by_one(queries, log_decays, keys, values, strengths)
    num_chunks, chunk = _even(num_steps, chunk)

    def by_chunk(x: Array) -> Array:
        """Reshapes `time writes heads ...` to `chunks heads writes ...`. Padding writes nothing."""
        x = jnp.pad(x, [(0, num_chunks * chunk - num_steps)] + [(0, 0)] * (x.ndim - 1))
        return jnp.moveaxis(x.reshape(num_chunks, chunk * x.shape[1], *x.shape[2:]), 2, 1)

    # A token decays once, at its first write.
    decays = jnp.pad(log_decays[:, None], [(0, 0), (0, num_writes - 1), (0, 0), (0, 0)])
    so_far = jnp.cumsum(by_chunk(decays), 2)  # from the start of the chunk up to each write
    queries, keys, values = by_chunk(queries[:, None]), by_chunk(keys), by_chunk(values)
    at_reading = so_far[:, :, num_writes - 1 :: num_writes]
    to_end = so_far[:, :, -1:] - so_far

    token = jnp.arange(chunk * num_writes) // num_writes
    seen = _overlap(queries, at_reading, keys, so_far, jnp.arange(chunk)[:, None] >= token[None, :])
    if strengths is None:
        written, corrections = values, None
    else:
        strengths = by_chunk(strengths)[..., None]
        order = jnp.arange(chunk * num_writes)
        earlier = _overlap(strengths * keys, so_far, keys, so_far, order[:, None] > order[None, :])
        targets = jnp.concatenate([strengths * values, strengths * keys * jnp.exp(so_far)], -1)
        solved = _inverse_of_one_plus(earlier) @ targets
        written, corrections = solved[..., : values.shape[-1]], solved[..., values.shape[-1] :]

    def step(state: Array, inputs: tuple[Any, ...]) -> tuple[Array, Array]:
        asked, seen, keys, kept, written, corrections = inputs
        written = written if corrections is None else written - corrections @ state
        outputs = asked @ state + seen @ written
        return kept[:, 0, :, None] * state + jnp.swapaxes(keys, -1, -2) @ written, outputs

    state = jnp.zeros((*keys.shape[1:2], keys.shape[-1], values.shape[-1]), values.dtype)
    inputs = (
        queries * jnp.exp(at_reading),
        seen,
        keys * jnp.exp(to_end),
        jnp.exp(so_far[:, :, -1:]),
        written,
        corrections,
    )
    _, outputs = jax.lax.scan(step, state, inputs)
    return jnp.moveaxis(outputs, 1, 2).reshape(num_chunks * chunk, *state.shape[::2])[:num_steps]


def read_all_shared(
    queries: Float[Array, "time key"],
    log_decays: Float[Array, "time heads"],
    keys: Float[Array, "time key"],
    values: Float[Array, "time heads value"],
    *,
    chunk: int | None = None,
) -> Float[Array, "time heads value"]:
    """Returns what `read_all` gives without erasure, if all heads have the same queries and keys.

    Products of queries and keys are made once for all heads, and decays are applied to values instead of keys.
    """
    num_steps, heads = values.shape[:2]
    chunk = max(1, min(SHARED_CHUNK if chunk is None else chunk, num_steps))
    num_chunks, chunk = _even(num_steps, chunk)

    def by_chunk(x: Array) -> Array:
        x = jnp.pad(x, [(0, num_chunks * chunk - num_steps)] + [(0, 0)] * (x.ndim - 1))
        return x.reshape(num_chunks, chunk, *x.shape[1:])

    queries, keys, values = by_chunk(queries), by_chunk(keys), by_chunk(values)
    so_far = jnp.cumsum(by_chunk(log_decays), 1)
    allowed = jnp.tri(chunk, dtype=bool)[None, None]
    exponents = jnp.moveaxis(so_far[:, :, None] - so_far[:, None], 3, 1)
    decays = jnp.where(allowed, jnp.exp(jnp.where(allowed, exponents, 0.0)), 0.0)
    seen = (queries @ jnp.swapaxes(keys, 1, 2))[:, None] * decays
    outputs = jnp.einsum("chij,cjhv->cihv", seen, values)
    if num_chunks > 1:
        to_end = values * jnp.exp(so_far[:, -1:] - so_far)[..., None]
        added = jnp.einsum("cjk,cjhv->ckhv", keys, to_end)

        def step(state: Array, inputs: tuple[Array, Array]) -> tuple[Array, Array]:
            kept, added = inputs
            return kept[None, :, None] * state + added, state

        before = jax.lax.scan(step, jnp.zeros_like(added[0]), (jnp.exp(so_far[:, -1]), added))[1]
        outputs = outputs + jnp.einsum("cik,ckhv->cihv", queries, before) * jnp.exp(so_far)[..., None]
    return outputs.reshape(num_chunks * chunk, heads, -1)[:num_steps]


def _even(num_steps: int, most: int) -> tuple[int, int]:
    """Returns the least number of chunks of at most `most` tokens, and their size, so that little is padding."""
    num_chunks = -(-num_steps // most)
    return num_chunks, -(-num_steps // num_chunks)


def best_chunk(log_decays: Array, keys: Array, values: Array, strengths: Array | None) -> int:
    """Returns the number of tokens that are read fastest together, from the shapes of what `read_all` is given."""
    chunk = VECTOR_CHUNK if log_decays.shape[-1] > 1 else CHUNK
    if jax.default_backend() != "cpu":
        return chunk
    is_small = keys.shape[-1] * values.shape[-1] <= SMALL_STATE
    if strengths is None and chunk == CHUNK:
        return CHUNK if is_small else LONG_CHUNK
    return 1 if is_small else chunk


def _one_by_one(queries: Array, log_decays: Array, keys: Array, values: Array, strengths: Array | None) -> Array:
    """Returns what every token reads, in a loop over the tokens.

    Only states are stored for the gradient; the rest of a step is made again.
    """
    # Processor time of the gradient for 160 sequences of length 40, 4 heads, two busy cores, in ms:
    # 7 x 14, two writes 50 with all stored, 23 so; 8 x 16, one write 37, 13.

    @functools.partial(jax.checkpoint, prevent_cse=False)
    def step(state: Array, token: tuple[Any, ...]) -> tuple[Array, Array]:
        state = write(state, *token[1:])
        return state, read(state, token[0])

    state = jnp.zeros((*keys.shape[2:], values.shape[-1]), values.dtype)
    return jax.lax.scan(step, state, (queries, log_decays, keys, values, strengths))[1]


def _inverse_of_one_plus(strict: Float[Array, "chunks heads size size"]) -> Float[Array, "chunks heads size size"]:
    """Returns `(I + strict)⁻¹` of strictly lower triangular matrices.

    `[[a, 0], [b, c]]⁻¹ = [[a⁻¹, 0], [-c⁻¹ b a⁻¹, c⁻¹]]`, from blocks of size 1 upwards: a few products, and as exact as
    solving row by row. (XLA's own `triangular_solve` calls LAPACK on a CPU. A benchmark of its gradient was
    once seen to wait forever, all threads asleep, with JAX 0.10.2 on two busy cores.)
    """
    size = strict.shape[-1]
    full = 1 << (size - 1).bit_length()
    strict = jnp.pad(strict, [(0, 0), (0, 0), (0, full - size), (0, full - size)])
    inverse = jnp.ones((*strict.shape[:2], full, 1, 1), strict.dtype)
    while inverse.shape[-1] < full:
        block = inverse.shape[-1]
        pair = jnp.arange(full // (2 * block))
        blocks = strict.reshape(*strict.shape[:2], len(pair), 2, block, len(pair), 2, block)
        below = jnp.moveaxis(blocks[:, :, pair, 1, :, pair, 0, :], 0, 2)
        upper, lower = inverse[:, :, 0::2], inverse[:, :, 1::2]
        left = jnp.concatenate([upper, -lower @ below @ upper], -2)
        right = jnp.concatenate([jnp.zeros_like(lower), lower], -2)
        inverse = jnp.concatenate([left, right], -1)
    return inverse[:, :, 0, :size, :size]


def _overlap(left: Array, log_left: Array, right: Array, log_right: Array, allowed: Array) -> Array:
    """Returns `Σ_d left_id right_jd exp(log_left_id - log_right_jd)` where it is allowed, and zero elsewhere."""
    exponents = log_left[..., :, None, :] - log_right[..., None, :, :]
    allowed = allowed.reshape((1,) * (exponents.ndim - 3) + (*allowed.shape, 1))
    decays = jnp.where(allowed, jnp.exp(jnp.where(allowed, exponents, 0.0)), 0.0)
    if decays.shape[-1] == 1:
        return jnp.einsum("chid,chjd->chij", left, right) * decays[..., 0]
    return jnp.einsum("chid,chjd,chijd->chij", left, right, decays)
