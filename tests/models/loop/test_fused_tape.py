"""The kernel of the Tape-RNN against the plain loop, values and all gradients: first with a scan in its place, then the
kernel itself, run on a CPU by an emulator."""

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from emulated_support import Emulator
from emulated_support import emulator as emulator
from fused_support import _one_later as one_later
from fused_support import fresh_kernels as fresh_kernels

from humboldt.models.cells.base import Extent
from humboldt.models.cells.with_memory import normal_memory_cell
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.fused import kernels, tape
from humboldt.models.loop.fused.parts import parts_of
from humboldt.models.loop.fused.run import run_fused
from humboldt.models.loop.unroll import unroll
from humboldt.models.memories.tape import Tape, Tapes, _moved


class Case(NamedTuple):
    members: int
    batch: int
    steps: int
    hidden: int = 256
    symbols: int = 3
    cell: int = 8
    smallest: int = 8  # cells of a tape
    jumps_write: bool = False
    causal: bool = False
    own: bool = False  # whether members read strings of their own
    factor: float = 1.5  # on the weights; with 8, states grow into the thousands
    certainty: float = 1.5  # a factor on the weights of actions
    classes: int = 0  # of a readout that the kernel applies


def cell_of(case: Case, seed: int = 0, *, num_tapes: int = 1) -> Any:
    keys = jax.random.split(jax.random.key(seed), 3)
    memory = Tape(
        case.hidden,
        cell_size=case.cell,
        num_tapes=num_tapes,
        smallest=case.smallest,
        jumps_write=case.jumps_write,
        causal=case.causal,
        key=keys[0],
    )
    return normal_memory_cell("rnn", memory, case.symbols, case.hidden, k_controller=keys[1], k_reading=keys[2])


def drawn(case: Case) -> tuple[Any, Any, Any, Any]:
    """Weights of all members with what they share, strings (symbols, real steps, length of the input), and gradients
    of the outputs."""
    rng = np.random.default_rng(3)

    def livelier(x: Any) -> Any:
        return x * case.factor if x.ndim == 2 else jnp.asarray(0.3 * rng.standard_normal(x.shape), jnp.float32)

    parts = [eqx.partition(cell_of(case, seed), eqx.is_array) for seed in range(case.members)]
    weights = jax.tree.map(lambda *x: jnp.stack([livelier(x) for x in x]), *(weights for weights, _ in parts))
    action = weights.memory.action.weight * (case.certainty / case.factor)
    weights = eqx.tree_at(lambda cell: cell.memory.action.weight, weights, action)
    shape = (case.members, case.batch) if case.own else (case.batch,)
    real = rng.integers(1, case.steps + 1, shape)
    inputs = np.maximum(real - rng.integers(0, case.steps, shape), 1)
    symbols = rng.integers(0, case.symbols, (*shape, case.steps))
    strings = tuple(jnp.asarray(x, jnp.int32) for x in (symbols, real, inputs))
    shape = case.members, case.batch, case.steps, case.classes or case.hidden
    target = rng.standard_normal(shape) / case.batch
    return weights, parts[0][1], strings, jnp.asarray(target, jnp.float32)


def by_loop(cell: Any, extent: Extent, vectors: Any, symbols: Any, readout: Any) -> Any:
    outputs = unroll(cell, cell.init_state(extent), vectors[symbols], hoist=False)[1]
    return outputs if readout is None else jax.vmap(readout)(outputs)


def learned(run: Any, case: Case) -> tuple[Any, Any]:
    """Gradients of weights and vectors, and outputs."""
    weights, static, strings, target = drawn(case)
    vectors = jnp.stack([jnp.eye(case.symbols)] * case.members)
    keys = jax.random.split(jax.random.key(4), case.members)
    readouts = jax.vmap(lambda key: Linear(case.hidden, case.classes, key=key))(keys) if case.classes else None

    def member(trained: Any, strings: Any, target: Any) -> Any:
        def loss(trained: Any) -> Any:
            cell = eqx.combine(trained[0], static)

            def example(symbols: Any, real: Any, inputs: Any) -> Any:
                return run(cell, Extent(case.steps, real, inputs), trained[1], symbols, trained[2])

            outputs = jax.vmap(example)(*strings)
            return (outputs * target).sum(), outputs

        return jax.grad(loss, has_aux=True)(trained)

    run_all = jax.vmap(member, (0, 0 if case.own else None, 0))
    return jax.jit(run_all)((weights, vectors, readouts), strings, target)


