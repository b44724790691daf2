"""Compares the kernels of the loop over time with a plain loop in double precision. Needs an H100 or H200.

    python benchmarks/fused_check.py [KIND ...]          rnn tanh_rnn lstm gru stack_rnn tape_rnn; by default all
    python benchmarks/fused_check.py --time [KIND ...]
    compute-sanitizer python benchmarks/fused_check.py --sanitize [KIND ...]

Outputs and gradients are compared at many sizes and with large states, with the error of the same loop by scan in TF32
beside them; then the same bits twice, and members that are NaN or infinite. The last line is JSON.
"""

import json
import os
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

if "--time" not in sys.argv:  # many programs are compiled, and run once
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_autotune_level=0"

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
from humboldt.models.loop.fused import kernels, tape
from humboldt.models.loop.fused.recorded import product

KINDS = ("rnn", "tanh_rnn", "lstm", "gru", "stack_rnn", "tape_rnn")
CHECKED = 3  # members that are also computed in double precision


class Case(NamedTuple):
    """Sizes of one run."""

    members: int
    batch: int
    steps: int
    hidden: int = 256
    symbols: int = 3
    cell: int = 8
    own: bool = False  # whether members read symbols of their own
    classes: int = 0  # of a readout that the kernel applies


SIZES = (
    Case(3, 32, 2),
    Case(2, 1, 1),
    Case(33, 5, 7, symbols=16, own=True),
    Case(2, 33, 40, symbols=12),
    Case(1, 200, 9, symbols=32, own=True),
    Case(5, 128, 80),
    Case(4, 129, 3, symbols=9, cell=5),
    Case(2, 64, 81, symbols=1),
    Case(3, 40, 20, hidden=200, symbols=5),
    Case(3, 70, 20, hidden=128, symbols=5),
    Case(3, 140, 20, hidden=64, symbols=17),
    Case(3, 31, 20, hidden=50, symbols=5),
    Case(2, 1, 1, classes=2),
    Case(33, 5, 7, symbols=16, own=True, classes=5),
    Case(2, 33, 40, hidden=200, symbols=12, classes=3),
    Case(3, 70, 20, hidden=128, symbols=5, classes=16),
    Case(3, 31, 20, hidden=50, symbols=5, classes=1),
)
BENCHMARK = Case(30, 128, 80)
CLASSES = 2  # of the readout of the benchmark


def base(kind: str) -> tuple[str, Any]:
    return ("rnn", "tanh") if kind == "tanh_rnn" else (kind, "relu")


