"""Compares the kernels of stacked PyTorch members with PyTorch's functions in double precision, and measures both.

    python benchmarks/torch_fused.py [--members 30] [--examples 128]

Needs an H100 or H200. Prints one JSON line for the machine, then one for each function and size: errors of
outputs and gradients, relative to the norm, with products that round their factors (TF32) and exact ones, beside those
of the functions as `vmap` has them; whether the same bits came twice, and whether a member that is not a number changed
another one; then milliseconds forward and backward of a CUDA graph. Processes compile the kernels beside each other.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import Any
from unittest import mock

import torch
from _record import machine
from torch import Tensor
from torch.func import vmap
from torch.nn import functional as F

from humboldt.training.pytorch import fused
from humboldt.training.pytorch.arithmetic import own_products
from humboldt.training.pytorch.plain_layers import PlainLayers
from humboldt.training.pytorch.stacked import batched

DEVICE = torch.device("cuda")
CHECKED = 3  # members whose results are compared


@dataclass(frozen=True)
class Case:
    """One function at one size. `of`: attention, layer_norm or linear."""

    of: str
    time: int
    size: int = 16  # of a head, a vector, or the inputs of a layer
    outputs: int = 64
    heads: int = 4
    keys: int = 0  # as many as there are queries
    mask: str = "causal"
    half: bool = False


CHECKS = (
    Case("attention", 80),
    Case("attention", 40, mask="padding"),
    Case("attention", 7, 8, mask="none"),
    Case("attention", 33, 24, keys=130, mask="numbers"),
    Case("attention", 64, 64),
    Case("attention", 80, half=True),
    Case("layer_norm", 80, 64),
    Case("layer_norm", 7, 100),
    Case("linear", 80, 64, 192),
    Case("linear", 37, 256, 4),
)
TIMES = (
    *(Case("attention", time) for time in (40, 80)),
    Case("layer_norm", 80, 64),
    *(Case("linear", 80, *sizes) for sizes in ((64, 192), (64, 64), (64, 256), (256, 64), (64, 4))),
)
TILES: dict[str, dict[str, Any]] = {
    "kernel": {},
    "kernel, no limit of registers": {"REGISTERS": 255},
    "kernel, tiles of 32": {"TILE": 32},
}


def given(case: Case, members: int, examples: int, seed: int = 0) -> list[Tensor]:
    """Draws the inputs of all members in double precision, and the gradient of the outputs."""
    generator = torch.Generator(DEVICE).manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(members, *shape, generator=generator, device=DEVICE, dtype=torch.float64)

    if case.of == "attention":
        width, keys = case.heads * case.size, case.keys or case.time
        joined = [normal(examples, case.time, width), normal(examples, keys, 2 * width)]
        return [*joined, normal(examples, case.time, width)]
    vectors = normal(examples, case.time, case.size)
    if case.of == "layer_norm":
        return [vectors, normal(case.size), normal(case.size), normal(examples, case.time, case.size)]
    weight = normal(case.outputs, case.size) / case.size**0.5
    return [vectors, weight, normal(case.outputs), normal(examples, case.time, case.outputs)]


def function(case: Case, examples: int) -> Callable[..., Tensor]:
    """Returns what a module of one member computes."""
    if case.of == "layer_norm":
        return lambda x, weight, bias: F.layer_norm(x, (case.size,), weight, bias)
    if case.of == "linear":
        return F.linear
    keys, mask = case.keys or case.time, None
    if case.mask == "padding":
        lengths = torch.arange(examples, device=DEVICE) % (keys + 1)
        mask = (torch.arange(keys, device=DEVICE) < lengths[:, None])[:, None, None]
    elif case.mask == "numbers":
        mask = torch.linspace(-3, 3, case.time * keys, device=DEVICE).reshape(case.time, keys)

    def attend(queries: Tensor, joined: Tensor) -> Tensor:
        parts = [x.unflatten(2, (case.heads, -1)).transpose(1, 2) for x in (queries, *joined.chunk(2, 2))]
        own = mask if mask is None or mask.dtype == torch.bool else mask.to(queries.dtype)
        out = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], own, is_causal=case.mask == "causal")
        return out.transpose(1, 2).flatten(2)

    return attend


def results(case: Case, inputs: list[Tensor], forms: dict[Any, Any]) -> list[Tensor]:
    """Returns outputs and gradients of all members, stacked."""
    *parts, gradient = (x.float() for x in inputs)
    parts, of_member = [x.requires_grad_() for x in parts], function(case, inputs[0].shape[1])

    def replaced(*args: Tensor) -> Tensor:
        with PlainLayers([], is_static=True):
            return of_member(*args)

    half = torch.autocast("cuda", torch.bfloat16) if case.half else nullcontext()
    with batched(), half, mock.patch.object(fused, "FORMS", forms):
        out = vmap(replaced)(*parts)
    return [out.detach(), *torch.autograd.grad(out, parts, gradient.to(out.dtype))]


def expected(case: Case, inputs: list[Tensor]) -> list[Tensor]:
    """Returns outputs and gradients of the first members, each alone, in double precision."""
    made: list[list[Tensor]] = []
    for number in range(CHECKED):
        *parts, gradient = (x[number].clone() for x in inputs)
        out = function(case, inputs[0].shape[1])(*(x.requires_grad_() for x in parts))
        made.append([out.detach(), *torch.autograd.grad(out, parts, gradient)])
    return [torch.stack(parts) for parts in zip(*made, strict=True)]


def largest_error(found: list[Tensor], right: list[Tensor]) -> float:
    """Returns the largest distance, relative to the norm."""
    return max(float((x[:CHECKED].double() - y).norm() / y.norm()) for x, y in zip(found, right, strict=True))


def checked(case: Case) -> dict[str, Any]:
    """Compares a kernel with double precision."""
    inputs = given(case, 5, 48)
    right, row = expected(case, inputs), {}
    for name, exact in (("tf32", False), ("exact", True)):
        with own_products(DEVICE, exact=exact):
            found = results(case, inputs, fused.FORMS)
            row[name] = largest_error(found, right)
            row[f"{name}, as vmap has it"] = largest_error(results(case, inputs, {}), right)
            again = results(case, inputs, fused.FORMS)
            bad = [torch.where(torch.arange(len(x), device=DEVICE).view(-1, *[1] * (x.ndim - 1)) == 4, torch.nan, x)
                   for x in inputs]  # fmt: skip
            beside = results(case, bad, fused.FORMS)
        row[f"{name}, same bits"] = all(map(torch.equal, found, again))
        row[f"{name}, nan stays"] = all(torch.equal(x[:4], y[:4]) for x, y in zip(found, beside, strict=True))
    return row


def milliseconds(case: Case, members: int, examples: int, forms: dict[Any, Any]) -> float:
    """Returns the time of a CUDA graph of a function with its gradients: the median of five rounds."""
    inputs = [x.float() for x in given(case, members, examples)]
    side = torch.cuda.Stream()
    with own_products(DEVICE, exact=False):
        with torch.cuda.stream(side):
            for _ in range(2):
                results(case, inputs, forms)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept = results(case, inputs, forms)
        rounds = []
        for _ in range(5):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(10):
                graph.replay()
            end.record()
            torch.cuda.synchronize()
            rounds.append(begin.elapsed_time(end) / 10)
        del kept
    return statistics.median(rounds)


def tiled(options: Mapping[str, Any]) -> AbstractContextManager[Any]:
    """Sets sizes of `fused` inside the context; without options, nothing."""
    return mock.patch.multiple(fused, **options) if options else nullcontext()


def compile_one(case: Case, examples: int, options: dict[str, Any]) -> None:
    """Compiles the kernels of a measurement, which later processes read from Triton's cache."""
    with tiled(options), own_products(DEVICE, exact=False):
        results(case, given(case, 2, examples), fused.FORMS)


