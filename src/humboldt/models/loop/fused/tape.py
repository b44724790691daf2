"""The loop over time of a Tape-RNN as one CUDA kernel forward and one backward: `cuda/tape.cu`.

As in `kernels`, whose layouts these are, all arrays begin with axes of members and examples.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from humboldt.models.cells.base import Extent
from humboldt.models.loop.fused.kernels import (
    CELL,
    RNN_ROWS,
    Forward,
    Gradients,
    _array,
    _fragments,
    _last_padded,
    _padded,
    _sizes,
    _split,
    readout_taps,
)
from humboldt.models.loop.fused.launch import launch, read
from humboldt.models.memories.tape import Tape

HIDDEN = 256  # of the kernel; fewer units are padded
INNER = 64  # units of each of the two layers between the hidden state and the value to write
ACTIONS = 5
LAYERS = ("first", "second", "value")  # from the hidden state to the value
BYTES = 8 * HIDDEN * 32 + 2 * HIDDEN**2 + 2 * 640 * 16  # of shared memory: states, weights and inner layers


class TapeKernel(NamedTuple):
    """Sizes and switches of a tape that its kernel is launched with."""

    cells: int  # in memory; the rings of all examples are even, and not larger
    jumps_write: bool


def is_known(tape: Tape) -> bool:
    """Returns whether there is a kernel for a tape: one tape, whose ring is never odd, as frequencies are in pairs."""
    sizes = [layer.weight.shape[1] for layer in tape.value]
    return type(tape) is Tape and tape.num_tapes == 1 and tape.smallest % 2 == 0 and sizes[:-1] == [INNER, INNER]


def start_of(tape: Tape, extent: Extent) -> tuple[TapeKernel, Int[Array, " 2"]]:
    """Returns the kernel for a run, and what differs between examples: the cells of the ring, and of a jump."""
    empty = tape.init(extent)
    return TapeKernel(empty.cells.shape[1], tape.jumps_write), jnp.stack([empty.ring, empty.jump]).astype(jnp.int32)


def weights_of(tape: Tape, bias: Callable[[Any], Array]) -> dict[str, Array]:
    """Returns the layers on the hidden state."""
    layers = dict(zip(LAYERS, tape.value, strict=True)) | {"action": tape.action}
    weights = {name: layer.weight for name, layer in layers.items()}
    return weights | {f"{name}_bias": bias(layer) for name, layer in layers.items()}


def taps_of(
    weights: Mapping[str, Array], notes: Mapping[str, Array], always: Array, recorded: Callable[..., Any]
) -> tuple[dict[str, Array], list[Array]]:
    """Returns stand-ins for the outputs of the layers of the value at all steps, and the scales of their gradients."""
    inputs = {"first": notes["before"], "second": notes["first"], "value": notes["second"]}
    outputs, scales = {}, []
    for name, x in inputs.items():
        products = recorded([weights[name]], [x]), recorded([weights[f"{name}_bias"][None]], [always])
        outputs[name] = products[0][0] + products[1][0]
        scales += [scale for _, scale in products]
    return outputs, scales


def forward(
    kernel: TapeKernel,
    weights: Mapping[str, Array],
    table: Float[Array, "member symbol drive"],
    strings: Int[Array, "*member example numbers"],
    *,
    keeps: bool = True,
) -> Forward:
    """Runs a loop from a state of zeros and an empty tape.

    **Arguments:**

    - `weights`: `recurrent` (member, hidden, drive), `reading` (member, cell, drive), and the layers from the hidden
      state to the value, `first`, `second` and `value`, and to the logits of the actions, `action`, with their biases.
      With a readout, `readout` (member, hidden, class).
    - `table`: what each symbol adds to the drive, biases included.
    - `strings`: symbols, then the number of cells of the ring and that of a jump. Without axis of members, all members
      read the same.
    - `keeps`: whether a backward pass follows.
    """
    symbols, places = strings[..., :-2], strings[..., -2:]
    members, (batch, steps), size = len(table), symbols.shape[-2:], weights["recurrent"].shape[1]
    kept = (members, batch, steps) if keeps else (1, 1, 1)
    half = kernel.cells // 2
    readout = weights.get("readout", jnp.zeros((members, size, 0), jnp.float32))
    classes = readout.shape[2]
    layers = {
        "reading": _twice(_padded(weights["reading"], CELL, HIDDEN).swapaxes(1, 2)),
        "first": _padded(weights["first"], HIDDEN, INNER).swapaxes(1, 2),
        "action": _padded(jnp.concatenate([weights["action"], readout], 2), HIDDEN, 16).swapaxes(1, 2),
        "second": weights["second"].swapaxes(1, 2),
        "value": _padded(weights["value"], INNER, 16).swapaxes(1, 2),
    }
    widths = {"first": INNER, "second": INNER, "value": 16, "action": 16}
    bias = [_last_padded(weights[f"{name}_bias"], width) for name, width in widths.items()]
    states, logits, _, before, last, masks, read_, first, second, tapes, acted = launch(
        read("tape_forward_256"),
        "tape_forward",
        (
            _array((1,) if classes else (members, batch, steps, HIDDEN), jnp.float32),
            _array((members, batch, steps, classes) if classes else (1,), jnp.float32),
            _array((members, batch, 4, half, 4), jnp.float32),
            _array((*kept, HIDDEN), jnp.bfloat16),
            _array((members, batch, 1, HIDDEN) if keeps and classes else (1,), jnp.bfloat16),
            _array((*kept, HIDDEN // 8), jnp.uint8),
            _array((*kept, CELL), jnp.bfloat16),
            _array((*kept, INNER), jnp.bfloat16),
            _array((*kept, INNER), jnp.bfloat16),
            _array((*kept, 2, half if keeps else 1, 8), jnp.bfloat16),
            _array((*kept, 16), jnp.float32),
        ),
        _sizes(symbols, table.shape[1], keeps, classes, half, kernel.jumps_write),
        symbols,
        places[..., 0],
        _turns(places, half),
        *_split(_padded(weights["recurrent"], HIDDEN, HIDDEN).swapaxes(1, 2)),
        _padded(table, table.shape[1], HIDDEN),
        _as_fragments(layers),
        jnp.concatenate(bias, 1),
        blocks=members * -(-batch // RNN_ROWS),
        threads=2 * HIDDEN,
        shared_memory=BYTES + 2 * 1024 + 640 + 512,
    )
    outputs = logits if classes else states[..., :size]
    if not keeps:
        return Forward(outputs, {}, ())
    notes = {"before": before[..., :size], "read": read_[..., : weights["reading"].shape[1]]}
    notes |= {"first": first, "second": second, **({"last": last[..., :size]} if classes else {})}
    residuals = masks, first, second, tapes, acted, jnp.broadcast_to(places, (members, batch, 2))
    return Forward(outputs, notes, residuals)


def backward(
    kernel: TapeKernel,
    weights: Mapping[str, Array],
    residuals: tuple[Array, ...],
    d_outputs: Float[Array, "member example time hidden_or_class"],
) -> Gradients:
    """Returns the gradients of the drives of all steps, and of the outputs of all layers, given those of all outputs
    (with a readout, logits).

    As in `Gradients`, row t of the latter is for step t - 1.
    """
    masks, first, second, tapes, acted, places = residuals
    members, batch, steps, _ = d_outputs.shape
    half, size = kernel.cells // 2, weights["recurrent"].shape[1]
    readout = weights.get("readout", jnp.zeros((members, size, 0), jnp.float32))
    classes = readout.shape[2]
    layers = {
        "reading": _padded(weights["reading"], 16, HIDDEN),
        "first": _padded(weights["first"], HIDDEN, INNER),
        "action": _twice(_padded(weights["action"], HIDDEN, CELL)),
        "second": weights["second"],
        "value": _twice(_padded(weights["value"], INNER, CELL)),
        "readout": _twice(_padded(readout, HIDDEN, CELL)),
    }
    _, d_drive, d_first, d_second, d_taps = launch(
        read("tape_backward_256"),
        "tape_backward",
        (
            _array((members, batch, 4, half, 4), jnp.float32),
            _array((members, batch, steps, HIDDEN), jnp.bfloat16),
            _array((members, batch, steps, INNER), jnp.bfloat16),
            _array((members, batch, steps, INNER), jnp.bfloat16),
            _array((members, batch, steps, 16), jnp.bfloat16),
        ),
        _sizes(jax.ShapeDtypeStruct((members, batch, steps), jnp.int32), 0, True, classes, half, kernel.jumps_write),
        places[..., 0],
        _turns(places, half),
        *_split(_padded(weights["recurrent"], HIDDEN, HIDDEN)),
        _as_fragments(layers),
        masks,
        first,
        second,
        tapes,
        acted,
        d_outputs if classes else _last_padded(d_outputs, HIDDEN),
        blocks=members * -(-batch // RNN_ROWS),
        threads=2 * HIDDEN,
        shared_memory=BYTES + 4 * 1024,
    )
    values = {"value": d_taps[..., : weights["value"].shape[2]], "action": d_taps[..., CELL : CELL + ACTIONS]}
    ones = jnp.ones((members, batch), jnp.float32)
    values |= readout_taps(d_outputs, ones[:, 0], jnp.bfloat16) if classes else {}
    return Gradients(d_drive[..., :size], {"first": d_first, "second": d_second} | values, ones)


def _turns(places: Int[Array, "*member example 2"], half: int) -> Float[Array, "*member example half 4"]:
    """Returns the cosines and sines of the angles by which a move of one cell, and a jump, turn each frequency.

    Frequency 0 does not turn; its place has, instead of sines, the cosines of the frequency of half the ring.
    """
    ring, jump = places[..., :1, None], places[..., 1:, None]
    moves = jnp.concatenate([jnp.ones_like(jump), jump % ring], -1)  # of one cell, and a jump
    frequency = jnp.arange(half, dtype=jnp.int32).reshape(*[1] * (places.ndim - 1), half, 1)
    turned = frequency * moves % ring  # in cells of the ring, all of which are a full turn
    angles = (2 * np.pi) * (jnp.where(2 * turned > ring, turned - ring, turned) / ring).astype(jnp.float32)
    sines = jnp.sin(angles).at[..., 0, :].set((1 - 2 * (moves % 2))[..., 0, :].astype(jnp.float32))
    return jnp.stack([jnp.cos(angles), sines], -1).reshape(*places.shape[:-1], half, 4)


def _as_fragments(layers: Mapping[str, Float[Array, "member row column"]]) -> Array:
    """Returns high and low parts of matrices in the order in which the threads of a warp have them in registers."""

    def one(x: Array) -> Array:
        members, rows, columns = x.shape
        return _fragments(x.reshape(-1, 16, columns)).reshape(members, rows * columns)

    parts = zip(*(_split(x) for x in layers.values()), strict=True)
    return jnp.stack([jnp.concatenate([one(x) for x in part], 1) for part in parts], 1)


def _twice(x: Array) -> Array:
    return jnp.concatenate([x, x], 2)