def close(ours: Any, theirs: Any, tolerance: float) -> None:
    """Compares arrays relative to the norm of each member."""
    for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(ours), jax.tree.leaves(theirs), strict=True):
        a, b = (np.asarray(x, np.float64).reshape(len(x), -1) for x in (a, b))
        distances, norms = np.linalg.norm(a - b, axis=1), np.linalg.norm(b, axis=1)
        assert (norms > 0).all(), path
        assert (distances <= tolerance * norms).all(), (path, (distances / norms).max())


def scanned(kernel: tape.TapeKernel, weights: Any, drives: Any, taps: Any, places: Any) -> tuple[Any, Any]:
    """One example of one member: outputs, and the inputs of layers. `taps` are added to what the layers give."""

    def layer(name: str, x: Any, tap: Any) -> Any:
        return x @ weights[name] + weights[f"{name}_bias"] + tap[name]

    def step(state: Any, inputs: Any) -> Any:
        hidden, content = state
        drive, tap = inputs
        read = content[0, 0]
        hidden = jax.nn.relu(drive + hidden @ weights["recurrent"] + read @ weights["reading"])
        first = jax.nn.relu(layer("first", hidden, tap))
        second = jax.nn.relu(layer("second", first, tap))
        actions = jax.nn.softmax(layer("action", hidden, tap))[None], layer("value", second, tap)[None]
        content = _moved(Tapes(content, places[0], places[1]), *actions, jumps_write=kernel.jumps_write)
        return (hidden, content), (hidden, {"read": read, "first": first, "second": second})

    start = jnp.zeros(len(weights["recurrent"])), jnp.zeros((1, kernel.cells, len(weights["reading"])))
    return jax.lax.scan(step, start, (drives, taps))[1]


def of_all(kernel: tape.TapeKernel, *arguments: Any) -> tuple[Any, Any]:
    return jax.vmap(jax.vmap(partial(scanned, kernel), (None, 0, 0, 0)))(*arguments)


def taps_like(weights: Any, outputs: Any) -> Any:
    names = ("first", "second", "value", "action")
    return {name: jnp.zeros((*outputs.shape[:3], weights[name].shape[-1])) for name in names}


def forward_by_scan(kernel: tape.TapeKernel, weights: Any, table: Any, strings: Any, *, keeps: bool = True) -> Any:
    strings = jnp.broadcast_to(strings, (len(table), *strings.shape[-2:]))
    drives, places = jax.vmap(lambda table, symbols: table[symbols])(table, strings[..., :-2]), strings[..., -2:]
    outputs, inputs = of_all(kernel, weights, drives, taps_like(weights, drives), places)
    results = outputs @ weights["readout"][:, None] if "readout" in weights else outputs
    if not keeps:
        return results, {}, ()
    notes = {name: one_later(inputs[name]) for name in ("first", "second")}
    notes |= {"before": one_later(outputs), "read": inputs["read"]}
    return results, notes | ({"last": outputs[:, :, -1:]} if "readout" in weights else {}), (drives, places)


def backward_by_scan(kernel: tape.TapeKernel, weights: Any, residuals: Any, d_outputs: Any) -> kernels.Gradients:
    drives, places = residuals
    _, pull = jax.vjp(lambda *x: of_all(kernel, weights, *x, places)[0], drives, taps_like(weights, drives))
    if "readout" not in weights:
        d_drive, d_taps = pull(d_outputs)
        return kernels.Gradients(d_drive, jax.tree.map(one_later, d_taps), jnp.ones(d_outputs.shape[:2]))
    d_drive, d_taps = pull(d_outputs @ weights["readout"][:, None].mT)
    d_taps = jax.tree.map(one_later, d_taps | {"readout": d_outputs}) | {"last": d_outputs[:, :, -1:]}
    return kernels.Gradients(d_drive, d_taps, jnp.ones(d_outputs.shape[:2]))