def said(row: dict[str, Any]) -> None:
    print(json.dumps(row), flush=True)


def attempt(measure: Callable[[], Any]) -> Any:
    """Returns a result, or the error as a sentence."""
    try:
        return measure()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip()[:300]}"


def main() -> None:
    """Checks and measures all functions."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=30)
    parser.add_argument("--examples", type=int, default=128)
    options = parser.parse_args()
    begin = time.monotonic()
    said(
        {
            "benchmark": "torch_fused",
            "command": "python " + " ".join(sys.argv),
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "torch": torch.__version__,
            "gpu": torch.cuda.get_device_name(),
            **vars(options),
        }
    )
    only: dict[str, dict[str, Any]] = {"kernel": {}}
    variants = {case: TILES if case.of == "attention" else only for case in TIMES}
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
        rows = {case: pool.submit(checked, case) for case in CHECKS}
        for case, ways in variants.items():
            for own in ways.values():
                pool.submit(compile_one, case, options.examples, own)
        for case, row in rows.items():
            said({**asdict(case), "errors": attempt(row.result)})
    said({"seconds": round(time.monotonic() - begin, 1)})
    for case, ways in variants.items():
        times = {"as vmap has it": attempt(lambda c=case: milliseconds(c, options.members, options.examples, {}))}
        for name, own in ways.items():
            with tiled(own):
                times[name] = attempt(lambda c=case: milliseconds(c, options.members, options.examples, fused.FORMS))
        said({**asdict(case), "milliseconds": {n: t if isinstance(t, str) else round(t, 4) for n, t in times.items()}})
        torch.cuda.empty_cache()
    said({"seconds": round(time.monotonic() - begin, 1)})


if __name__ == "__main__":
    main()
