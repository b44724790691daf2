"""Multi-head attention on an H100 or H200, as one CUDA kernel forward and one backward: `attention.cu`.

All arrays begin with axes of members and examples. The weights of positions have only that of members; either axis of a
mask has length 1 if it is the same for all.
"""

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, UInt32

from humboldt.models.layers.positions import alibi_slopes
from humboldt.models.loop.fused.launch import launch, read

HEAD_SIZES = (8, 16, 32, 64)  # of the kernels; heads of other sizes are padded there
STRIP, CHUNK = 16, 32  # queries of a warp, and keys that it reads at once
MOST = 128  # queries of a block; keys in shared memory, and all keys if a backward pass follows
SHARED_MEMORY = 232_448  # bytes that a block may have

Queries = Float[Array, "member example query head size"]
Keys = Float[Array, "member example key head size"]
Mask = Bool[Array, "#member #example query key"]


class Form(NamedTuple):
    """The kinds of positions. `relative`: scores by distance, with the weights `table`, `content_bias` and
    `distance_bias`."""

    relative: bool = False
    alibi: bool = False


class Sizes(NamedTuple):
    """The sizes on which it depends whether the kernels can run."""

    size: int  # of a head
    queries: int
    keys: int


class Gradients(NamedTuple):
    """Gradients of queries, keys, values and, for each example, of the weights of positions."""

    queries: Queries
    keys: Keys
    values: Keys
    weights: dict[str, Array]


def fits(form: Form, sizes: Sizes, *, gradients: bool = True) -> str | None:
    """Returns why the kernels cannot run; `None` if they can."""
    if not 8 <= sizes.size <= HEAD_SIZES[-1] or sizes.size % 8:
        return f"the kernel is for heads of 8, 16, 24, ... or {HEAD_SIZES[-1]} numbers, not {sizes.size}"
    if gradients and not max(sizes.queries, sizes.keys) <= MOST:
        return f"in training the kernel is for at most {MOST} tokens, not {max(sizes.queries, sizes.keys)}"
    if gradients and _backward_memory(form, sizes) > SHARED_MEMORY:
        return f"{sizes.queries} tokens in heads of {sizes.size} numbers need more memory than a block has"
    return None


def forward(
    form: Form, queries: Queries, keys: Keys, values: Keys, mask: Mask, weights: Mapping[str, Array]
) -> tuple[Queries, Float[Array, "member example head query"]]:
    """Returns what every head reads, and for the backward pass the logarithm of each sum of exponentials.

    **Arguments:**

    - `mask`: which query sees which key. A query that sees none reads zeros.
    - `weights`: for relative positions `table` (member, distance, head, size), whose first row is for the last query
      and the first key, `content_bias` and `distance_bias` (both member, head, size).
    """
    members, examples, num_queries, heads, _ = queries.shape
    sizes = _sizes_of(queries, keys)
    strips = min(MOST, _up(sizes.queries, STRIP)) // STRIP
    tiles = -(-sizes.queries // MOST)
    rows, key_rows, row = STRIP * strips, min(MOST, _up(sizes.keys, CHUNK)), _kernel_size(sizes.size) + 4
    memory = 4 * row * 2 * key_rows
    if form.relative:
        memory += 4 * row * (key_rows + rows) + 4 * rows * _scratch(form)
    found = launch(
        read(_name(form, "forward", sizes)),
        "attention_forward",
        (_like(queries), _array((members, examples, heads, num_queries))),
        *_first(form, queries, keys, mask),
        *(queries, keys, values),
        *_positions(form, weights),
        blocks=members * examples * tiles * heads,
        threads=32 * strips,
        shared_memory=memory,
    )
    return found[0], found[1]


def backward(
    form: Form,
    queries: Queries,
    keys: Keys,
    values: Keys,
    mask: Mask,
    weights: Mapping[str, Array],
    outputs: Queries,
    logarithms: Float[Array, "member example head query"],
    d_outputs: Queries,
) -> Gradients:
    """Returns the gradients, given the results of `forward` and the gradient of its first one."""
    members, examples, _, heads, _ = queries.shape
    sizes = _sizes_of(queries, keys)
    results = [_like(queries), _like(keys), _like(values)]
    names = ("table", "content_bias", "distance_bias") if form.relative else ()
    results += [_array((members, examples, *weights[name].shape[1:])) for name in names]
    found = launch(
        read(_name(form, "backward", sizes)),
        "attention_backward",
        tuple(results),
        *_first(form, queries, keys, mask),
        *(queries, keys, values),
        *_positions(form, weights),
        *(outputs, logarithms, d_outputs),
        blocks=members * examples * heads,
        threads=2 * _up(sizes.queries, STRIP),
        shared_memory=_backward_memory(form, sizes),
    )
    return Gradients(found[0], found[1], found[2], dict(zip(names, found[3:], strict=True)))


def _backward_memory(form: Form, sizes: Sizes) -> int:
    """Returns the bytes of shared memory: rows of queries, keys and distances; notes for all queries and a chunk."""
    queries, keys = _up(sizes.queries, STRIP), _up(sizes.keys, CHUNK)
    rows = 2 * keys + 2 * queries
    if form.relative:
        rows += queries + 2 * (queries + keys)
    return 4 * (rows * (_kernel_size(sizes.size) + 4) + queries * (_scratch(form) + CHUNK + 4))


def _scratch(form: Form) -> int:
    return 52 if form.relative else CHUNK + 4


def _first(
    form: Form, queries: Array, keys: Array, mask: Array
) -> tuple[Array, Array, UInt32[Array, "m e query word"]]:
    """Returns what both kernels need first: `struct AttentionSizes`, numbers, and the mask with a bit for each key."""
    _, examples, num_queries, heads, size = queries.shape
    num_keys = keys.shape[2]
    of_example = 0 if mask.shape[1] == 1 else num_queries
    of_member = 0 if mask.shape[0] == 1 else mask.shape[1] * num_queries
    sizes = [examples, heads, num_queries, num_keys, size, of_member, of_example, form.alibi]
    numbers = [size**-0.5, *(alibi_slopes(heads) if form.alibi else [0.0] * heads)]
    bits = jnp.pad(mask, [(0, 0)] * 3 + [(0, -num_keys % 32)]).reshape(*mask.shape[:3], -1, 32)
    places = jnp.asarray(np.arange(32, dtype=np.uint32).reshape(1, 1, 1, 1, 32))
    words = (bits.astype(jnp.uint32) << places).sum(-1, dtype=jnp.uint32)
    return jnp.asarray(np.array(sizes, np.int32)), jnp.asarray(np.array(numbers, np.float32)), words


def _positions(form: Form, weights: Mapping[str, Array]) -> list[Array]:
    return [weights[name] for name in ("table", "content_bias", "distance_bias")] if form.relative else []


def _name(form: Form, direction: str, sizes: Sizes) -> str:
    return f"attention_{direction}_{_kernel_size(sizes.size)}{'_relative' if form.relative else ''}"


def _kernel_size(size: int) -> int:
    """Returns the size of the kernel for heads of this size."""
    return next(most for most in HEAD_SIZES if most >= size)


def _sizes_of(queries: Array, keys: Array) -> Sizes:
    return Sizes(queries.shape[4], queries.shape[2], keys.shape[2])


def _up(count: int, step: int) -> int:
    return -(-count // step) * step


def _array(shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _like(x: Array) -> jax.ShapeDtypeStruct:
    return _array(x.shape)
