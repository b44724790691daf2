"""The fused loop, with scans in the place of the kernels, against the plain loop and the scan of today."""

import re
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fused_support import Scans
from fused_support import fresh_kernels as fresh_kernels
from fused_support import kernel_scans as kernel_scans

from humboldt.models.cells.base import Extent
from humboldt.models.cells.gru import uniform_gru_cell
from humboldt.models.cells.lstm import normal_lstm_cell, uniform_lstm_cell
from humboldt.models.cells.rnn import RNNCell, normal_rnn_cell, uniform_rnn_cell
from humboldt.models.cells.with_memory import normal_memory_cell
from humboldt.models.layers.linear import Linear
from humboldt.models.loop.fused import kernels, self_test
from humboldt.models.loop.fused.batching import forward
from humboldt.models.loop.fused.choice import loop_road, noted_loops, without_gradients
from humboldt.models.loop.outputs import logits_of, outputs_of, read_out
from humboldt.models.loop.unroll import loop_form, unroll_symbols
from humboldt.models.memories.stack import Stack

MEMBERS = 3


def stack_cell(controller: Any, num_stacks: int = 1) -> Any:
    def build(key: jax.Array, inputs: int, hidden: int) -> Any:
        stack = Stack(hidden, cell_size=3, num_stacks=num_stacks, key=key)
        return normal_memory_cell(controller, stack, inputs, hidden, k_controller=key, k_reading=jax.random.key(5))

    return build


BUILD = {
    "rnn": lambda key, inputs, hidden: normal_rnn_cell(inputs, hidden, activation="relu", key=key),
    "lstm": lambda key, inputs, hidden: normal_lstm_cell(inputs, hidden, key=key),
    "two biases": lambda key, inputs, hidden: uniform_lstm_cell(inputs, hidden, keys=jax.random.split(key)),
    "gru": lambda key, inputs, hidden: uniform_gru_cell(inputs, hidden, key=key),
    "tanh": lambda key, inputs, hidden: uniform_rnn_cell(inputs, hidden, key=key),
    "stack_rnn": stack_cell("rnn"),
    "stack_lstm": stack_cell("lstm"),
}
KIND = {"two biases": "lstm", "tanh": "rnn"}


def members_of(name: str, inputs: int, hidden: int) -> tuple[Any, Any]:
    """Returns the weights of all members, and the part that they share."""
    cells = [BUILD[name](jax.random.key(seed), inputs, hidden) for seed in range(MEMBERS)]
    parts = [eqx.partition(cell, eqx.is_inexact_array) for cell in cells]
    return jax.tree.map(lambda *x: jnp.stack(x), *(weights for weights, _ in parts)), parts[0][1]


def by_choice(cell: Any, vectors: jax.Array, symbols: jax.Array) -> jax.Array:
    return outputs_of(cell, Extent.of(jnp.ones(len(symbols), bool)), vectors, symbols)


def by_scan(hoist: bool) -> Any:
    def run(cell: Any, vectors: jax.Array, symbols: jax.Array) -> jax.Array:
        start = cell.init_state(Extent.of(jnp.ones(len(symbols), bool)))
        return unroll_symbols(cell, start, vectors, symbols, hoist=hoist)[1]

    return run


def learned(run: Any, name: str, sizes: tuple[int, ...], *, own: bool) -> Any:
    """Outputs, and gradients of all weights and of vectors; some steps do not count, as in padded batches."""
    inputs, hidden, batch, steps = sizes
    weights, static = members_of(name, inputs, hidden)
    rng = np.random.default_rng(hidden)
    vectors = jnp.asarray(rng.standard_normal((MEMBERS, inputs + 1, inputs)), jnp.float32)
    symbols = jnp.asarray(rng.integers(0, inputs + 1, (MEMBERS, batch, steps) if own else (batch, steps)), jnp.int32)
    counts = jnp.arange(steps)[None] < jnp.asarray(rng.integers(1, steps + 1, (batch, 1)))

    def member(weights: Any, symbols: jax.Array) -> Any:
        def loss(weights: Any) -> Any:
            cell, vectors = eqx.combine(weights[0], static), weights[1]
            outputs = jax.vmap(lambda symbols: run(cell, vectors, symbols))(symbols)
            return jnp.where(counts[..., None], jnp.sin(3 * outputs), 0.0).sum(), outputs

        return jax.grad(loss, has_aux=True)(weights)

    return jax.jit(jax.vmap(member, (0, 0 if own else None))), ((weights, vectors), symbols)


