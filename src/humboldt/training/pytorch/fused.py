"""Attention, layer normalisation and linear layers of all members as one kernel each, on NVIDIA cards.

Stacked members run these functions of PyTorch by `vmap`, which cuts them into operations that each read and write all
numbers of all members: of layers of width 64 they take much longer than the products. `FORMS` has functions that call
the kernels of `kernels`, in place of those of `torch.nn.functional`; `PlainLayers` uses them in the steps that it
replaces. A form returns `None` for what it does not fit: other devices and precisions, large layers, an attention with
dropout. The kernels need an H100 or H200, and Triton, which comes with PyTorch for these cards.
"""

import contextlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from humboldt.training.pytorch.arithmetic import rounds_products

MOST_OF_HEAD = 64  # numbers of one query
TILE = 64  # queries, and keys, in a tile of attention
REGISTERS = 168  # of a thread of attention, so that three programs run on a processor of the card
MOST_NORMALISED = 1_024  # numbers of a vector
MOST_WEIGHTS = 65_536  # of a linear layer; larger ones wait for products, not for memory
FEWEST_VECTORS = 2_048  # of one member that a linear layer reads
PLAIN_ATTENTION = F.scaled_dot_product_attention  # `F` has another one while `nn.MultiheadAttention` is called
PARTS = 16  # of the vectors of a member, whose sums are added afterwards


@cache
def has_triton() -> bool:
    """Returns whether Triton is installed."""
    return importlib.util.find_spec("triton") is not None


@cache
def _kernels() -> Any:
    from humboldt.training.pytorch import kernels

    return kernels


def _device(x: Tensor) -> contextlib.AbstractContextManager[Any]:
    return torch.cuda.device(x.device) if x.is_cuda else contextlib.nullcontext()


def _precision(rounds: bool) -> str:
    return "tf32" if rounds else "tf32x3"


def _power(size: int, least: int = 16) -> int:
    """Returns the least power of two that is not smaller than a size."""
    return max(least, 1 << (size - 1).bit_length())


def _joined(size: int, dims: tuple[int | None, ...], tensors: tuple[Tensor, ...]) -> list[Tensor]:
    """Returns tensors of all members, their axis of members and their first one as one axis."""
    fronts = [
        x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0) for x, dim in zip(tensors, dims, strict=True)
    ]
    return [x.flatten(0, 1) for x in fronts]