@pytest.mark.parametrize(("own", "classes"), [(True, 3), pytest.param(False, 0, marks=pytest.mark.slow)])
def test_gradients_equal_those_of_the_loop_with_a_scan_in_place_of_the_kernel(
    own: bool, classes: int, fresh_kernels: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tape, "forward", forward_by_scan)
    monkeypatch.setattr(tape, "backward", backward_by_scan)
    case = Case(members=2, batch=3, steps=4, hidden=7, cell=2, smallest=6, own=own, classes=classes)
    ours, theirs = learned(run_fused, case), learned(by_loop, case)
    close(ours, theirs, 1e-5)


@pytest.fixture
def traced(emulator: Emulator, fresh_kernels: None, monkeypatch: pytest.MonkeyPatch) -> Emulator:
    """The emulator, launched from compiled programs."""

    def launch(name: str, entry: str, results: Any, *arguments: Any, **sizes: int) -> Any:
        return jax.pure_callback(lambda *x: emulator.launch(name, entry, results, *x, **sizes), results, *arguments)

    monkeypatch.setattr(tape, "launch", launch)
    return emulator


CASES = (
    Case(members=2, batch=33, steps=5, symbols=20, cell=5, smallest=12, own=True),
    Case(members=2, batch=3, steps=9, hidden=100, smallest=6, jumps_write=True),
    Case(members=1, batch=1, steps=3, smallest=2),
    Case(members=2, batch=33, steps=5, symbols=20, cell=5, smallest=12, own=True, classes=8),
    Case(members=2, batch=3, steps=4, hidden=100, smallest=6, classes=2),
    Case(members=1, batch=2, steps=1, smallest=6, classes=3),
    Case(members=1, batch=2, steps=7, symbols=32, causal=True, own=True),
    Case(members=1, batch=2, steps=4, smallest=144, factor=8.0, certainty=0.125),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_agrees_with_the_loop_in_any_order_of_threads(case: Case, seed: int, traced: Emulator):
    traced.seed = seed
    ours, theirs = learned(run_fused, case), learned(by_loop, case)
    close(ours[1], theirs[1], 5e-5)
    close(ours[0], theirs[0], 8e-3)


@pytest.mark.slow
def test_without_a_backward_pass_outputs_are_the_same_in_every_bit(traced: Emulator):
    case = CASES[1]
    weights, static, strings, _ = drawn(case)

    def outputs(keeps: bool) -> Any:
        def example(weights: Any, symbols: Any, real: Any, inputs: Any) -> Any:
            cell, extent = eqx.combine(weights, static), Extent(case.steps, real, inputs)
            return run_fused(cell, extent, jnp.eye(case.symbols), symbols, keeps=keeps)

        return jax.jit(jax.vmap(jax.vmap(example, (None, 0, 0, 0)), (0, None, None, None)))(weights, *strings)

    np.testing.assert_array_equal(outputs(True), outputs(False))


def test_turns_are_those_of_a_fourier_transform():
    rng = np.random.default_rng(0)
    for ring, jump in ((6, 0), (12, 5), (256, 40), (256, 777)):
        content = rng.standard_normal(ring)
        turns = np.asarray(tape._turns(jnp.asarray([[ring, jump]]), ring // 2 + 3))[0]
        before = np.fft.rfft(content)
        for shift, (cosine, sine) in ((1, turns[:, :2].T), (jump, turns[:, 2:].T)):
            after = np.fft.rfft(np.roll(content, -shift))
            places = slice(1, ring // 2)
            np.testing.assert_allclose((cosine + 1j * sine)[places] * before[places], after[places], atol=2e-5)
            np.testing.assert_allclose([cosine[0] * before[0], sine[0] * before[-1]], after[[0, -1]], atol=2e-5)


@pytest.mark.parametrize(
    ("changed", "num_tapes"), [({"smallest": 9}, 1), ({}, 2), ({"hidden": 257}, 1), ({"cell": 9}, 1)]
)
def test_other_tapes_have_no_kernel(changed: dict[str, Any], num_tapes: int):
    assert why_not(cell_of(Case(1, 1, 1))) is None
    assert why_not(cell_of(Case(1, 1, 1, **changed), num_tapes=num_tapes))


def why_not(cell: Any) -> str | None:
    parts = parts_of(cell)
    return "there is none" if parts is None else kernels.fits(parts.kind, parts.sizes(5, 3))