def assert_equal(ours: Any, theirs: Any) -> None:
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5 * float(jnp.abs(b).max()))


@pytest.mark.parametrize(
    ("name", "sizes", "own"),
    [
        ("rnn", (2, 16, 5, 7), False),
        ("lstm", (3, 8, 4, 6), True),
        ("gru", (3, 8, 4, 6), False),
        ("stack_rnn", (2, 12, 3, 9), True),
        pytest.param("two biases", (3, 8, 1, 3), False, marks=pytest.mark.slow),
        pytest.param("tanh", (2, 8, 2, 4), False, marks=pytest.mark.slow),
        pytest.param("stack_lstm", (3, 8, 3, 5), False, marks=pytest.mark.slow),
    ],
)
def test_one_call_runs_all_members_and_gradients_equal_those_of_the_scan(
    name: str, sizes: tuple[int, ...], own: bool, kernel_scans: Scans
):
    self_test._faults.update(faultless(name, sizes))  # what it does is tested below
    run, arguments = learned(by_choice, name, sizes, own=own)
    ours = run(*arguments)
    kind = KIND.get(name, name)
    forwards = [call for call in kernel_scans.calls if call[0] == "forward" and call[2] == MEMBERS]
    _, _, batch, steps = sizes
    assert forwards == [("forward", kind, MEMBERS, (MEMBERS, batch, steps) if own else (batch, steps), True)]
    backwards = [call for call in kernel_scans.calls if call[0] == "backward" and call[2] == MEMBERS]
    assert backwards == [("backward", kind, MEMBERS, batch, steps)]
    assert_equal(ours, run_of(by_scan(name != "rnn"), name, sizes, own=own))


def read_out_of(run: Any, relu: bool) -> Any:
    """A run whose outputs go through a readout, in the kernel if there is one that does it."""

    def all_at_once(both: Any, vectors: jax.Array, symbols: jax.Array) -> jax.Array:
        cell, readout = both
        if run is by_choice:
            extent = Extent.of(jnp.ones(len(symbols), bool))
            return logits_of(cell, readout, extent, vectors, symbols, relu=relu)
        return jax.vmap(lambda hidden: read_out(readout, hidden, relu=relu))(run(cell, vectors, symbols))

    return all_at_once


@pytest.mark.parametrize(
    ("name", "classes", "relu", "own", "is_within"),
    [
        ("rnn", 2, False, False, True),
        ("rnn", 16, True, True, True),
        ("rnn", 17, False, False, False),
        ("stack_rnn", 5, True, False, True),
        ("lstm", 2, True, False, False),
        pytest.param("stack_rnn", 6, False, False, False, marks=pytest.mark.slow),
        pytest.param("tanh", 3, False, True, True, marks=pytest.mark.slow),
        pytest.param("tanh", 3, True, False, False, marks=pytest.mark.slow),
    ],
)
def test_gradients_through_a_readout_equal_those_of_the_scan(
    name: str,
    classes: int,
    relu: bool,
    own: bool,
    is_within: bool,
    kernel_scans: Scans,
    monkeypatch: pytest.MonkeyPatch,
):
    sizes = 2, 8, 3, 6
    trusted = faultless(name, sizes)
    self_test._faults.update({(*key[:-1], is_within): fault for key, fault in trusted.items()})
    build = BUILD[name]
    layer = Linear(8, classes, key=jax.random.key(7))
    monkeypatch.setitem(
        BUILD, name, lambda key, *sizes: (build(key, *sizes), scaled(layer, 1 + jax.random.uniform(key)))
    )
    ours = run_of(read_out_of(by_choice, relu), name, sizes, own=own)
    assert kernel_scans.reads_out == {is_within}
    assert_equal(ours, run_of(read_out_of(by_scan(True), relu), name, sizes, own=own))


def scaled(layer: Linear, factor: jax.Array) -> Linear:
    return jax.tree.map(lambda x: factor * (x + 0.1), layer)


