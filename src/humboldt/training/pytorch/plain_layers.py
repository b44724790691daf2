"""Recurrent layers, packed sequences and dropout as plain operations, for several members at once.

PyTorch's `vmap` has no batching rules for its recurrent layers (`nn.LSTM`, `nn.GRU`, `nn.RNN` and their cells), and
would give all members the same dropout. `PlainLayers` replaces the calls of these functions while it is active, so that
a user's module need not be changed. Results are the same up to rounding.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from humboldt.training.pytorch import fused

State = tuple[Tensor, ...]
"""Of a recurrent layer: `h`, and `c` of an LSTM."""

Cell = Callable[[Tensor, Tensor, State], State]
"""Gates from the input, gates from the state, the state: the next state."""


def lstm_cell(x: Tensor, recurrent: Tensor, state: State) -> State:
    """Returns the next `h` and `c` of an LSTM."""
    i, f, g, o = (x + recurrent).chunk(4, -1)
    c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_cell(x: Tensor, recurrent: Tensor, state: State) -> State:
    """Returns the next `h` of a GRU."""
    (xr, xz, xn), (hr, hz, hn) = x.chunk(3, -1), recurrent.chunk(3, -1)
    z = (xz + hz).sigmoid()
    new = (xn + (xr + hr).sigmoid() * hn).tanh()
    return (new + z * (state[0] - new),)


def tanh_cell(x: Tensor, recurrent: Tensor, state: State) -> State:
    """Returns the next `h` of an RNN."""
    del state
    return ((x + recurrent).tanh(),)


def relu_cell(x: Tensor, recurrent: Tensor, state: State) -> State:
    """Returns the next `h` of an RNN with rectified units."""
    del state
    return ((x + recurrent).relu(),)


class CannotReplace(Exception):
    """A layer has a form that is not available as plain operations."""


Drop = Callable[[Tensor], Tensor]


def recurrent_layers(
    cell: Cell,
    parts: Sequence[Tensor],
    initial: State,
    weights: Sequence[Tensor],
    options: tuple[Any, ...],
    drop: Drop,
    is_real: Sequence[Tensor] | None = None,
) -> tuple[list[Tensor], State]:
    """Reads a batch with all layers and directions of a recurrent module.

    `parts` are the inputs of every time step, shape `(rows, size)`; later ones may have fewer rows, as in a packed
    sequence. With `is_real`, shape `(rows, 1)` for every time step, they all have the same rows, and where it is false
    a state stays as it is. Returns the outputs of every time step and the last states, shape `(layers, batch, size)`.
    """
    has_biases, num_layers, dropout, train, is_bidirectional = options
    directions, each = 1 + is_bidirectional, 4 if has_biases else 2
    if len(weights) != each * num_layers * directions:
        raise CannotReplace("a recurrent layer with `proj_size` has no batching rule")
    last: list[State] = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            own = weights[each * number : each * (number + 1)]
            begin = tuple(state[number] for state in initial)
            read, end = _read(cell, parts, begin, own, is_backward=direction == 1, is_real=is_real)
            outputs.append(read)
            last.append(end)
        parts = [torch.cat(both, -1) for both in zip(*outputs, strict=True)] if directions == 2 else outputs[0]
        if dropout and train and layer < num_layers - 1:
            rows = [len(part) for part in parts]
            parts = drop(torch.cat(parts)).split(rows)
    return list(parts), tuple(torch.stack(states) for states in zip(*last, strict=True))


def _read(
    cell: Cell,
    parts: Sequence[Tensor],
    begin: State,
    weights: Sequence[Tensor],
    *,
    is_backward: bool,
    is_real: Sequence[Tensor] | None,
) -> tuple[list[Tensor], State]:
    """Reads a batch with one layer in one direction; returns its outputs and the last state of every row."""
    of_input, of_state, *biases = _in_precision(weights)
    b_input, b_state = biases or (None, None)
    rows = [len(part) for part in parts]
    gates = F.linear(torch.cat(list(parts)), of_input, b_input).split(rows)  # of all time steps at once
    outputs: list[Tensor] = []
    ended: list[State] = []  # of rows that are shorter than others, the shortest first
    state = tuple(x[: rows[-1 if is_backward else 0]] for x in begin)
    for place in range(len(rows))[:: -1 if is_backward else 1]:
        x, count = gates[place], rows[place]
        now = len(state[0])
        if count > now:
            state = tuple(torch.cat([old, new[now:count]]) for old, new in zip(state, begin, strict=True))
        elif count < now:
            ended.append(tuple(old[count:] for old in state))
            state = tuple(old[:count] for old in state)
        after = cell(x, F.linear(state[0], of_state, b_state), state)
        if is_real is not None:
            after = tuple(torch.where(is_real[place], new, old) for new, old in zip(after, state, strict=True))
        state = after
        outputs.append(state[0])
    if ended:
        state = tuple(torch.cat(list(pieces)) for pieces in zip(state, *ended[::-1], strict=True))
    return outputs[::-1] if is_backward else outputs, state


def _in_precision(weights: Sequence[Tensor]) -> Sequence[Tensor]:
    """Returns weights in the precision of autocast, which would convert them again in every time step."""
    kind = weights[0].device.type
    return [x.to(torch.get_autocast_dtype(kind)) for x in weights] if torch.is_autocast_enabled(kind) else weights


def pack(padded: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    """Returns a padded batch, whose rows are sorted by length, as a packed one."""
    sizes = lengths.tolist()
    counts = [sum(size > step for size in sizes) for step in range(sizes[0])]
    steps = padded.unbind(1 if batch_first else 0)
    return torch.cat([steps[step][:count] for step, count in enumerate(counts)]), torch.tensor(counts)


def unpack(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding: float, total_length: int
) -> tuple[Tensor, Tensor]:
    """Returns a packed batch as a padded one, and its lengths."""
    counts = batch_sizes.tolist()
    parts = [F.pad(part, (0, 0, 0, counts[0] - len(part)), value=padding) for part in data.split(counts)]
    if total_length > len(counts):
        parts += [torch.full_like(parts[0], padding)] * (total_length - len(counts))
    lengths = torch.tensor([sum(count > row for count in counts) for row in range(counts[0])])
    return torch.stack(parts, 1 if batch_first else 0), lengths


class Dropped(NamedTuple):
    """A call of dropout: the shape and layout of its input, and the share of numbers that become 0."""

    shape: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype
    p: float

    def mask(self, device: torch.device) -> Tensor:
        """Draws a mask with the random numbers that the call would draw."""
        ones = torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device=device).fill_(1)
        return F.dropout(ones, self.p)


class Observed(TorchFunctionMode):
    """Collects all calls of dropout while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped: list[Dropped] = []

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        named = kwargs or {}
        if func is F.dropout or func is torch.dropout:
            self._dropout(*args, **named)
        elif func in _LAYERS:
            self._recurrent(*args)
        return func(*args, **named)

    def _dropout(self, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> None:
        del inplace
        if training and p:
            self.dropped.append(Dropped(x.shape, torch.empty_like(x).stride(), x.dtype, p))

    def _recurrent(self, x: Tensor, *more: Any) -> None:
        """Adds the dropout between the layers of a recurrent module, whose time axis is the first there."""
        is_packed = not isinstance(more[2], bool)
        weights, _, num_layers, dropout, train, is_bidirectional = more[2:8] if is_packed else more[1:7]
        leading = x.shape[:-1] if is_packed or not more[7] else x.shape[1::-1]
        shape = torch.Size([*leading, (1 + is_bidirectional) * weights[1].shape[1]])
        if dropout and train:
            stride = torch.empty(shape, device="meta").stride()
            self.dropped += [Dropped(shape, stride, x.dtype, dropout)] * (num_layers - 1)


class PlainLayers(TorchFunctionMode):
    """Replaces recurrent layers, packed sequences and dropout by plain operations while it is active.

    `masks` are those of all calls of dropout, in order, with the scale of what is kept. With `is_static`, no number is
    read from the device: a packed sequence keeps its padding and the lengths of its rows, which stay on the device. And
    a tensor that is read step by step, as `x[:, step]`, is cut once: the gradient of each step alone would be as large
    as the whole.
    """

    def __init__(self, masks: Sequence[Tensor], *, is_static: bool = False) -> None:
        super().__init__()
        self._masks = iter(masks)
        self._indexed: dict[tuple[int, int], _Indexed] = {}
        self._written: dict[int, Tensor] = {}
        self._lengths: list[tuple[Tensor, Tensor]] = []  # sizes of static packed sequences, and lengths of their rows
        self._forms: dict[Any, Callable[..., Any]] = {
            **{name: partial(self._recurrent, cell) for name, cell in _LAYERS.items()},
            **{name: partial(_cell, cell) for name, cell in _CELLS.items()},
            F.embedding: _embedding,
            F.dropout: self._dropout,
            torch.dropout: self._dropout,
            _VF._pack_padded_sequence: pack,
            _VF._pad_packed_sequence: unpack,
        }
        if is_static:
            self._forms[_VF._pack_padded_sequence] = self._pack
            self._forms[_VF._pad_packed_sequence] = self._unpack
            self._forms[torch.Tensor.cpu] = lambda x, *_, **__: x
            self._forms[torch.Tensor.to] = _to_if_not_cpu
            self._forms[torch.Tensor.__getitem__] = self._item
            self._forms[torch.Tensor.__setitem__] = self._set_item
            self._forms[F.scaled_dot_product_attention] = _attention
            self._forms[F.multi_head_attention_forward] = self._whole_attention
            for func, form in fused.FORMS.items():
                self._forms[func] = partial(_fused_or_plain, form, self._forms.get(func) or func)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        del types
        form: Any = self._forms.get(func, func)
        return form(*args, **(kwargs or {}))

    def _whole_attention(self, *args: Any, **named: Any) -> Any:
        """Replaces the functions that `nn.MultiheadAttention` calls, of which a mode sees only the whole."""
        forms: dict[str, Any] = {
            f.__name__: self._forms.get(f) or f for f in (F.linear, F.scaled_dot_product_attention)
        }
        with mock.patch.multiple(F, **forms):
            return F.multi_head_attention_forward(*args, **named)

    def _recurrent(self, cell: Cell, x: Tensor, *more: Any) -> tuple[Tensor, ...]:
        is_packed = not isinstance(more[2], bool)
        if is_packed:
            batch_sizes, initial, weights, *options = more
            parts, axis, is_real = x.split(batch_sizes.tolist()), 0, self._is_real(batch_sizes)
        else:
            initial, weights, *options, batch_first = more
            axis = 1 if batch_first else 0
            parts, is_real = x.unbind(axis), None
        begin = (initial,) if isinstance(initial, Tensor) else tuple(initial)
        outputs, last = recurrent_layers(cell, parts, begin, weights, tuple(options), self._drop, is_real)
        return (torch.cat(outputs) if is_packed else torch.stack(outputs, axis), *last)

    def _pack(self, padded: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
        """Returns a padded batch as a packed one in which every time step has all rows."""
        steps = padded.transpose(0, 1) if batch_first else padded
        sizes = torch.full((steps.shape[0],), steps.shape[1])
        self._lengths.append((sizes, lengths))
        return steps.flatten(0, 1), sizes

    def _unpack(
        self, data: Tensor, batch_sizes: Tensor, batch_first: bool, padding: float, total_length: int
    ) -> tuple[Tensor, Tensor]:
        """Returns a batch of `_pack` as a padded one, and its lengths."""
        is_real = self._is_real(batch_sizes)
        if is_real is None:
            return unpack(data, batch_sizes, batch_first, padding, total_length)
        padded = torch.where(torch.stack(is_real), data.unflatten(0, (len(is_real), -1)), padding)
        if total_length > len(is_real):
            padded = F.pad(padded, (0, 0, 0, 0, 0, total_length - len(is_real)), value=padding)
        lengths = next(lengths for sizes, lengths in self._lengths if sizes is batch_sizes)
        return padded.transpose(0, 1) if batch_first else padded, lengths

    def _is_real(self, batch_sizes: Tensor) -> list[Tensor] | None:
        """Returns which rows of a batch of `_pack` have a symbol in every time step; `None` for other sequences."""
        lengths = next((lengths for sizes, lengths in self._lengths if sizes is batch_sizes), None)
        return None if lengths is None else [(lengths > step)[:, None] for step in range(len(batch_sizes))]

    def _set_item(self, x: Tensor, index: Any, value: Any) -> None:
        """Replaces `x[index] = value`. A tensor that is written by steps is not cut: its parts could not be changed."""
        self._written[id(x)] = x
        x[index] = value

    def _item(self, x: Tensor, index: Any) -> Tensor:
        """Replaces `x[index]`; the second step that is read along an axis cuts the tensor into all its steps."""
        axis = _axis_of_step(index)
        if axis is None or axis >= x.ndim or x.ndim < 2 or not x.is_floating_point():
            return x[index]
        step = index[axis] if isinstance(index, tuple) else index
        if id(x) in self._written:
            return x[index]
        known = self._indexed.get((id(x), axis))
        if known is None or known.version != x._version:
            self._indexed[id(x), axis] = _Indexed(x, x._version, step)
            return x[index]
        if known.step == step and not known.parts:
            return x[index]
        if not known.parts:
            known.parts.extend(x.unbind(axis))
        return known.parts[step]

    def _dropout(self, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if not training or p == 0:
            return x
        return x.mul_(self._mask(x)) if inplace else x * self._mask(x)

    def _drop(self, x: Tensor) -> Tensor:
        return x * self._mask(x)

    def _mask(self, x: Tensor) -> Tensor:
        mask = next(self._masks, None)
        if mask is None or mask.numel() != x.numel():
            raise CannotReplace("dropout is applied in another way than in an earlier call with the same batch")
        return mask.reshape(x.shape)


@dataclass
class _Indexed:
    """A tensor that was read at one step, and its parts at all steps once there is a second one."""

    whole: Tensor  # kept, so that no other tensor gets its id
    version: int
    step: int
    parts: list[Tensor] = field(default_factory=list)


def _axis_of_step(index: Any) -> int | None:
    """Returns the axis along which an index takes one step and everything of all other axes; `None` if it does not."""
    parts = index if isinstance(index, tuple) else (index,)
    steps = [axis for axis, part in enumerate(parts) if type(part) is int]
    others = [part for part in parts if type(part) is not int]
    if len(steps) != 1 or any(type(part) is not slice or part != slice(None) for part in others):
        return None
    return steps[0]


def _embedding(*args: Any, **named: Any) -> Tensor:
    """Replaces `F.embedding`: the batching rule leaves members next to the last axis in memory, and every later layer
    would copy what it reads."""
    return F.embedding(*args, **named).contiguous()


def _fused_or_plain(form: fused.Form, plain: Callable[..., Any], *args: Any, **named: Any) -> Tensor:
    """Calls a kernel for all members, or the plain function where it does not fit."""
    made = form(*args, **named)
    return plain(*args, **named) if made is None else made


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Replaces `F.scaled_dot_product_attention`: uses the kernel with a batching rule that keeps no scores. PyTorch's
    choice of a kernel does not see that a gradient will be needed."""
    is_plain = attn_mask is None and not dropout_p and not enable_gqa and query.ndim == 4
    sizes = {x.shape[-1] for x in (query, key, value)}
    if not is_plain or query.device.type != "cuda" or len(sizes) > 1 or query.shape[-1] % 8:
        more: dict[str, Any] = {"scale": scale, "enable_gqa": enable_gqa}
        return fused.PLAIN_ATTENTION(query, key, value, attn_mask, dropout_p, is_causal, **more)
    parts = _in_precision([query, key, value])
    return torch.ops.aten._scaled_dot_product_efficient_attention(
        *parts, None, True, dropout_p=0.0, is_causal=is_causal, scale=scale
    )[0]


def _to_if_not_cpu(x: Tensor, *args: Any, **named: Any) -> Tensor:
    """Replaces `Tensor.to`, but does not leave the device."""
    target = named.get("device", args[0] if args else None)
    is_cpu = isinstance(target, str | torch.device) and torch.device(target).type == "cpu"
    return x if is_cpu and len(args) + len(named) == 1 else x.to(*args, **named)


def _cell(cell: Cell, x: Tensor, state: Any, w_ih: Tensor, w_hh: Tensor, *biases: Tensor | None) -> Any:
    """Calls the cell of a module such as `nn.LSTMCell`."""
    states = (state,) if isinstance(state, Tensor) else tuple(state)
    b_ih, b_hh = biases or (None, None)
    after = cell(F.linear(x, w_ih, b_ih), F.linear(states[0], w_hh, b_hh), states)
    return after[0] if isinstance(state, Tensor) else after


_VF: Any = torch._VF
_LAYERS: dict[Any, Cell] = {
    _VF.lstm: lstm_cell,
    _VF.gru: gru_cell,
    _VF.rnn_tanh: tanh_cell,
    _VF.rnn_relu: relu_cell,
}
_CELLS: dict[Any, Cell] = {
    _VF.lstm_cell: lstm_cell,
    _VF.gru_cell: gru_cell,
    _VF.rnn_tanh_cell: tanh_cell,
    _VF.rnn_relu_cell: relu_cell,
}
