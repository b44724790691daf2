"""Kernels of stacked members beside PyTorch's own functions: in Triton's interpreter where it is installed, and as a
plain form of each kernel, which shows that everything around them is right."""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional as F
from torch_roads import job, plain_steps

from humboldt.training.engines.torch import _training
from humboldt.training.pytorch import fused
from humboldt.training.pytorch.plain_layers import PlainLayers
from humboldt.training.pytorch.recording import Direct
from humboldt.training.pytorch.stacked import Stack

pytestmark = pytest.mark.extras

os.environ["TRITON_INTERPRET"] = "1"  # read when kernels are imported
TRITON = pytest.param("triton", marks=pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed"))


class PlainKernels:
    """The kernels as plain operations, with the same arguments."""

    def attention(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, *more: Any, **options: Any) -> None:
        out, sums, *sizes = more
        scores = self._scores(q, k, mask, sizes, options)
        sums.copy_(torch.where(scores.isneginf().all(-1), torch.inf, scores.logsumexp(-1)))
        out.copy_((scores - sums[..., None]).exp() @ v)

    def attention_backward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, *more: Any, **options: Any) -> None:
        out, sums, d, dq, dk, dv, *sizes = more
        weights = (self._scores(q, k, mask, sizes, options) - sums[..., None]).exp()
        of_scores = weights * (d @ v.mT - (out * d).sum(-1, keepdim=True)) * sizes[3]
        dq.copy_(of_scores @ k)
        dk.copy_(of_scores.mT @ q)
        dv.copy_(weights.mT @ d)

    def _scores(self, q: Tensor, k: Tensor, mask: Tensor, sizes: Any, options: dict[str, Any]) -> Tensor:
        queries, keys, mask_examples, scale = sizes[:4]
        scores = scale * q @ k.mT
        if options["CAUSAL"]:
            scores = scores.masked_fill(torch.ones(queries, keys).triu(1).bool(), -torch.inf)
        if options["MASK"] != "none":
            mask = mask.repeat(len(q) // mask_examples, 1, 1, 1)
            scores = scores.masked_fill(~mask, -torch.inf) if options["MASK"] == "bool" else scores + mask
        return scores

    def layer_norm(self, x: Tensor, weight: Tensor, bias: Tensor, y: Tensor, *more: Any, **options: Any) -> None:
        statistics, _, epsilon = more
        inverse = (x.var(-1, correction=0) + epsilon).rsqrt()
        statistics.copy_(torch.stack([x.mean(-1), inverse], -1))
        y.copy_((x - x.mean(-1, keepdim=True)) * inverse[..., None] * weight[:, None] + bias[:, None])

    def layer_norm_backward(self, x: Tensor, weight: Tensor, statistics: Tensor, *more: Any, **options: Any) -> None:
        d, dx, sums, count, tiles = more
        mean, inverse = statistics[..., None].unbind(2)
        normal, scaled = (x - mean) * inverse, d * weight[:, None]
        along = (scaled * normal).mean(-1, keepdim=True)
        dx.copy_((scaled - scaled.mean(-1, keepdim=True) - normal * along) * inverse)
        for part in range(sums.shape[1]):
            rows = slice(part * tiles * options["ROWS"], min(count, (part + 1) * tiles * options["ROWS"]))
            sums[:, part] = torch.stack([(d * normal)[:, rows].sum(1), d[:, rows].sum(1)], 1)

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor, y: Tensor, *more: Any, **options: Any) -> None:
        y.copy_(x @ weight.mT + bias[:, None])

    def linear_backward(self, x: Tensor, d: Tensor, dw: Tensor, db: Tensor, *more: Any, **options: Any) -> None:
        count, tiles, *_ = more
        for part in range(dw.shape[1]):
            rows = slice(part * tiles * options["ROWS"], min(count, (part + 1) * tiles * options["ROWS"]))
            dw[:, part], db[:, part] = d[:, rows].mT @ x[:, rows], d[:, rows].sum(1)