def run_of(run: Any, name: str, sizes: tuple[int, ...], *, own: bool) -> Any:
    function, arguments = learned(run, name, sizes, own=own)
    return function(*arguments)


def faultless(name: str, sizes: tuple[int, ...]) -> dict[Any, str]:
    """What the self-test remembers of kernels that it trusts."""
    kind = KIND.get(name, name)
    table = (16, True) if kind in kernels.GATED else None
    return {(kind, sizes[1], "tanh" if name == "tanh" else "relu", 3 if "stack" in kind else 0, table, False): ""}


def test_no_program_has_a_gradient_of_the_weights_for_each_example(kernel_scans: Scans):
    sizes = _, _, batch, _ = 2, 16, 5, 7
    self_test._faults.update(faultless("rnn", sizes))
    run, arguments = learned(by_choice, "rnn", sizes, own=False)
    text = run.lower(*arguments).as_text()
    shapes = {tuple(map(int, shape.split("x")[:-1])) for shape in re.findall(r"tensor<([0-9x]+xf32)>", text)}
    assert {(MEMBERS, 16, 16), (MEMBERS, 3, 16)} <= shapes
    products = (16, 16), (3, 16)  # of recurrent weights, and of symbols
    assert not any(batch in shape[:-2] and shape[-2:] in products for shape in shapes)


def test_no_program_lets_xla_join_gradients_of_weights(kernel_scans: Scans, monkeypatch: pytest.MonkeyPatch):
    """It would copy their factors, which are large, where products have one in common."""
    self_test._faults.update({(*key[:-1], True): "" for key in faultless("stack_rnn", (2, 8))})
    layer = Linear(8, 2, key=jax.random.key(7))
    build = BUILD["stack_rnn"]
    monkeypatch.setitem(BUILD, "stack_rnn", lambda key, *sizes: (build(key, *sizes), scaled(layer, jnp.array(2.0))))
    run, arguments = learned(read_out_of(by_choice, False), "stack_rnn", (2, 8, 3, 6), own=False)
    text = run.lower(*arguments).as_text()
    barriers = set(re.findall(r"(%\w+):2 = stablehlo.optimization_barrier ", text))
    over_time = r"batching_dims = \[0, 1\] x \[0, 1\], contracting_dims = \[2, 3\] x \[2, 3\]"
    products = re.findall(rf"dot_general (\S+), (\S+), {over_time}.* : \(tensor<[0-9x]*x(\d+)xf32>, ", text)
    assert sorted(int(columns) for _, _, columns in products) == [1, 1, 6, 8, 8, 8]
    for *factors, columns in products:
        assert all(factor.split("#")[0] in barriers for factor in factors) == (columns != "1")


def test_gradients_of_logits_keep_more_bits_than_bfloat16_has():
    d_logits = jnp.asarray(np.random.default_rng(0).standard_normal((2, 3, 5, 4)), jnp.float32)
    taps = kernels.readout_taps(d_logits, jnp.array([1.0, 2.0]), jnp.dtype("bfloat16"))
    later, last = (np.asarray(taps[name], np.float32).reshape(2, 3, -1, 2, 4).sum(3) for name in ("readout", "last"))
    expected = d_logits * jnp.array([1.0, 2.0])[:, None, None, None]
    np.testing.assert_allclose(later[:, :, 1:], expected[:, :, :-1], rtol=2**-16)
    np.testing.assert_allclose(last, expected[:, :, -1:], rtol=2**-16)
    assert (later[:, :, 0] == 0).all()


