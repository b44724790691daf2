"""Compares the kernels of attention with plain products in double precision. Needs an H100 or H200.

    python benchmarks/attention_check.py [KIND ...]          none alibi relative; by default all
    python benchmarks/attention_check.py --time [KIND ...]
    compute-sanitizer python benchmarks/attention_check.py --sanitize [KIND ...]

Outputs and gradients are compared at many sizes and with large scores, with the errors of plain products in TF32 beside
them; then the same bits twice, and members that are NaN or infinite. Times are of both ways. The last line is JSON.
"""

import json
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from fused_check import error, milliseconds, same  # also sets options of XLA and the path

import jax  # isort: skip
import jax.numpy as jnp
import numpy as np

from humboldt.models.layers.fused import kernels
from humboldt.models.layers.fused.kernels import Form, Sizes
from humboldt.models.layers.positions import alibi_bias, relative_shift
from humboldt.models.layers.softmax import softmax_of_visible

KINDS = {"none": Form(), "alibi": Form(alibi=True), "relative": Form(relative=True)}
CHECKED = 3  # members that are also computed in double precision
NAMES = ("queries", "keys", "values")


class Case(NamedTuple):
    """Sizes of one run."""

    members: int
    examples: int
    queries: int
    keys: int
    heads: int = 8
    size: int = 8
    mask: str = "random"  # or all, causal, padding
    own: bool = False  # whether members have masks of their own
    scale: float = 1.0  # of queries and keys


BENCHMARK = Case(30, 128, 80, 80, mask="all")
CASES = (
    Case(30, 128, 80, 80),
    Case(30, 128, 80, 80, mask="causal"),
    Case(3, 16, 80, 80, scale=5.0),
    Case(2, 1, 1, 1, mask="all"),
    Case(33, 5, 7, 7, mask="padding", own=True),
    Case(3, 32, 128, 128, mask="causal"),
    Case(3, 32, 40, 100),
    Case(3, 32, 100, 40, own=True),
    Case(3, 7, 33, 33, heads=3, size=16),
    Case(3, 7, 65, 65, heads=2, size=24, mask="padding"),
    Case(3, 7, 128, 128, heads=4, size=32),
    Case(3, 7, 64, 64, heads=2, size=64, mask="causal"),
    Case(2, 3, 700, 513, heads=2, mask="padding"),
    Case(2, 2, 300, 1000, heads=1, size=64),
)