def drawn(kind: str, case: Case, seed: int = 0) -> dict[str, np.ndarray]:
    """Draws weights about as they are initialised."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int, fan: float) -> np.ndarray:
        return (rng.standard_normal((case.members, *shape)).clip(-2, 2) / fan**0.5).astype(np.float32)

    h, drive = case.hidden, case.hidden * (4 if kind in kernels.GATED else 1)
    inputs = 11 if kind in ("stack_rnn", "tape_rnn") else 3
    found = {"recurrent": normal(h, drive, fan=h), "table": normal(case.symbols, drive, fan=inputs)}
    if case.classes:
        found["readout"] = normal(h, case.classes, fan=h)
    if kind == "gru":  # the fourth part of the drive comes from the input alone
        found["recurrent"][..., 3 * h :] = 0
    if kind == "stack_rnn":
        found |= {"reading": normal(case.cell, drive, fan=inputs), "value": normal(h, case.cell, fan=h)}
        found |= {
            "action": normal(h, 3, fan=h),
            "value_bias": normal(case.cell, fan=99),
            "action_bias": normal(3, fan=99),
        }
    if kind == "tape_rnn":
        sizes = {"first": (h, 64), "second": (64, 64), "value": (64, case.cell), "action": (h, 5)}
        found["reading"] = normal(case.cell, drive, fan=inputs)
        for name, (rows, columns) in sizes.items():
            found |= {name: normal(rows, columns, fan=rows), f"{name}_bias": normal(columns, fan=99)}
    return found


def large(kind: str, case: Case) -> dict[str, np.ndarray]:
    """Weights with which the states of an RNN count up to hundreds, and the gates of an LSTM or GRU saturate."""
    found = drawn(kind, case)
    if kind in kernels.GATED:
        return found | {"recurrent": 3 * found["recurrent"], "table": 3 * found["table"]}
    found["recurrent"] = (0.99 * np.eye(case.hidden) + 0.01 * found["recurrent"]).astype(np.float32)
    found["table"] = np.abs(found["table"]) * 8
    if kind == "stack_rnn":
        found |= {name: 0.03 * found[name] for name in ("reading", "value", "action")}
    if kind == "tape_rnn":
        found |= {name: 0.03 * found[name] for name in ("reading", "first", "action")}
    return found


def symbols_of(case: Case) -> np.ndarray:
    shape = (case.members, case.batch, case.steps) if case.own else (case.batch, case.steps)
    return np.random.default_rng(1).integers(0, case.symbols, shape).astype(np.int32)


def target_of(case: Case) -> np.ndarray:
    """Gradients of the outputs, as of a mean loss."""
    shape = (case.members, case.batch, case.steps, case.classes or case.hidden)
    return (np.random.default_rng(2).standard_normal(shape) / (case.batch * case.steps)).astype(np.float32)


def tape_of(batch: int, steps: int) -> tuple[tape.TapeKernel, np.ndarray]:
    """The kernel of a tape, and the ring and jump of each example."""
    cells, example = max(256, 2 * steps + 6), np.arange(batch)
    places = np.stack([cells - 2 * (example % 3), (7 * example + 3) % (steps + 1)], 1)
    return tape.TapeKernel(cells, jumps_write=False), places.astype(np.int32)


@jax.checkpoint
def moved(content: Any, value: Any, actions: Any, places: Any) -> Any:
    """One step of a tape (cell, number)."""
    ring, jump = places
    cell = jnp.arange(len(content))
    written = content.at[0].set(value)

    def by(content: Any, shift: Any) -> Any:
        return jnp.where(cell[:, None] < ring, content[(cell + shift) % ring], 0)

    stay, left, right, jump_left, jump_right = actions
    jumped = jump_left * by(content, jump) + jump_right * by(content, -jump)
    return stay * written + left * by(written, 1) + right * by(written, -1) + jumped


def plain(kind: str, p: dict[str, Any], symbols: Any) -> Any:
    """One member: outputs (example, time, hidden) or, with a readout, logits."""
    name, activation = base(kind)
    hidden, dtype, (batch, steps) = p["recurrent"].shape[0], p["recurrent"].dtype, symbols.shape
    h = jnp.zeros((batch, hidden), dtype)
    extra = jnp.zeros((batch, hidden), dtype)
    if name == "stack_rnn":
        extra = jnp.zeros((batch, steps + 1, p["value"].shape[1]), dtype)
    kernel, places = tape_of(batch, steps)
    if name == "tape_rnn":
        extra = jnp.zeros((batch, kernel.cells, p["value"].shape[1]), dtype)

    def step(state: Any, s: Any) -> Any:
        h, extra = state
        drive = h @ p["recurrent"] + p["table"][s]
        if name == "lstm":
            i, g, f, o = jnp.split(drive, 4, 1)
            extra = jax.nn.sigmoid(f) * extra + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(extra)
        elif name == "gru":
            r, z, heard, new = jnp.split(drive, 4, 1)
            z, new = jax.nn.sigmoid(z), jnp.tanh(new + jax.nn.sigmoid(r) * heard)
            h = (1 - z) * new + z * h
        elif name == "rnn":
            h = jnp.tanh(drive) if activation == "tanh" else jax.nn.relu(drive)
        elif name == "tape_rnn":
            h = value = jax.nn.relu(drive + extra[:, 0] @ p["reading"])
            for layer in ("first", "second"):
                value = jax.nn.relu(value @ p[layer] + p[f"{layer}_bias"])
            value = value @ p["value"] + p["value_bias"]
            extra = jax.vmap(moved)(extra, value, jax.nn.softmax(h @ p["action"] + p["action_bias"]), places)
        else:
            h = jax.nn.relu(drive + extra[:, 0] @ p["reading"])
            push, pop, stay = jnp.moveaxis(jax.nn.softmax(h @ p["action"] + p["action_bias"]), 1, 0)[:, :, None, None]
            above = jnp.concatenate([(h @ p["value"] + p["value_bias"])[:, None], extra[:, :-1]], 1)
            below = jnp.concatenate([extra[:, 1:], jnp.zeros_like(extra[:, :1])], 1)
            extra = push * above + pop * below + stay * extra
        return (h, extra), h

    outputs = jax.lax.scan(step, (h, extra), symbols.T)[1].swapaxes(0, 1)
    return outputs @ p["readout"] if "readout" in p else outputs


def by_scan(kind: str, p: dict[str, Any], symbols: Any, target: Any) -> tuple[Any, dict[str, Any]]:
    """Outputs and gradients of `(outputs * target).sum()`, of all members."""

    def loss(p: dict[str, Any]) -> tuple[Any, Any]:
        outputs = jax.vmap(partial(plain, kind), (0, 0 if symbols.ndim == 3 else None))(p, symbols)
        return (outputs * target).sum(), outputs

    gradients, outputs = jax.grad(loss, has_aux=True)(p)
    return outputs, gradients


def forward(kind: str, weights: dict[str, Any], table: Any, symbols: Any, *, keeps: bool = True) -> kernels.Forward:
    name, activation = base(kind)
    if name == "tape_rnn":
        kernel, places = tape_of(*symbols.shape[-2:])
        places = jnp.broadcast_to(jnp.asarray(places), (*symbols.shape[:-1], 2))
        return tape.forward(kernel, weights, table, jnp.concatenate([symbols, places], -1), keeps=keeps)
    return kernels.forward(name, weights, table, symbols, keeps=keeps, activation=activation)


def backward(kind: str, weights: dict[str, Any], residuals: Any, outputs: Any, target: Any) -> kernels.Gradients:
    name, activation = base(kind)
    if name == "tape_rnn":
        return tape.backward(tape_of(*target.shape[1:3])[0], weights, residuals, target)
    return kernels.backward(name, weights, residuals, outputs, target, activation=activation)


def by_kernel(kind: str, p: dict[str, Any], symbols: Any, target: Any) -> tuple[Any, dict[str, Any]]:
    """The same, by the kernels, with the gradients of weights as products of what they return."""
    weights = {k: v for k, v in p.items() if k != "table"}
    outputs, notes, residuals = forward(kind, weights, p["table"], symbols)
    found = backward(kind, weights, residuals, outputs, target)

    by_scale = 1 / found.scale[:, 0, None, None]
    num_symbols = p["table"].shape[1]
    if kind in kernels.GATED:
        before = notes["inputs"]
        both, columns = product(before, found.d_drive) * by_scale, kernels.gated_table(num_symbols)[0]
        gradients = {"recurrent": both[:, : p["recurrent"].shape[1]], "table": both[:, -columns:][:, :num_symbols]}
    else:
        before = notes["before"]
        hot = jax.nn.one_hot(jnp.broadcast_to(symbols, outputs.shape[:3]), num_symbols, dtype=before.dtype)
        gradients = {"recurrent": product(before, found.d_drive), "table": product(hot, found.d_drive)}
        gradients = jax.tree.map(lambda x: x * by_scale, gradients)
    if "reading" in p:
        gradients["reading"] = product(notes["read"], found.d_drive)
    inputs = {"second": "first", "value": "second"} if kind == "tape_rnn" else {}
    for k, d in found.d_taps.items():
        note = notes[k if k == "last" else inputs[k]] if k == "last" or k in inputs else before
        gradients[k] = (product(note, d) * by_scale)[:, : p["readout" if k == "last" else k].shape[1]]
        if k not in ("readout", "last"):
            gradients[f"{k}_bias"] = d.sum((1, 2), dtype=jnp.float32)
    if "last" in gradients:
        parts = gradients["readout"] + gradients.pop("last")
        gradients["readout"] = parts.reshape(*parts.shape[:2], -1, p["readout"].shape[2]).sum(2)
    return outputs, gradients


def in_doubles(kind: str, p: dict[str, np.ndarray], symbols: np.ndarray, target: np.ndarray) -> tuple[Any, Any]:
    """`by_scan` of the first members in double precision."""
    p = {k: v[:CHECKED].astype(np.float64) for k, v in p.items()}
    symbols = symbols[:CHECKED] if symbols.ndim == 3 else symbols
    return jax.device_get(jax.jit(partial(by_scan, kind))(p, symbols, target[:CHECKED].astype(np.float64)))


def error(found: Any, expected: Any) -> float:
    """The largest distance of a member's array, relative to its norm."""
    a, b = (np.asarray(x, np.float64)[:CHECKED].reshape(min(len(x), CHECKED), -1) for x in (found, expected))
    size = np.linalg.norm(b, axis=1)
    return float((np.linalg.norm(a - b, axis=1) / np.where(size > 0, size, 1)).max())