class _Attention(torch.autograd.Function):
    """Queries, keys and values of shape `(example, head, time, size)`; a mask that can be expanded to `(example, head,
    query, key)`, of as many examples or of a divisor of their number, or `None`."""

    @staticmethod
    def forward(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool, scale: float, rounds: bool
    ) -> tuple[Tensor, Tensor]:
        parts, out = [_near(x) for x in (q, k, v)], _by_time(q, q.dtype)
        sums = q.new_empty(q.shape[:3], dtype=torch.float32)
        grid, options = _tiles(parts, mask, is_causal, rounds)
        sizes = (q.shape[2], k.shape[2], 1 if mask is None else len(mask), scale)
        strides = [*_strides(*parts), *_mask_strides(parts, mask), *_strides(out)]
        with _device(q):
            _kernels().attention[grid](*parts, _mask(parts, mask), out, sums, *sizes, *strides, **options)
        return out, sums

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        q, k, v, mask, *ctx.options = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(q, k, v, mask, *output)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        q, k, v, mask, out, sums = ctx.saved_tensors
        is_causal, scale, rounds = ctx.options
        parts, gradient = [_near(x) for x in (q, k, v)], _near(gradients[0])
        made = [_by_time(q, torch.float32), _by_time(k, k.dtype), _by_time(v, v.dtype)]
        grid, options = _tiles(parts, mask, is_causal, rounds)
        sizes = (q.shape[2], k.shape[2], 1 if mask is None else len(mask), scale)
        strides = [*_strides(*parts), *_mask_strides(parts, mask), *_strides(out, gradient, *made)]
        with _device(q):
            _kernels().attention_backward[grid](
                *parts, _mask(parts, mask), out, sums, gradient, *made, *sizes, *strides, **options
            )
        return made[0].to(q.dtype), *made[1:], None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        (q, k, v), (mask, *options) = _joined(info.batch_size, in_dims[:3], args[:3]), args[3:]
        if mask is not None and in_dims[3] is not None:
            mask = mask.movedim(in_dims[3], 0)
            mask = mask.expand(-1, len(q) // info.batch_size, *mask.shape[2:]).flatten(0, 1)
            if mask.requires_grad:  # only the plain operation has its gradient
                out = PLAIN_ATTENTION(q, k, v, mask, is_causal=options[0], scale=options[1])
                return tuple(x.unflatten(0, (info.batch_size, -1)) for x in (out, out.detach()[..., 0])), (0, 0)
        made = _Attention.apply(q, k, v, mask, *options)
        return tuple(x.unflatten(0, (info.batch_size, -1)) for x in made), (0, 0)


def _near(x: Tensor) -> Tensor:
    """Returns a tensor whose vectors are next to each other in memory."""
    return x if x.stride(-1) == 1 else x.contiguous()


def _by_time(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns an empty tensor of the same shape, in which the heads of one time step are together in memory, as modules
    read them next."""
    examples, heads, time, size = x.shape
    return x.new_empty(examples, time, heads, size, dtype=dtype).transpose(1, 2)


def _strides(*tensors: Tensor) -> list[int]:
    return [stride for x in tensors for stride in x.stride()[:3]]


def _mask(parts: list[Tensor], mask: Tensor | None) -> Tensor:
    return parts[0] if mask is None else mask


def _mask_strides(parts: list[Tensor], mask: Tensor | None) -> list[int]:
    if mask is None:
        return [0, 0, 0, 0]
    return list(mask.expand(len(mask), parts[0].shape[1], parts[0].shape[2], parts[1].shape[2]).stride())


def _tiles(
    parts: list[Tensor], mask: Tensor | None, is_causal: bool, rounds: bool
) -> tuple[tuple[int, int], dict[str, Any]]:
    """Returns the programs of a kernel of attention, and its options."""
    (examples, heads, queries, size), keys = parts[0].shape, parts[1].shape[2]
    width = _power(size)
    most = TILE if width <= 32 else 32
    tile = min(most, _power(max(queries, keys), 32))
    options: dict[str, Any] = {"SIZE": size, "ROWS": tile, "COLUMNS": tile, "WIDTH": width}
    options |= {"CAUSAL": is_causal, "PRECISION": _precision(rounds), "num_stages": 1}
    options["num_warps"] = 4 if width > 32 else tile // 16
    options["MASK"] = "none" if mask is None else "bool" if mask.dtype == torch.bool else "float"
    return (examples, heads), options if width > 32 else {**options, "maxnreg": REGISTERS}


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor | None:
    """Replaces `F.scaled_dot_product_attention`, without dropout."""
    if dropout_p or enable_gqa or not fits(query) or {query.ndim, key.ndim, value.ndim} != {4}:
        return None
    (examples, heads, queries, size), keys = query.shape, key.shape[2]
    if key.shape != (examples, heads, keys, size) or value.shape != key.shape or min(queries, keys, size) == 0:
        return None
    if size > MOST_OF_HEAD:
        return None
    if attn_mask is not None:
        if is_causal or not (attn_mask.dtype == torch.bool or attn_mask.is_floating_point()):
            return None
        attn_mask = attn_mask[(None,) * (4 - attn_mask.ndim)]
    parts, kind = [query, key, value], query.device.type
    if torch.is_autocast_enabled(kind):
        parts = [x.to(torch.get_autocast_dtype(kind)) for x in parts]
    if {x.dtype for x in parts} not in ({torch.float32}, {torch.bfloat16}):
        return None
    factor = size**-0.5 if scale is None else float(scale)
    return _Attention.apply(*parts, attn_mask, bool(is_causal), factor, rounds_products(query.device))[0]


class _LayerNorm(torch.autograd.Function):
    """`x` of shape `(member, vector, size)`, weight and bias of shape `(member, size)`."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
        x, weight, bias = (part.contiguous() for part in (x, weight, bias))
        members, count, size = x.shape
        y, statistics = torch.empty_like(x), x.new_empty(members, count, 2)
        options = _rows_of(size)
        grid = -(-count // options["ROWS"]), members
        with _device(x):
            _kernels().layer_norm[grid](x, weight, bias, y, statistics, count, epsilon, SIZE=size, **options)
        return y, statistics

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        x, weight, _, _ = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(x, weight, output[1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        x, weight, statistics = (part.contiguous() for part in ctx.saved_tensors)
        members, count, size = x.shape
        options, dx = _rows_of(size), torch.empty_like(x)
        tiles = -(-count // (options["ROWS"] * 2 * PARTS))
        parts = -(-count // (options["ROWS"] * tiles))
        sums = x.new_empty(members, parts, 2, size)
        with _device(x):
            _kernels().layer_norm_backward[parts, members](
                x, weight, statistics, gradients[0].contiguous(), dx, sums, count, tiles, SIZE=size, **options
            )
        of_weight, of_bias = sums.sum(1).unbind(1)
        return dx, of_weight, of_bias, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        y, statistics = _LayerNorm.apply(*_joined(info.batch_size, in_dims[:3], args[:3]), args[3])
        return tuple(out.unflatten(0, (info.batch_size, -1)) for out in (y, statistics)), (0, 0)


def _rows_of(size: int) -> dict[str, int]:
    width = _power(size)
    return {"ROWS": max(1, 2_048 // width), "WIDTH": width, "num_warps": 4}


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor | None:
    """Replaces `F.layer_norm` over the last axis, with a weight and a bias."""
    size = input.shape[-1] if input.ndim > 1 else 0
    if weight is None or bias is None or not fits(input) or tuple(normalized_shape) != (size,):
        return None
    is_half = input.dtype == torch.bfloat16 and torch.is_autocast_enabled(input.device.type)  # it returns float32 there
    if size > MOST_NORMALISED or not input.numel() or {weight.dtype, bias.dtype} != {torch.float32}:
        return None
    if input.dtype != torch.float32 and not is_half:
        return None
    y, _ = _LayerNorm.apply(input.float().reshape(1, -1, size), weight[None], bias[None], eps)
    return y.reshape(input.shape)


class _Linear(torch.autograd.Function):
    """`x` of shape `(member, vector, inputs)`, a weight of shape `(member, outputs, inputs)`, a bias of shape `(member,
    outputs)`."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor, rounds: bool) -> Tensor:
        x, weight, bias = (part.contiguous() for part in (x, weight, bias))
        (members, count, inputs), outputs = x.shape, weight.shape[1]
        y = x.new_empty(members, count, outputs)
        options = {"ROWS": 64, "num_stages": 2, **_blocks(inputs, outputs, rounds)}
        grid = -(-outputs // options["COLUMNS"]), -(-count // options["ROWS"]), members
        with _device(x):
            _kernels().linear[grid](x, weight, bias, y, count, inputs, outputs, **options)
        return y

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        del output
        x, weight, _, ctx.rounds = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (x, weight), gradient = ctx.saved_tensors, gradients[0].contiguous()
        dx = torch.bmm(gradient, weight) if ctx.needs_input_grad[0] else None
        x = x.contiguous()
        (members, count, inputs), outputs = x.shape, weight.shape[1]
        options = {"ROWS": 32, **_blocks(inputs, outputs, ctx.rounds)}
        tiles = -(-count // (options["ROWS"] * PARTS))
        parts = -(-count // (options["ROWS"] * tiles))
        dw, db = x.new_empty(members, parts, outputs, inputs), x.new_empty(members, parts, outputs)
        grid = -(-outputs // options["COLUMNS"]) * -(-inputs // options["DEPTH"]), parts, members
        with _device(x):
            _kernels().linear_backward[grid](x, gradient, dw, db, count, tiles, inputs, outputs, **options)
        return dx, dw.sum(1), db.sum(1), None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        return _Linear.apply(*_joined(info.batch_size, in_dims[:3], args[:3]), args[3]).unflatten(
            0, (info.batch_size, -1)
        ), 0


def _blocks(inputs: int, outputs: int, rounds: bool) -> dict[str, Any]:
    columns, depth = (min(64, _power(size)) for size in (outputs, inputs))
    return {"COLUMNS": columns, "DEPTH": depth, "PRECISION": _precision(rounds), "num_warps": 4}


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor | None:
    """Replaces `F.linear` with a bias, for layers that are small enough to wait for memory."""
    if bias is None or not fits(input) or torch.is_autocast_enabled(input.device.type):
        return None
    inputs, vectors = weight.shape[-1], input.numel() // max(1, input.shape[-1])
    if weight.numel() > MOST_WEIGHTS or inputs < 16 or vectors < FEWEST_VECTORS:
        return None
    if {input.dtype, weight.dtype, bias.dtype} != {torch.float32}:
        return None
    y = _Linear.apply(input.reshape(1, -1, inputs), weight[None], bias[None], rounds_products(input.device))
    return y.reshape(*input.shape[:-1], weight.shape[0])


def fits(x: Tensor) -> bool:
    """Returns whether kernels run where a tensor is: on an H100 or H200."""
    return x.is_cuda and has_triton() and _runs(x.device)


@cache
def _runs(device: torch.device) -> bool:
    """Returns whether a small kernel can be compiled and started on a card, for which Triton needs a C compiler."""
    if torch.cuda.get_device_capability(device) != (9, 0):
        return False
    x = torch.ones(1, 1, 16, device=device)
    try:
        _LayerNorm.forward(x, x[0], x[0], 1e-5)
    except Exception:
        return False
    return True


Form = Callable[..., Tensor | None]
FORMS: dict[Any, Form] = {
    F.scaled_dot_product_attention: attention,
    F.layer_norm: layer_norm,
    F.linear: linear,
}
