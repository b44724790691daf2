"""The loop over time on an H100 or H200, as one CUDA kernel forward and one backward: those in `cuda`.

All arrays begin with axes of members and examples; weights and tables of symbols have only that of members. Here they
are brought into the layouts that the kernels read.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from humboldt.models.loop.fused.launch import launch, read

Activation = Literal["relu", "tanh"]

HIDDEN_SIZES = (64, 128, 256)  # of the kernels; others are padded
STACK_HIDDEN = 256
MAX_SYMBOLS = 32
CELL = 8  # numbers of a cell of a stack
STACK_STEPS = 81  # what lies deeper than half of the steps is never read again, and 40 cells fit into registers
TAPE_STEPS = 2**13  # the product of a jump and of a frequency has 32 bits
MAX_STEPS = 2**15  # offsets inside a block have 32 bits
RNN_ROWS, GATED_ROWS = 32, 128  # examples of a block, and of a cluster
GATED = ("lstm", "gru")  # drives of four parts for each unit
HEADROOM = 4  # gradients in float16 are at first smaller than 1 by that many binary digits, and may grow 2 ** 19 times


@runtime_checkable
class _Sizes(Protocol):
    """The sizes on which it depends whether a kernel can run a loop."""

    @property
    def hidden(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def symbols(self) -> int: ...
    @property
    def cell_size(self) -> int: ...


class Forward(NamedTuple):
    """Results of the forward pass. Without a backward pass to follow, there are outputs only."""

    outputs: Float[Array, "member example time hidden"]
    # In 16 bits, for the gradients of weights: `before`, the hidden state before each step, and `read`, what it read.
    notes: dict[str, Array]
    residuals: tuple[Array, ...]  # for the backward pass


class Gradients(NamedTuple):
    """Results of the backward pass: in 16 bits, gradients times `scale`, which is a power of two for each member."""

    d_drive: Float[Array, "member example time drive"]
    # Of the outputs of the layers `value` and `action` of a stack. As what they are applied to is noted `before` the
    # next step, row t is for step t - 1. The last step's effect on the stack is never read.
    d_taps: dict[str, Float[Array, "member example time _"]]
    scale: Float[Array, "member example"]


def fits(kind: str, sizes: _Sizes) -> str | None:
    """Returns why the kernels cannot run a loop; `None` if they can."""
    if kind not in ("rnn", "stack_rnn", "tape_rnn", *GATED):
        return f"there is no kernel for {kind}"
    limits = {
        "hidden units": (sizes.hidden, STACK_HIDDEN if kind == "stack_rnn" else HIDDEN_SIZES[-1]),
        "symbols": (sizes.symbols, MAX_SYMBOLS),
        "time steps": (sizes.steps, {"stack_rnn": STACK_STEPS, "tape_rnn": TAPE_STEPS}.get(kind, MAX_STEPS)),
        f"numbers in a cell of the {kind[:-4]}": (sizes.cell_size if kind in ("stack_rnn", "tape_rnn") else 1, CELL),
    }
    for what, (size, most) in limits.items():
        if not 1 <= size <= most:
            return f"the kernel for {kind} is for 1 to {most} {what}, not {size}"
    return None


def forward(
    kind: str,
    weights: Mapping[str, Array],
    table: Float[Array, "member symbol drive"],
    symbols: Int[Array, "*member example time"],
    *,
    keeps: bool = True,
    activation: Activation = "relu",
) -> Forward:
    """Runs a loop from a state of zeros.

    **Arguments:**

    - `weights`: `recurrent` (member, hidden, drive; that of a GRU has four parts, see `Parts`) and, for a stack,
      `reading` (member, cell, drive), `value` (member, hidden, cell), `action` (member, hidden, 3), and their biases
      `value_bias` and `action_bias`.
    - `table`: what each symbol adds to the drive, biases and offsets included.
    - `symbols`: without axis of members, all members read the same.
    - `keeps`: whether a backward pass follows.
    - `activation`: of an RNN.
    """
    run = _gated_forward if kind in GATED else _rnn_forward
    size = weights["recurrent"].shape[1]
    outputs, notes, residuals = run(kind, weights, table, symbols, keeps, activation)
    notes = {name: note[..., :size] if name == "before" else note for name, note in notes.items()}
    return Forward(outputs[..., :size], notes, residuals)


def backward(
    kind: str,
    weights: Mapping[str, Array],
    residuals: tuple[Array, ...],
    outputs: Float[Array, "member example time hidden"],
    d_outputs: Float[Array, "member example time hidden"],
    *,
    activation: Activation = "relu",
) -> Gradients:
    """Returns the gradients of the drives of all steps, given those of all outputs."""
    if kind in GATED:
        return _gated_backward(kind, weights, residuals, d_outputs)
    return _rnn_backward(kind, weights, residuals, outputs, d_outputs, activation)


# RNN and Stack-RNN -------------------------------------------------------------------------------------------------


def _rnn_forward(
    kind: str, weights: Mapping[str, Array], table: Array, symbols: Array, keeps: bool, activation: Activation
) -> Forward:
    size = _padded_size(kind, weights)
    recurrent, table = _padded(weights["recurrent"], size, size), _padded(table, table.shape[1], size)
    high, low = _split(recurrent.swapaxes(1, 2))
    members, (batch, steps) = len(table), symbols.shape[-2:]
    arguments = [_sizes(symbols, table, keeps), symbols, high, low, table]
    shared = 256 * size + 2 * size**2
    kept = (members, batch, steps) if keeps else (1, 1, 1)
    results = [_array((members, batch, steps, size), jnp.float32), _array((*kept, size), _NOTES[activation])]
    if activation == "relu":
        results.append(_array((*kept, size // 16), jnp.uint16))
    if kind == "stack_rnn":
        reading = _padded(weights["reading"], CELL, size).swapaxes(1, 2)
        heads, bias = _heads(weights, size)
        arguments += [jnp.concatenate([x, x], 2) for x in _split(reading)]
        arguments += [*map(_fragments, _split(heads.swapaxes(1, 2))), bias]
        results += [_array((*kept, CELL), jnp.bfloat16), _array((*kept, 3, 16, 8), jnp.uint16)]
        shared += 1024 + _SUMS + 2 * 8192 + 64 + 512
    else:
        shared += MAX_SYMBOLS * (size + 8) * 4 + 512
    outputs, before, *others = _launch_rnn(kind, activation, "forward", size, results, arguments, symbols, shared)
    if not keeps:
        return Forward(outputs, {}, ())
    notes = {"before": before}
    if kind == "stack_rnn":
        masks, read, stacks = others
        notes["read"] = read[..., : weights["reading"].shape[1]]
        others = [masks, stacks]
    return Forward(outputs, notes, tuple(others))


def _rnn_backward(
    kind: str,
    weights: Mapping[str, Array],
    residuals: tuple[Array, ...],
    outputs: Array,
    d_outputs: Array,
    activation: Activation,
) -> Gradients:
    size, hidden = _padded_size(kind, weights), weights["recurrent"].shape[1]
    members, batch, steps, _ = d_outputs.shape
    sizes = jnp.asarray(np.array([batch, steps, 0, 0, 1], np.int32))
    arguments = [sizes, *_split(_padded(weights["recurrent"], size, size))]
    results = [_array((members, batch, steps, size), _NOTES[activation])]
    shared = 256 * size + 2 * size**2
    if kind == "stack_rnn":
        heads, _ = _heads(weights, size)
        arguments += [*map(_fragments, _split(_padded(weights["reading"], 16, size))), *_split(heads), residuals[1]]
        results.append(_array((members, batch, steps, 16), jnp.bfloat16))
        shared += 2048 + _SUMS + 2 * 8192
    scale = jnp.ones(members, jnp.float32)
    if activation == "tanh":
        scale = _scale(jnp.abs(d_outputs).max((1, 2, 3)))
        arguments += [scale, _last_padded(outputs, size)]
    else:
        arguments.append(residuals[0])
    arguments.append(_last_padded(d_outputs, size))
    outcome = _launch_rnn(kind, activation, "backward", size, results, arguments, d_outputs[0, :, :, 0], shared)
    d_taps = {}
    if kind == "stack_rnn":
        d_taps = {"value": outcome[1][..., : weights["value"].shape[2]], "action": outcome[1][..., CELL : CELL + 3]}
    return Gradients(outcome[0][..., :hidden], d_taps, jnp.broadcast_to(scale[:, None], (members, batch)))


# Of what is written for the gradients of weights: states after a ReLU outgrow float16.
_NOTES = {"relu": jnp.bfloat16, "tanh": jnp.float16}
_SUMS = 4 * 16 * 36 * 4


def _launch_rnn(
    kind: str,
    activation: Activation,
    direction: Literal["forward", "backward"],
    size: int,
    results: list[jax.ShapeDtypeStruct],
    arguments: list[Array],
    symbols: Any,
    shared: int,
) -> tuple[Array, ...]:
    text = read(f"{'stack' if kind == 'stack_rnn' else activation}_{direction}_{size}")
    members = len(arguments[2])
    blocks = members * -(-symbols.shape[-2] // RNN_ROWS)
    return launch(
        text, f"rnn_{direction}", tuple(results), *arguments, blocks=blocks, threads=2 * size, shared_memory=shared
    )


def _split(x: Float[Array, "..."]) -> tuple[Array, Array]:
    """Returns the high and the low part of numbers, in bfloat16. By `reduce_precision`: of a conversion there and back
    XLA would keep the excess precision, and the low part would be zero."""
    high = jax.lax.reduce_precision(x, 8, 7)
    return high.astype(jnp.bfloat16), (x - high).astype(jnp.bfloat16)


def _heads(weights: Mapping[str, Array], size: int) -> tuple[Float[Array, "member hidden 16"], Array]:
    """Returns the layers on the hidden state as one, and its bias: 8 values, 3 actions and 5 zeros."""
    value, action = _padded(weights["value"], size, CELL), _padded(weights["action"], size, CELL)
    biases = [_last_padded(weights[name], CELL) for name in ("value_bias", "action_bias")]
    return jnp.concatenate([value, action], 2), jnp.concatenate(biases, 1)


def _fragments(x: Array) -> Array:
    """Orders matrices (16, units) as the registers of a warp have them: (k-step, lane, 8)."""
    lane, register = np.arange(32)[:, None, None], np.arange(4)[:, None]
    step, two = np.arange(x.shape[2] // 16)[:, None, None, None], np.arange(2)
    row, column = lane // 4 + 8 * (register % 2), 16 * step + 2 * (lane % 4) + 8 * (register // 2) + two
    row, column = np.broadcast_arrays(row, column)
    return x[:, row, column].reshape(len(x), *column.shape[:2], 8)


# LSTM and GRU ------------------------------------------------------------------------------------------------------

# The unit, of 64, of column 8 j + 2 a + e of a product.
_UNIT = np.array([32 * (j // 4) + 8 * a + 2 * (j % 4) + e for j in range(8) for a in range(4) for e in range(2)])


def gated_table(symbols: int) -> tuple[int, bool]:
    """Returns the columns of an alphabet's table in the kernel, and whether low parts of its numbers have a place."""
    columns = 16 if symbols <= 8 else MAX_SYMBOLS
    return columns, symbols <= columns // 2