class Launched:
    """A function that is called as a kernel is: `kernel[grid](...)`."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        return self.function


@pytest.fixture(autouse=True, params=["plain", TRITON])
def on_a_cpu(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Lets kernels run on a CPU, and returns the names of those that ran."""
    ran: list[str] = []

    class Noted:
        def __getattr__(self, name: str) -> Any:
            ran.append(name)
            if request.param == "plain":
                return Launched(getattr(PlainKernels(), name))
            from humboldt.training.pytorch import kernels

            return getattr(kernels, name)

    monkeypatch.setattr(fused, "fits", lambda x: True)
    monkeypatch.setattr(fused, "_kernels", Noted)
    monkeypatch.setattr(fused, "FEWEST_VECTORS", 1)
    yield ran


def agree(of_member: Callable[..., Tensor], given: list[Tensor], dims: list[int | None]) -> None:
    """Compares results and gradients of members by kernels with those of each member alone by PyTorch's functions."""
    results = []
    for stacked in (True, False):
        mine = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in given]
        if stacked:

            def replaced(*args: Tensor) -> Tensor:
                with PlainLayers([], is_static=True):
                    return of_member(*args)

            out = vmap(replaced, in_dims=tuple(dims), randomness="error")(*mine)
        else:
            members = next(x.shape[dim] for x, dim in zip(mine, dims, strict=True) if dim is not None)
            alone = [
                [x if dim is None else x.select(dim, number) for x, dim in zip(mine, dims, strict=True)]
                for number in range(members)
            ]
            out = torch.stack([of_member(*args) for args in alone])
        weights = torch.linspace(-1, 1, out.numel()).reshape(out.shape)
        results.append([out, *torch.autograd.grad((out * weights).sum(), [x for x in mine if x.requires_grad])])
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=2e-5)


def numbers(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize(
    "queries, keys, size, is_causal",
    [(5, 5, 16, True), (17, 17, 8, True), (70, 70, 12, True), (40, 70, 33, False), (3, 20, 16, True)],
)
def test_attention(queries: int, keys: int, size: int, is_causal: bool, on_a_cpu: list[str]):
    def of_member(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, scale=0.3)

    given = [numbers(2, 3, 2, queries, size), numbers(2, 3, 2, keys, size), numbers(2, 3, 2, keys, size)]
    agree(of_member, given, [0, 0, 0])
    assert on_a_cpu == ["attention", "attention_backward"]


def masks() -> dict[str, tuple[Tensor, int | None]]:
    seen = torch.arange(6) <= torch.tensor([[2], [5], [0]])
    return {
        "padding": (seen[:, None, None], None),
        "of members": (torch.stack([seen, seen.flip(0)])[:, :, None, None], 0),
        "for all": (torch.ones(6, 6, dtype=torch.bool).tril(), None),
        "numbers": (numbers(3, 2, 6, 6), None),
        "minus infinity": (torch.zeros(6, 6).masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), -torch.inf), None),
        "a row of nothing": (torch.arange(6)[:, None] > torch.arange(6), None),
    }