def drawn(kind: str, case: Case, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Draws queries, keys, values and the weights of positions; the mask; and gradients of the outputs."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int, by: float = 1.0) -> np.ndarray:
        return (by * rng.standard_normal((case.members, *shape))).astype(np.float32)

    size = case.heads, case.size
    found = {name: normal(case.examples, case.keys, *size, by=case.scale) for name in NAMES}
    found["queries"] = normal(case.examples, case.queries, *size, by=case.scale)
    if kind == "relative":
        found["table"] = normal(case.queries + case.keys - 1, *size)
        found |= {name: normal(*size, by=0.3) for name in ("content_bias", "distance_bias")}
    shape = case.members if case.own else 1, case.examples, case.queries, case.keys
    i, j = np.arange(case.queries)[:, None], np.arange(case.keys)[None, :]
    masks = {
        "all": np.ones((1, 1, *shape[2:]), bool),
        "causal": (i >= j)[None, None],
        "padding": j < rng.integers(0, case.keys + 1, (*shape[:2], 1, 1)),
        "random": (rng.random(shape) < 0.7) & (i % 9 != 4),
    }
    target = normal(case.examples, case.queries, *size, by=1 / (case.examples * case.queries))
    return found, np.broadcast_to(masks[case.mask], shape), target


def plain(form: Form, p: dict[str, Any], mask: Any) -> Any:
    """All members, as the layer does it without kernels."""

    def one(tokens: dict[str, Any], mask: Any, weights: dict[str, Any]) -> Any:
        queries, keys = tokens["queries"], tokens["keys"]
        if form.relative:
            by_distance = jnp.einsum("qhd,rhd->hqr", queries + weights["distance_bias"][None], weights["table"])
            by_content = jnp.einsum("qhd,khd->hqk", queries + weights["content_bias"][None], keys)
            scores = by_content + jax.vmap(relative_shift)(by_distance)
        else:
            scores = jnp.einsum("qhd,khd->hqk", queries, keys)
        scores = scores * queries.shape[-1] ** -0.5
        if form.alibi:
            distances = jnp.arange(len(queries))[:, None] - jnp.arange(len(keys))[None, :]
            scores = scores + alibi_bias(distances, queries.shape[1]).astype(scores.dtype)
        return jnp.einsum("hqk,khd->qhd", softmax_of_visible(scores, mask), tokens["values"])

    tokens = {name: p[name] for name in NAMES}
    weights = {name: x for name, x in p.items() if name not in NAMES}
    own = None if len(mask) == 1 else 0
    of_member = jax.vmap(one, (0, 0, None))
    return jax.vmap(of_member, (0, own, 0))(tokens, mask[0] if own is None else mask, weights)


def by_plain(form: Form, p: dict[str, Any], mask: Any, target: Any) -> tuple[Any, dict[str, Any]]:
    """Outputs and gradients of `(outputs * target).sum()`."""
    outputs, pull = jax.vjp(lambda p: plain(form, p, mask), p)
    return outputs, pull(target)[0]


def arguments_of(p: dict[str, Any], mask: Any) -> tuple[Any, Any, Any, Any, Any]:
    weights = {name: x for name, x in p.items() if name not in NAMES}
    return p["queries"], p["keys"], p["values"], mask, weights


def by_kernel(form: Form, p: dict[str, Any], mask: Any, target: Any) -> tuple[Any, dict[str, Any]]:
    """The same, by the kernels."""
    arguments = arguments_of(p, mask)
    outputs, logarithms = kernels.forward(form, *arguments)
    if kernels.fits(form, Sizes(p["queries"].shape[4], p["queries"].shape[2], p["keys"].shape[2])):
        return outputs, {}
    *tokens, weights = kernels.backward(form, *arguments, outputs, logarithms, target)
    return outputs, dict(zip(NAMES, tokens, strict=True)) | {name: x.sum(1) for name, x in weights.items()}


def in_doubles(form: Form, p: dict[str, np.ndarray], mask: np.ndarray, target: np.ndarray) -> tuple[Any, Any]:
    """`by_plain` of the first members in double precision."""
    p = {name: x[:CHECKED].astype(np.float64) for name, x in p.items()}
    run = jax.jit(partial(by_plain, form))
    return jax.device_get(run(p, mask[:CHECKED], target[:CHECKED].astype(np.float64)))


def errors(found: tuple[Any, Any], expected: tuple[Any, Any]) -> dict[str, float]:
    each = {"outputs": error(found[0], expected[0])} | {k: error(x, expected[1][k]) for k, x in found[1].items()}
    return {name: float(f"{x:.1e}") for name, x in each.items()}


def compared(kind: str, case: Case) -> list[dict[str, Any]]:
    form, (p, mask, target) = KINDS[kind], drawn(kind, case)
    expected = in_doubles(form, p, mask, target)
    rows: list[dict[str, Any]] = []
    for way, run in (("kernel", by_kernel), ("products in TF32", by_plain)):
        found = jax.device_get(jax.jit(partial(run, form))(p, mask, target))
        rows.append({"case": " ".join(map(str, case)), "way": way, **errors(found, expected)})
        print(kind, json.dumps(rows[-1]), flush=True)
    return rows


def check(kind: str) -> dict[str, Any]:
    begun, form, record = time.perf_counter(), KINDS[kind], {}
    with ThreadPoolExecutor(4) as pool:
        record["errors"] = [row for rows in pool.map(partial(compared, kind), CASES) for row in rows]
    run, case = jax.jit(partial(by_kernel, form)), CASES[0]
    p, mask, target = drawn(kind, case)
    first, second = jax.device_get(run(p, mask, target)), jax.device_get(run(p, mask, target))
    record["same bits twice"] = same(first, second)
    broken = {name: x.copy() for name, x in p.items()}
    broken["queries"][1, 3, 5, 0, 0] = np.nan
    broken["keys"][3] *= 1e30
    target[5, 3, 1, 4, 0] = np.inf
    sick = jax.device_get(run(broken, mask, target))
    record["others unharmed by NaN"] = same(first, sick, [0, 2, 4, *range(6, 30)])
    record["NaN shows"] = bool(np.isnan(sick[0][1, 3, 5, 0]).all() and np.isnan(sick[1]["keys"][1, 3]).any())
    record["seconds"] = round(time.perf_counter() - begun, 1)
    print(kind, json.dumps({k: v for k, v in record.items() if k != "errors"}), flush=True)
    return record


def timed(kind: str) -> dict[str, Any]:
    """Milliseconds of one layer at the benchmark's sizes."""
    form = KINDS[kind]
    p, mask, target = jax.device_put(drawn(kind, BENCHMARK))
    arguments = arguments_of(p, mask)
    forward, backward = jax.jit(partial(kernels.forward, form)), jax.jit(partial(kernels.backward, form))
    outputs, logarithms = forward(*arguments)
    record = {
        "forward": milliseconds(forward, *arguments),
        "backward": milliseconds(backward, *arguments, outputs, logarithms, target),
        "both": milliseconds(jax.jit(partial(by_kernel, form)), p, mask, target),
        "forward, products": milliseconds(jax.jit(partial(plain, form)), p, mask),
        "both, products": milliseconds(jax.jit(partial(by_plain, form)), p, mask, target),
    }
    print(kind, json.dumps(record), flush=True)
    return record


def sanitize(kind: str) -> dict[str, Any]:
    """One small launch of each kernel, with rows that do not fill a strip."""
    found = []
    for case in (Case(2, 2, 21, 37, heads=2), Case(1, 2, 37, 21, heads=1, size=24), Case(1, 1, 130, 140, heads=1)):
        found += jax.tree.leaves(jax.jit(partial(by_kernel, KINDS[kind]))(*drawn(kind, case)))
    return {"finite": bool(all(np.isfinite(x).all() for x in jax.device_get(found)))}


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    chosen = [x for x in sys.argv[1:] if not x.startswith("-")] or list(KINDS)
    run = sanitize if "--sanitize" in sys.argv else timed if "--time" in sys.argv else check
    record: dict[str, Any] = {"jax": jax.__version__, "device": str(jax.devices()[0])}
    for kind in chosen:
        try:
            record[kind] = run(kind)
        except Exception as failure:
            traceback.print_exc(limit=-3)
            record[kind] = {"failed": str(failure)[:300]}
    print(json.dumps(record))


if __name__ == "__main__":
    main()
