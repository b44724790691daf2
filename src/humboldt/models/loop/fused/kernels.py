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
# Of a readout that a kernel applies: the stack's beside values and actions.
CLASSES = {"rnn": 16, "lstm": 16, "gru": 16, "stack_rnn": 5, "tape_rnn": 8}
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

    outputs: Float[Array, "member example time hidden_or_class"]  # with a readout, logits without its bias
    # In 16 bits, for the gradients of weights: `before`, the hidden state before each step, `read`, what it read, and,
    # with a readout, `last`, the hidden state after all steps, as if of one step. Those of LSTM and GRU have `inputs`
    # in place of `before`: padded hidden states with the one-hot symbol behind them (see `gated_table`).
    notes: dict[str, Array]
    residuals: tuple[Array, ...]  # for the backward pass


class Gradients(NamedTuple):
    """Results of the backward pass: in 16 bits, gradients times `scale`, which is a power of two for each member."""

    d_drive: Float[Array, "member example time drive"]
    # Of the outputs of the layers `value` and `action` of a stack, and `readout`. As what they are applied to is noted
    # `before` the next step, row t is for step t - 1. The last step's effect on the stack is never read; its logits
    # are: `last`. Both are in `logit_parts`.
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


def reads_out(kind: str, classes: int) -> bool:
    """Returns whether the kernels for a kind of cell can apply a readout, too."""
    return 1 <= classes <= CLASSES.get(kind, 0)


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
      `value_bias` and `action_bias`. With a readout, `readout` (member, hidden, class).
    - `table`: what each symbol adds to the drive, biases and offsets included.
    - `symbols`: without axis of members, all members read the same.
    - `keeps`: whether a backward pass follows.
    - `activation`: of an RNN.
    """
    run = _gated_forward if kind in GATED else _rnn_forward
    size = weights["recurrent"].shape[1]
    outputs, notes, residuals = run(kind, weights, table, symbols, keeps, activation)
    notes = {name: note[..., :size] if name in ("before", "last") else note for name, note in notes.items()}
    return Forward(outputs if "readout" in weights else outputs[..., :size], notes, residuals)


def backward(
    kind: str,
    weights: Mapping[str, Array],
    residuals: tuple[Array, ...],
    outputs: Float[Array, "member example time hidden_or_class"],
    d_outputs: Float[Array, "member example time hidden_or_class"],
    *,
    activation: Activation = "relu",
) -> Gradients:
    """Returns the gradients of the drives of all steps, given those of all outputs (with a readout, logits)."""
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
    members, (batch, steps), classes = len(table), symbols.shape[-2:], _classes(weights)
    heads, bias = _heads(weights, size)
    arguments = [_sizes(symbols, table.shape[1], keeps, classes), symbols, high, low, table]
    arguments += map(_fragments, _split(heads.swapaxes(1, 2)))
    shared = 256 * size + 2 * size**2 + 64 * size + 512
    all_, kept = (members, batch, steps), (members, batch, steps) if keeps else (1, 1, 1)
    needs_states = not classes or (activation == "tanh" and keeps)
    results = [
        _array((*(all_ if needs_states else (1, 1, 1)), size), jnp.float32),
        _array((*all_, classes) if classes else (1,), jnp.float32),
        _array((*kept, size), _NOTES[activation]),
        _array((members, batch, 1, size) if keeps and classes else (1,), _NOTES[activation]),
    ]
    if activation == "relu":
        results.append(_array((*kept, size // 8), jnp.uint8))
    if kind == "stack_rnn":
        reading = _padded(weights["reading"], CELL, size).swapaxes(1, 2)
        arguments += [*(jnp.concatenate([x, x], 2) for x in _split(reading)), bias]
        results += [_array((*kept, CELL), jnp.bfloat16), _array((*kept, 3, 16, 8), jnp.uint16)]
        shared += 1024 + _sums(size) + 64
    else:
        shared += 2 * _sums(size)
    found = _launch_rnn(kind, activation, "forward", size, results, arguments, symbols, shared)
    states, logits, before, last, *others = found
    outputs = logits if classes else states
    if not keeps:
        return Forward(outputs, {}, ())
    notes = {"before": before, **({"last": last} if classes else {})}
    if kind == "stack_rnn":
        masks, read, stacks = others
        notes["read"] = read[..., : weights["reading"].shape[1]]
        others = [masks, stacks]
    if activation == "tanh" and classes:
        others = [states]
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
    classes, (heads, _) = _classes(weights), _heads(weights, size)
    sizes = _sizes(d_outputs[0, :, :, 0], 0, True, classes)
    arguments = [sizes, *_split(_padded(weights["recurrent"], size, size)), *_split(heads)]
    results = [_array((members, batch, steps, size), _NOTES[activation])]
    shared = 256 * size + 2 * size**2
    if kind == "stack_rnn":
        arguments += [*map(_fragments, _split(_padded(weights["reading"], 16, size))), residuals[1]]
        results.append(_array((members, batch, steps, 16), jnp.bfloat16))
        shared += 2048 + _sums(size) + 64 * size
    else:
        shared += 4096 + 64 * size
    scale = jnp.ones(members, jnp.float32)
    if activation == "tanh":
        scale = _scale(d_outputs, weights.get("readout"))
        arguments += [scale, residuals[0] if classes else _last_padded(outputs, size)]
    else:
        arguments.append(residuals[0])
    arguments.append(d_outputs if classes else _last_padded(d_outputs, size))
    outcome = _launch_rnn(kind, activation, "backward", size, results, arguments, d_outputs[0, :, :, 0], shared)
    d_taps = readout_taps(d_outputs, scale, _NOTES[activation]) if classes else {}
    if kind == "stack_rnn":
        d_taps |= {"value": outcome[1][..., : weights["value"].shape[2]], "action": outcome[1][..., CELL : CELL + 3]}
    return Gradients(outcome[0][..., :hidden], d_taps, jnp.broadcast_to(scale[:, None], (members, batch)))


# Of what is written for the gradients of weights: states after a ReLU outgrow float16.
_NOTES = {"relu": jnp.bfloat16, "tanh": jnp.float16}


def _sums(size: int) -> int:
    """Returns the bytes of parts of sums of 16 layers on hidden states."""
    return size // 64 * 16 * 36 * 4


def _classes(weights: Mapping[str, Array]) -> int:
    return weights["readout"].shape[2] if "readout" in weights else 0


def logit_parts(dtype: Any) -> int:
    """Returns how many numbers of a type make up a gradient of a logit: their columns follow each other. bfloat16 alone
    is too coarse."""
    return 2 if dtype == jnp.bfloat16 else 1


def readout_taps(
    d_logits: Float[Array, "member example time class"], scale: Float[Array, " member"], dtype: Any
) -> dict[str, Array]:
    """Returns the gradients of logits as in `Gradients.d_taps`."""
    scaled = d_logits * scale[:, None, None, None]
    scaled = jnp.concatenate(_split(scaled), 3) if logit_parts(dtype) == 2 else scaled.astype(dtype)
    later = jnp.pad(scaled[:, :, :-1], ((0, 0), (0, 0), (1, 0), (0, 0)))
    return {"readout": later, "last": scaled[:, :, -1:]}


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
    """Returns the layers on the hidden state as one, and its bias: for a stack 8 values and 3 actions, then classes of
    the readout, then zeros."""
    members, layers, biases = len(weights["recurrent"]), [], [jnp.zeros((len(weights["recurrent"]), 0), jnp.float32)]
    if "value" in weights:
        layers += [_padded(weights["value"], size, CELL), _rows_padded(weights["action"], size)]
        biases += [_last_padded(weights["value_bias"], CELL), weights["action_bias"]]
    if "readout" in weights:
        layers.append(_rows_padded(weights["readout"], size))
    joined = jnp.concatenate(layers, 2) if layers else jnp.zeros((members, size, 0), jnp.float32)
    return _last_padded(joined, 16), _last_padded(jnp.concatenate(biases, 1), 16)


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
    """Returns the columns of an alphabet's table in the kernel, and whether low parts of its numbers have a place.

    Then a one-hot symbol has two ones, the other in the second half of the columns.
    """
    columns = 16 if symbols <= 8 else MAX_SYMBOLS
    return columns, symbols <= columns // 2


def _gated_forward(
    kind: str, weights: Mapping[str, Array], table: Array, symbols: Array, keeps: bool, activation: Activation
) -> Forward:
    del activation
    size, readout, classes = _padded_size(kind, weights), _readout(weights), _classes(weights)
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
        _sizes(symbols, table.shape[1], keeps, classes),
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
    size, hidden = _padded_size(kind, weights), weights["recurrent"].shape[1]
    readout, classes = _readout(weights), _classes(weights)
    blocks = size // 64
    members, batch, steps, _ = d_outputs.shape
    scale = _scale(d_outputs, weights.get("readout"))
    (d_drive,) = launch(
        read(f"{kind}_backward_{size}"),
        "gated_backward",
        (_array((members, batch, steps, 4 * size), jnp.float16),),
        _sizes(d_outputs[0, :, :, 0], 0, True, classes),
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
    d_taps = readout_taps(d_outputs, scale, jnp.float16) if classes else {}
    return Gradients(d_drive, d_taps, jnp.broadcast_to(scale[:, None], (members, batch)))


def _gated_weights(kind: str, weights: Mapping[str, Array], size: int) -> Float[Array, "member hidden drive"]:
    """Returns the recurrent weights, without the fourth part of those of a GRU, which is zero."""
    gates = 3 if kind == "gru" else 4
    recurrent = weights["recurrent"][..., : gates * weights["recurrent"].shape[1]]
    return _gates_padded(_rows_padded(recurrent, size), size, gates)


def _readout(weights: Mapping[str, Array]) -> Float[Array, "member hidden class"]:
    """Returns the weights of the readout; without one, zeros, as no array of a launch may be empty."""
    if "readout" in weights:
        return weights["readout"]
    return jnp.zeros((*weights["recurrent"].shape[:2], 1), jnp.float32)


def _readout_fragments(readout: Float[Array, "member hidden class"], size: int) -> Array:
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


def _scale(
    d_outputs: Float[Array, "member example time hidden_or_class"],
    readout: Float[Array, "member hidden class"] | None = None,
) -> Float[Array, " member"]:
    """Returns, for each member, the power of two that brings its largest number near to 1 (1 if that is not finite).

    With a readout, whose logits the gradients are of, it is for those of hidden states, which are not larger than this
    bound; those of logits stay below 2 ** (12 - HEADROOM).
    """
    largest = jnp.abs(d_outputs).max((1, 2))
    if readout is not None:
        bound = (jnp.abs(readout) * largest[:, None]).sum(2)
        largest = jnp.concatenate([bound, largest / 2**12], 1)
    largest = largest.max(1)
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


def _sizes(symbols: Any, num_symbols: int, keeps: bool, classes: int = 0, *others: int) -> Int[Array, " number"]:
    """Returns `struct Sizes` of the kernels, and what follows it."""
    batch, steps = symbols.shape[-2:]
    stride = batch * steps if symbols.ndim == 3 else 0
    return jnp.asarray(np.array([batch, steps, num_symbols, stride, keeps, classes, *others], np.int32))


def _array(shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


def _last_padded(x: Array, size: int) -> Array:
    return x if x.shape[-1] == size else jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, size - x.shape[-1])])


def _rows_padded(x: Array, rows: int) -> Array:
    return x if x.shape[1] == rows else jnp.pad(x, ((0, 0), (0, rows - x.shape[1]), (0, 0)))


def _padded(x: Float[Array, "member row column"], rows: int, columns: int) -> Array:
    return _last_padded(_rows_padded(x, rows), columns)