def _gated_forward(
    kind: str, weights: Mapping[str, Array], table: Array, symbols: Array, keeps: bool, activation: Activation
) -> Forward:
    del activation
    size, (readout, classes) = _padded_size(kind, weights), _readout(weights)
    blocks, (columns, has_low_parts) = size // 64, gated_table(table.shape[1])
    members, (batch, steps) = len(table), symbols.shape[-2:]
    entries = _gates_padded(table, size).reshape(members, -1, 4, blocks, 64)[..., _UNIT].transpose(0, 3, 2, 4, 1)
    if has_low_parts:
        entries = jnp.concatenate([_last_padded(x, columns // 2) for x in _halves(entries)], -1)
    entries = _last_padded(entries, columns).astype(jnp.float16)
    kept = (members, batch, steps) if keeps else (1, 1, 1)
    parts = (members, blocks, batch, steps, classes + classes % 2)
    outputs, inputs, last, gates = launch(
        read(f"{kind}_forward_{size}_{columns}"),
        "gated_forward",
        (
            _array(parts if classes else (members, batch, steps, size), jnp.float32),
            _array((*kept, size + columns), jnp.float16),
            _array((*kept[:2], 1, size), jnp.float16),
            _array((kept[0], kept[2], blocks, 5, 2, kept[1], 32), jnp.float16),
        ),
        _sizes(symbols, table, keeps, classes),
        symbols,
        _gated_weights(kind, weights, size),
        entries,
        _readout_fragments(readout, size),
        blocks=members * blocks * -(-batch // GATED_ROWS),
        threads=256,
        shared_memory=768 * size + 1024 * columns + 64,
    )
    if classes:
        outputs = outputs.sum(1)[..., :classes]
    if not keeps:
        return Forward(outputs, {}, ())
    notes = {"inputs": inputs, **({"last": last} if classes else {})}
    return Forward(outputs, notes, (jnp.moveaxis(gates, 5, 1),))  # moved back later: no copy


def _gated_backward(
    kind: str, weights: Mapping[str, Array], residuals: tuple[Array, ...], d_outputs: Array
) -> Gradients:
    size, hidden, (readout, classes) = _padded_size(kind, weights), weights["recurrent"].shape[1], _readout(weights)
    blocks = size // 64
    members, batch, steps, _ = d_outputs.shape
    scale = _scale(_largest_product(d_outputs, readout) if classes else jnp.abs(d_outputs).max((1, 2, 3)))
    (d_drive,) = launch(
        read(f"{kind}_backward_{size}"),
        "gated_backward",
        (_array((members, batch, steps, 4 * size), jnp.float16),),
        jnp.asarray(np.array([batch, steps, 0, 0, 1, classes], np.int32)),
        _gated_weights(kind, weights, size),
        scale,
        jnp.moveaxis(residuals[0], 1, 5),
        _rows_padded(readout, size),
        d_outputs if classes else _last_padded(d_outputs, size),
        blocks=members * blocks * -(-batch // GATED_ROWS),
        threads=256,
        shared_memory=512 * size + 2 * (blocks - 1) * 4 * 2048 + 64 + 256 * classes,
    )
    if size != hidden:
        d_drive = d_drive.reshape(members, batch, steps, 4, size)[..., :hidden].reshape(members, batch, steps, -1)
    return Gradients(d_drive, {}, jnp.broadcast_to(scale[:, None], (members, batch)))


def _gated_weights(kind: str, weights: Mapping[str, Array], size: int) -> Float[Array, "member hidden drive"]:
    """Returns the recurrent weights, without the fourth part of those of a GRU, which is zero."""
    gates = 3 if kind == "gru" else 4
    recurrent = weights["recurrent"][..., : gates * weights["recurrent"].shape[1]]
    return _gates_padded(_rows_padded(recurrent, size), size, gates)


def _readout(weights: Mapping[str, Array]) -> tuple[Float[Array, "member hidden classes"], int]:
    """Returns the weights of the readout and its classes; zeros and no classes without one, as no array may be empty."""
    if "readout" in weights:
        return weights["readout"], weights["readout"].shape[2]
    return jnp.zeros((*weights["recurrent"].shape[:2], 1), jnp.float32), 0


def _readout_fragments(readout: Float[Array, "member hidden classes"], size: int) -> Array:
    """Orders the weights of the readout as a warp reads them: (block, eight classes, k-step, lane, part, register,
    two), where the high and the low part are float16."""
    padded = _padded(readout, size, -(-readout.shape[2] // 8) * 8)
    # Rows: (block, k-step, register, pair, two) of the units; columns: eight classes.
    ordered = padded.reshape(len(padded), -1, 64, padded.shape[2])[:, :, _UNIT]
    ordered = ordered.reshape(len(padded), -1, 4, 2, 4, 2, padded.shape[2] // 8, 8)
    parts = jnp.stack([part.astype(jnp.float16) for part in _halves(ordered)], -1)
    return parts.transpose(0, 1, 6, 2, 7, 4, 8, 3, 5).reshape(len(padded), -1)


def _halves(x: Array) -> tuple[Array, Array]:
    """Returns the high part of numbers, which is exact in float16, and the rest."""
    high = jax.lax.reduce_precision(x, 5, 10)
    return high, x - high


def _largest_product(
    d_logits: Float[Array, "member example time classes"], readout: Float[Array, "member hidden classes"]
) -> Float[Array, " member"]:
    """Returns a bound on the gradients of the outputs of each member: with two classes at most twice the largest."""
    return (jnp.abs(d_logits) * jnp.abs(readout).max(1)[:, None, None]).sum(3).max((1, 2))


def _scale(largest: Float[Array, " member"]) -> Float[Array, " member"]:
    """Returns, for each member, the power of two that brings its largest gradient of an output, or a bound on it, near
    to 1 (1 if that is not finite)."""
    exponent = jax.lax.bitcast_convert_type(largest, jnp.int32) >> 23 & 255  # biased by 127
    wanted = jnp.where(jnp.isfinite(largest), jnp.clip(2 * 127 - HEADROOM - exponent, 4, 250), 127)
    return jax.lax.bitcast_convert_type(wanted << 23, jnp.float32)


def _gates_padded(x: Float[Array, "member row drive"], size: int, gates: int = 4) -> Array:
    """Pads the gates, which are the last axis, to `size` units each."""
    parts = x.reshape(*x.shape[:2], gates, -1)
    return _last_padded(parts, size).reshape(*x.shape[:2], gates * size)


# Both --------------------------------------------------------------------------------------------------------------


def _padded_size(kind: str, weights: Mapping[str, Array]) -> int:
    """Returns the hidden size of the kernel. Weights of zero make the units that are added zero, so numbers agree."""
    hidden = weights["recurrent"].shape[1]
    return STACK_HIDDEN if kind == "stack_rnn" else next(size for size in HIDDEN_SIZES if size >= hidden)


def _sizes(symbols: Array, table: Array, keeps: bool, classes: int = 0) -> Int[Array, " 6"]:
    """Returns `struct Sizes` of the kernels."""
    batch, steps = symbols.shape[-2:]
    stride = batch * steps if symbols.ndim == 3 else 0
    return jnp.asarray(np.array([batch, steps, table.shape[1], stride, keeps, classes], np.int32))


def _array(shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def _last_padded(x: Array, size: int) -> Array:
    return x if x.shape[-1] == size else jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, size - x.shape[-1])])


def _rows_padded(x: Array, rows: int) -> Array:
    return x if x.shape[1] == rows else jnp.pad(x, ((0, 0), (0, rows - x.shape[1]), (0, 0)))


def _padded(x: Float[Array, "member row column"], rows: int, columns: int) -> Array:
    return _last_padded(_rows_padded(x, rows), columns)