def test_any_order_of_axes_leads_to_one_call(kernel_scans: Scans):
    """Examples of members, members of examples, and two cells inside an example, as in a network that reads twice."""
    self_test._faults.update(faultless("rnn", (2, 8)))
    weights, static = members_of("rnn", 2, 8)
    vectors = jnp.eye(3, 2)
    symbols = jnp.asarray(np.random.default_rng(0).integers(0, 3, (4, MEMBERS, 6)), jnp.int32)

    def one(weights: Any, symbols: jax.Array) -> jax.Array:
        return by_choice(eqx.combine(weights, static), vectors, symbols)

    def plain(weights: Any, symbols: jax.Array) -> jax.Array:
        return by_scan(False)(eqx.combine(weights, static), vectors, symbols)

    expected = jax.jit(jax.vmap(jax.vmap(plain, (None, 0)), (0, 1)))(weights, symbols)
    two = jax.tree.map(lambda x: jnp.stack([x, 2 * x]), weights)
    orders = {
        "inside out": (jax.vmap(jax.vmap(one, (0, 0)), (None, 0), 1), weights, MEMBERS),
        "outside in": (jax.vmap(jax.vmap(one, (None, 0)), (0, 1)), weights, MEMBERS),
        "two cells": (jax.vmap(jax.vmap(jax.vmap(one, (0, None)), (None, 0), 1), (1, 1), 1), two, 2 * MEMBERS),
    }
    for run, cells, members in orders.values():
        forward.cache_clear()
        kernel_scans.calls.clear()
        found = jax.jit(run)(cells, symbols)
        np.testing.assert_allclose(found[0] if members > MEMBERS else found, expected, rtol=1e-5, atol=1e-6)
        assert ("forward", "rnn", members, (members, 4, 6), True) in kernel_scans.calls


def test_gradients_of_single_examples_and_of_vectors_that_alone_differ(kernel_scans: Scans):
    """No sum over examples where none is wanted, and the scale of each member where only vectors make members."""
    self_test._faults.update(faultless("rnn", (2, 8)))
    cell = BUILD["rnn"](jax.random.key(0), 2, 8)
    symbols = jnp.asarray(np.random.default_rng(0).integers(0, 3, (2, 5)), jnp.int32)
    vectors = jax.random.normal(jax.random.key(1), (2, 3, 2))

    def gradients(run: Any) -> Any:
        def loss(weights: Any, vectors: jax.Array, symbols: jax.Array) -> jax.Array:
            return jnp.sin(3 * run(eqx.combine(weights, static), vectors, symbols)).sum()

        weights, static = eqx.partition(cell, eqx.is_array)
        single = jax.vmap(jax.grad(loss), (None, None, 0))(weights, vectors[0], symbols)
        of_all = jax.grad(lambda weights: jax.vmap(loss, (None, 0, None))(weights, vectors, symbols[0]).sum())(weights)
        return single, of_all

    assert_equal(jax.jit(lambda: gradients(by_choice))(), jax.jit(lambda: gradients(by_scan(False)))())


def notes_of(cell: Any, *, steps: int = 4, vectors: Any = None) -> list[str]:
    vectors = jnp.eye(2) if vectors is None else vectors
    with noted_loops() as notes:
        jax.eval_shape(lambda: by_choice(cell, vectors, jnp.zeros(steps, jnp.int32)))
    return list(notes)


class Own(RNNCell):
    """A user's cell, which may do anything."""


def test_a_loop_is_a_scan_wherever_the_kernels_do_not_apply(kernel_scans: Scans):
    self_test._faults.update(faultless("rnn", (2, 8)) | faultless("stack_rnn", (2, 8)))
    cell = BUILD["rnn"](jax.random.key(0), 2, 8)
    assert notes_of(cell) == [""]
    assert notes_of(Own(**vars(cell))) == ["there is no kernel for this cell (Own)"]
    assert notes_of(stack_cell("rnn", 2)(jax.random.key(0), 2, 8)) == ["there is no kernel for this cell (MemoryCell)"]
    assert notes_of(cell, steps=41) == ["it has too many steps"]
    half = jax.tree.map(lambda x: x.astype(jnp.bfloat16), eqx.filter(cell, eqx.is_array))
    half = eqx.combine(half, eqx.filter(cell, eqx.is_array, inverse=True))
    assert notes_of(half, vectors=jnp.eye(2, dtype=jnp.bfloat16)) == ["the kernels compute in single precision"]
    with jax.default_matmul_precision("highest"):
        assert notes_of(cell) == ["the kernels round factors of products"]
    with loop_form("hoisted"):
        assert notes_of(cell) == ["the form of the loop is set"]
    if hasattr(jax, "make_user_context"):
        with loop_road("scan"):
            assert notes_of(cell) == ["it was asked for"]
    assert not kernel_scans.calls[1:]  # the first cell's only