@pytest.mark.parametrize("name", masks())
def test_masks_of_attention(name: str, on_a_cpu: list[str]):
    mask, dim = masks()[name]

    def of_member(joined: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (x.unflatten(2, (2, -1)).transpose(1, 2) for x in joined.chunk(3, 2))  # not contiguous
        return F.scaled_dot_product_attention(q, k, v, mask.detach()).transpose(1, 2).flatten(2)

    if mask.is_floating_point():
        constant = mask
        agree(lambda joined: of_member(joined, constant), [numbers(2, 3, 6, 48)], [0])
    else:
        agree(of_member, [numbers(2, 3, 6, 48), mask], [0, dim])
    assert on_a_cpu == ["attention", "attention_backward"]


def test_a_mask_that_is_trained_has_a_gradient():
    def of_member(joined: Tensor, bias: Tensor) -> Tensor:
        q, k, v = (x.unflatten(2, (2, -1)).transpose(1, 2) for x in joined.chunk(3, 2))
        return F.scaled_dot_product_attention(q, k, v, bias * bias, scale=0.4)

    agree(of_member, [numbers(2, 3, 6, 48), numbers(2, 2, 6, 6)], [0, 0])


def test_functions_that_do_not_fit_are_left_as_they_are(on_a_cpu: list[str]):
    q, shared, wide = numbers(3, 4, 6, 8), numbers(3, 2, 6, 8), numbers(3, 4, 6, 72)
    assert fused.attention(q, q, q, dropout_p=0.1) is None
    assert fused.attention(q, shared, shared, enable_gqa=True) is None
    assert fused.attention(q, shared, shared) is None
    assert fused.attention(wide, wide, wide) is None
    assert fused.attention(q, q, numbers(3, 4, 6, 16)) is None
    assert fused.attention(q[0], q[0], q[0]) is None
    assert fused.attention(q, q, q, torch.ones(6, 6, dtype=torch.bool), is_causal=True) is None
    assert fused.attention(q.double(), q.double(), q.double()) is None
    weight, bias = numbers(5, 8), numbers(5)
    assert fused.linear(q, weight) is None
    assert fused.linear(q, weight, bias) is None  # fewer than 16 inputs
    assert fused.linear(numbers(3, 300), numbers(300, 300), numbers(300)) is None
    assert fused.layer_norm(q, (6, 8), numbers(6, 8), numbers(6, 8)) is None
    assert fused.layer_norm(q, (8,)) is None
    assert fused.layer_norm(q.bfloat16(), (8,), numbers(8), numbers(8)) is None  # without autocast
    assert not on_a_cpu


class Block(nn.Module):
    """A layer as PyTorch has it, with and without weights of attention."""

    def __init__(self, need_weights: bool) -> None:
        super().__init__()
        self.need_weights = need_weights
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        read, _ = self.attention(x, x, x, need_weights=self.need_weights)
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.layer(x + read, src_mask=hidden)


@pytest.mark.parametrize("need_weights", [False, True])
def test_layers_of_pytorch(need_weights: bool, on_a_cpu: list[str]):
    module = Block(need_weights)
    names, parameters = zip(*module.named_parameters(), strict=True)

    def of_member(x: Tensor, *weights: Tensor) -> Tensor:
        return functional_call(module, dict(zip(names, weights, strict=True)), (x,))

    agree(of_member, [numbers(3, 5, 16), *(0.3 * numbers(2, *x.shape) for x in parameters)], [None, *[0] * len(names)])
    assert on_a_cpu.count("attention") == 2 - need_weights
    assert on_a_cpu.count("layer_norm") == on_a_cpu.count("layer_norm_backward") == 2


@pytest.mark.parametrize("dims", [[0, 0, 0], [None, 0, 0], [1, 0, 0]])
@pytest.mark.parametrize("size, vectors", [(16, 70), (24, 3)])
def test_layer_norm(dims: list[int | None], size: int, vectors: int, on_a_cpu: list[str]):
    shape = {0: (2, vectors, 2, size), 1: (vectors, 2, 2, size), None: (vectors, 2, size)}[dims[0]]

    def of_member(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.layer_norm(x, (size,), weight, bias, eps=1e-3)

    agree(of_member, [numbers(*shape), numbers(2, size), numbers(2, size)], dims)
    assert on_a_cpu == ["layer_norm", "layer_norm_backward"]


@pytest.mark.parametrize("dims", [[0, 0, 0], [None, 0, 0], [0, 0, None]])
@pytest.mark.parametrize("inputs, outputs, vectors", [(16, 4, 600), (24, 72, 9), (80, 32, 70)])
def test_linear(dims: list[int | None], inputs: int, outputs: int, vectors: int, on_a_cpu: list[str]):
    shapes = [(vectors, 1, inputs), (outputs, inputs), (outputs,)]
    given = [numbers(*(2,) * (dim is not None), *shape) for shape, dim in zip(shapes, dims, strict=True)]
    agree(F.linear, given, dims)
    assert on_a_cpu == ["linear", "linear_backward"]


class AsOnCard(Direct):
    """Does all steps as if they were recorded on a card."""

    is_static = True


class Small(nn.Module):
    """A Transformer of one layer; the interpreter is slow."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.layer = nn.TransformerEncoderLayer(hidden_size, 1, hidden_size, dropout=0.0, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.readout(self.layer(self.embedding(tokens), src_key_padding_mask=~mask))


def test_steps_of_a_transformer(on_a_cpu: list[str]):
    training = _training(job(Small, steps=2, members=2))
    expected, _ = plain_steps(training, np.ones(2))
    learners = [training.fresh(member) for member in training.members]
    losses = Stack(training, AsOnCard()).advance(learners, 0, training.batches(0, 2), np.ones(2))
    np.testing.assert_allclose(losses, expected[..., :2], rtol=1e-4, atol=1e-5)
    assert {"attention_backward", "layer_norm_backward", "linear_backward"} < set(on_a_cpu)