def errors(found: tuple[Any, Any], expected: tuple[Any, Any]) -> dict[str, float]:
    each = {"outputs": error(found[0], expected[0])} | {k: error(found[1][k], v) for k, v in expected[1].items()}
    return {k: float(f"{v:.1e}") for k, v in each.items()}


def same(a: Any, b: Any, members: Any = slice(None)) -> bool:
    """Whether all bits agree."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(np.asarray(x)[members], np.asarray(y)[members], equal_nan=True) for x, y in pairs)


def milliseconds(run: Any, *arguments: Any) -> float:
    found = jax.block_until_ready(run(*arguments))
    times = []
    for _ in range(10):
        begun = time.perf_counter()
        for _ in range(5):
            found = run(*arguments)
        jax.block_until_ready(found)
        times.append((time.perf_counter() - begun) / 5)
    return round(median(times) * 1e3, 3)


def compared(kind: str, title: str, p: dict[str, np.ndarray], case: Case, *, scan: bool = False) -> list[Any]:
    symbols, target = symbols_of(case), target_of(case)
    expected = in_doubles(kind, p, symbols, target)
    found = jax.device_get(jax.jit(partial(by_kernel, kind))(p, symbols, target))
    rows: list[dict[str, Any]] = [{"case": title, **errors(found, expected)}]
    if title == "large states":
        rows[0]["largest"] = float(f"{np.abs(expected[0]).max():.3g}")
    if scan:
        tf32 = jax.device_get(jax.jit(partial(by_scan, kind))(p, symbols, target))
        rows.append({"case": f"{title}, scan", **errors(tf32, expected)})
    for row in rows:
        print(kind, json.dumps(row), flush=True)
    return rows


def check(kind: str) -> dict[str, Any]:
    begun, record = time.perf_counter(), {}
    with ThreadPoolExecutor(8) as pool:
        wide = Case(3, 50, 80)
        jobs = [pool.submit(compared, kind, "benchmark", drawn(kind, BENCHMARK), BENCHMARK, scan=True)]
        jobs.append(pool.submit(compared, kind, "large states", large(kind, wide), wide, scan=True))
        if with_readout(kind) != BENCHMARK:
            case = with_readout(kind)
            jobs.append(pool.submit(compared, kind, "benchmark, readout", drawn(kind, case), case, scan=True))
        for case in SIZES:
            fits = kernels.fits(base(kind)[0], Sizes(case.hidden, case.steps, case.symbols, case.cell)) is None
            if fits and (not case.classes or kernels.reads_out(base(kind)[0], case.classes)):
                jobs.append(pool.submit(compared, kind, " ".join(map(str, case)), drawn(kind, case), case))
        record["errors"] = [row for job in jobs for row in job.result()]

    run, case = jax.jit(partial(by_kernel, kind)), with_readout(kind)
    p, symbols, target = drawn(kind, case), symbols_of(case), target_of(case)
    first, second = jax.device_get(run(p, symbols, target)), jax.device_get(run(p, symbols, target))
    record["same bits twice"] = same(first, second)
    broken = {k: v.copy() for k, v in p.items()}
    broken["recurrent"][1, 3, 5] = np.nan
    broken["recurrent"][3] *= 1e30
    sick = jax.device_get(run(broken, symbols, target))
    record["others unharmed by NaN"] = same(first, sick, [0, 2, *range(4, 30)])
    record["NaN shows in outputs"] = bool(np.isnan(sick[0][1]).any())
    target[2, 7, 11], target[5, 3, 1, 1] = np.nan, np.inf
    sick = jax.device_get(run(p, symbols, target))
    record["others unharmed by NaN behind"] = same(first, sick, [0, 1, 3, 4, *range(6, 30)])
    record["NaN shows in gradients"] = bool(np.isnan(sick[1]["recurrent"][2]).any())
    weights = {k: v for k, v in p.items() if k != "table"}
    only = jax.jit(partial(forward, kind, keeps=False))
    record["keeps nothing, same outputs"] = same(first[0], only(weights, p["table"], symbols).outputs)
    record["seconds"] = round(time.perf_counter() - begun, 1)
    print(kind, json.dumps({k: v for k, v in record.items() if k != "errors"}), flush=True)
    return record


def with_readout(kind: str) -> Case:
    """The benchmark, with a readout if the kernel for this kind of cell applies it."""
    return BENCHMARK._replace(classes=CLASSES) if kernels.reads_out(base(kind)[0], CLASSES) else BENCHMARK


def timed(kind: str) -> dict[str, Any]:
    """Milliseconds at the benchmark's sizes."""
    case = with_readout(kind)
    p, symbols, target = jax.device_put((drawn(kind, case), symbols_of(case), target_of(case)))
    weights = {k: v for k, v in p.items() if k != "table"}
    forward_pass = jax.jit(partial(forward, kind, keeps=True))
    only = jax.jit(partial(forward, kind, keeps=False))
    backward_pass = jax.jit(partial(backward, kind))
    outputs, _, residuals = forward_pass(weights, p["table"], symbols)
    record = {
        "classes": case.classes,
        "forward": milliseconds(forward_pass, weights, p["table"], symbols),
        "forward, nothing kept": milliseconds(only, weights, p["table"], symbols),
        "backward": milliseconds(backward_pass, weights, residuals, outputs, target),
        "all with weight gradients": milliseconds(jax.jit(partial(by_kernel, kind)), p, symbols, target),
    }
    print(kind, json.dumps(record), flush=True)
    return record


class Sizes(NamedTuple):
    """As the kernels want them."""

    hidden: int
    steps: int
    symbols: int
    cell_size: int


def sanitize(kind: str) -> dict[str, Any]:
    """One small launch of each kernel, with examples that do not fill a block."""
    case = Case(2, 40, 4, symbols=5, classes=with_readout(kind).classes)
    arguments = jax.device_put((drawn(kind, case), symbols_of(case), target_of(case)))
    outputs, gradients = jax.device_get(jax.jit(partial(by_kernel, kind))(*arguments))
    return {"finite": bool(all(np.isfinite(x).all() for x in (outputs, *gradients.values())))}


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    chosen = [x for x in sys.argv[1:] if not x.startswith("-")] or KINDS
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