def test_a_road_is_part_of_the_key_of_a_compiled_program(kernel_scans: Scans):
    self_test._faults.update(faultless("rnn", (2, 8)))
    cell = BUILD["rnn"](jax.random.key(0), 2, 8)
    run = jax.jit(lambda symbols: by_choice(cell, jnp.eye(2), symbols))
    results = [run(jnp.zeros(3, jnp.int32))]
    calls = len(kernel_scans.calls)
    with loop_road("scan"):
        results.append(run(jnp.zeros(3, jnp.int32)))
    run(jnp.zeros(3, jnp.int32))
    assert calls and len(kernel_scans.calls) == calls
    np.testing.assert_allclose(*results, rtol=1e-5)


def test_without_gradients_nothing_is_kept(kernel_scans: Scans):
    self_test._faults.update(faultless("lstm", (2, 8)))
    cell = BUILD["lstm"](jax.random.key(0), 2, 8)
    with without_gradients():
        found = jax.jit(jax.vmap(lambda symbols: by_choice(cell, jnp.eye(2), symbols)))(jnp.ones((2, 3), jnp.int32))
    assert {call[-1] for call in kernel_scans.calls} == {False}
    np.testing.assert_allclose(found[0], by_scan(False)(cell, jnp.eye(2), jnp.ones(3, jnp.int32)), rtol=1e-5)


def test_the_self_test_passes_once_in_a_process(kernel_scans: Scans, recwarn: pytest.WarningsRecorder):
    """It is called while a program is being traced."""
    cell = BUILD["rnn"](jax.random.key(0), 2, 8)
    run = jax.jit(jax.vmap(jax.grad(lambda vectors, symbols: by_choice(cell, vectors, symbols).sum()), (None, 0)))
    run(jnp.eye(2), jnp.ones((2, 3), jnp.int32))
    tested = [call for call in kernel_scans.calls if call[2] == self_test.MEMBERS]
    assert {call[0] for call in tested} == {"forward", "backward"}
    run(jnp.eye(2), jnp.ones((2, 4), jnp.int32))
    assert tested == [call for call in kernel_scans.calls if call[2] == self_test.MEMBERS]
    assert not recwarn.list


@pytest.mark.parametrize(
    ("name", "alphabets", "tests"),
    [
        ("lstm", (3, 8, 9, 16, 17, 32), 3),
        ("gru", (3, 8, 9, 16, 17, 32), 3),
        ("rnn", (3, 32), 1),
        ("tanh", (3, 32), 1),
    ],
)
def test_every_kernel_is_tested_before_its_first_use(
    name: str, alphabets: tuple[int, ...], tests: int, kernel_scans: Scans
):
    """Gated cells read up to 8, 16 and 32 symbols in three ways, two of which are programs of their own."""
    cell = BUILD[name](jax.random.key(0), 2, 8)
    for symbols in alphabets:
        assert notes_of(cell, vectors=jnp.ones((symbols, 2))) == [""]
    tested = [call for call in kernel_scans.calls if call[:3] == ("backward", KIND.get(name, name), self_test.MEMBERS)]
    assert len(tested) == tests


@pytest.mark.parametrize("fault", ["differs", "raises"])
def test_a_kernel_that_fails_is_not_used_and_one_warning_says_so(
    fault: str, kernel_scans: Scans, monkeypatch: pytest.MonkeyPatch
):
    def raises(*arguments: Any, **keywords: Any) -> Any:
        raise RuntimeError("no target __gpu$xla.gpu.ptx\nand a long trace")

    if fault == "differs":
        kernel_scans.factor = 1.1
    else:
        monkeypatch.setattr(self_test, "run_fused", raises)
    cell = BUILD["rnn"](jax.random.key(0), 2, 8)
    reason = {
        "differs": "the kernel's gradients differ from those of the scan",
        "raises": "the kernel failed (RuntimeError: no target __gpu$xla.gpu.ptx)",
    }[fault]
    with pytest.warns(UserWarning, match=re.escape(reason)) as warned:
        assert notes_of(cell) == [reason]
        assert notes_of(cell, steps=5) == [reason]
    assert len(warned) == 1
    found = by_choice(cell, jnp.eye(2), jnp.ones(4, jnp.int32))
    np.testing.assert_array_equal(found, by_scan(False)(cell, jnp.eye(2), jnp.ones(4, jnp.int32)))
