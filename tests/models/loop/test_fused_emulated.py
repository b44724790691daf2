"""The kernels of the loop over time, run on a CPU by an emulator, against scans."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from emulated_support import Emulator
from emulated_support import emulator as emulator
from fused_support import Scans

from humboldt.models.loop.fused import kernels


class Case(NamedTuple):
    kind: str
    hidden: int
    members: int
    batch: int
    steps: int
    symbols: int = 3
    cell: int = 8
    activation: Any = "relu"
    own: bool = False  # whether members read symbols of their own
    classes: int = 0  # of a readout that the kernel applies


def drawn(case: Case) -> tuple[dict[str, Any], Any, Any, Any]:
    """Weights, table, symbols and gradients of the outputs."""
    rng = np.random.default_rng(0)
    members, hidden, drive = case.members, case.hidden, case.hidden * (4 if case.kind in kernels.GATED else 1)

    def normal(*shape: int, fan: float) -> Any:
        return jnp.asarray(rng.standard_normal((members, *shape)) / fan**0.5, jnp.float32)

    weights = {"recurrent": normal(hidden, drive, fan=2 * hidden)}
    if case.kind == "gru":
        weights["recurrent"] = weights["recurrent"].at[..., 3 * hidden :].set(0)
    if case.kind == "stack_rnn":
        weights |= {
            "reading": normal(case.cell, drive, fan=3 * case.cell),
            "value": normal(hidden, case.cell, fan=hidden),
        }
        weights |= {"value_bias": normal(case.cell, fan=9), "action": normal(hidden, 3, fan=hidden)}
        weights["action_bias"] = normal(3, fan=9)
    if case.classes:
        weights["readout"] = normal(hidden, case.classes, fan=hidden)
    read_by = (members,) if case.own else ()
    symbols = jnp.asarray(rng.integers(0, case.symbols, (*read_by, case.batch, case.steps)), jnp.int32)
    d_outputs = (
        1e-6
        * rng.standard_normal((members, case.batch, case.steps, case.classes or hidden))
        * 10.0 ** np.arange(members)[:, None, None, None]
    )
    return weights, normal(case.symbols, drive, fan=3), symbols, jnp.asarray(d_outputs, jnp.float32)


def compare(case: Case) -> None:
    weights, table, symbols, d_outputs = drawn(case)
    scans, results, of_logits = Scans(), [], ("readout", "last") if case.classes else ()
    for road in (kernels, scans):
        outputs, notes, residuals = road.forward(case.kind, weights, table, symbols, activation=case.activation)
        d_drive, d_taps, scale = road.backward(
            case.kind, weights, residuals, outputs, d_outputs, activation=case.activation
        )
        by_scale = 1 / scale[:, :, None, None]
        gradients = jax.tree.map(lambda d, by=by_scale: jnp.asarray(d, jnp.float32) * by, (d_drive, d_taps))
        logits = {name: in_one(gradients[1].pop(name), case.classes) for name in of_logits}
        results.append({"outputs": outputs, "notes": notes, "gradients": gradients, "logits": logits})
    ours, theirs = results
    if case.kind in kernels.GATED:  # without the units that the kernel adds
        inputs, columns = ours["notes"]["inputs"], kernels.gated_table(case.symbols)[0]
        assert (inputs[..., case.hidden : -columns] == 0).all()
        ours["notes"]["inputs"] = jnp.concatenate([inputs[..., : case.hidden], inputs[..., -columns:]], 3)
    close(ours["outputs"], theirs["outputs"], 1e-3 if case.kind in kernels.GATED else 5e-5)
    close(ours["notes"], theirs["notes"], 4e-3)
    close(ours["gradients"], theirs["gradients"], 8e-3)
    close(ours["logits"], theirs["logits"], 5e-4)
    evaluated = kernels.forward(case.kind, weights, table, symbols, activation=case.activation, keeps=False)
    np.testing.assert_array_equal(evaluated.outputs, ours["outputs"])
    assert evaluated[1:] == ({}, ())


def in_one(parts: Any, classes: int) -> Any:
    """Returns gradients of logits in one number each."""
    return parts.reshape(*parts.shape[:3], -1, classes).sum(3)


def close(ours: Any, theirs: Any, tolerance: float) -> None:
    """Compares arrays relative to the norm of each member."""
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        a, b = (np.asarray(x, np.float64).reshape(len(x), -1) for x in (a, b))
        distances, norms = np.linalg.norm(a - b, axis=1), np.linalg.norm(b, axis=1)
        assert (distances <= tolerance * norms).all(), (distances / norms).max()


@pytest.mark.parametrize(("kind", "classes"), [("rnn", 0), ("rnn", 2), ("gru", 2)])
def test_the_smallest_kernels(kind: str, classes: int, emulator: Emulator):
    compare(Case(kind, hidden=50, members=2, batch=3, steps=3, own=True, classes=classes))


CASES = (
    Case("rnn", hidden=256, members=2, batch=33, steps=3, symbols=32),
    Case("rnn", hidden=128, members=2, batch=5, steps=6, symbols=9, own=True),
    Case("rnn", hidden=100, members=1, batch=40, steps=4, activation="tanh"),
    Case("rnn", hidden=256, members=1, batch=1, steps=1, activation="tanh"),
    Case("rnn", hidden=256, members=2, batch=33, steps=3, symbols=32, classes=2),
    Case("rnn", hidden=128, members=2, batch=5, steps=6, symbols=9, own=True, classes=16),
    Case("rnn", hidden=64, members=2, batch=2, steps=1, classes=3),
    Case("rnn", hidden=100, members=2, batch=40, steps=4, activation="tanh", classes=5),
    Case("stack_rnn", hidden=256, members=2, batch=33, steps=5, symbols=20, cell=5, own=True),
    Case("stack_rnn", hidden=64, members=1, batch=2, steps=8),
    Case("stack_rnn", hidden=256, members=2, batch=33, steps=5, symbols=20, cell=5, own=True, classes=5),
    Case("stack_rnn", hidden=64, members=1, batch=2, steps=1, classes=2),
    Case("lstm", hidden=256, members=1, batch=70, steps=3, symbols=8),
    Case("lstm", hidden=100, members=2, batch=3, steps=4, symbols=9, own=True),
    Case("lstm", hidden=64, members=2, batch=130, steps=2, symbols=32),
    Case("lstm", hidden=256, members=1, batch=70, steps=3, symbols=8, classes=3),
    Case("lstm", hidden=100, members=2, batch=3, steps=4, symbols=9, own=True, classes=16),
    Case("gru", hidden=256, members=1, batch=70, steps=3, symbols=8),
    Case("gru", hidden=100, members=2, batch=3, steps=4, symbols=9, own=True),
    Case("gru", hidden=64, members=2, batch=130, steps=2, symbols=32),
    Case("gru", hidden=100, members=2, batch=70, steps=3, own=True, classes=9),
    Case("gru", hidden=64, members=2, batch=2, steps=1, classes=1),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernels_agree_with_scans_in_any_order_of_threads(case: Case, seed: int, emulator: Emulator):
    emulator.seed = seed
    compare(case)


@pytest.mark.slow
@pytest.mark.parametrize("kind", kernels.GATED)
def test_a_member_that_is_not_a_number_harms_nobody(kind: str, emulator: Emulator):
    case = Case(kind, hidden=64, members=3, batch=2, steps=3)
    weights, table, symbols, d_outputs = drawn(case)
    broken = weights | {"recurrent": weights["recurrent"].at[1, 5, 7].set(jnp.nan)}
    runs: list[Any] = [kernels.forward(kind, w, table, symbols) for w in (weights, broken)]
    for run, w in zip(tuple(runs), (weights, broken), strict=True):
        runs.append(kernels.backward(kind, w, run.residuals, run.outputs, d_outputs))
    for healthy, sick in (runs[:2], runs[2:]):
        for a, b in zip(jax.tree.leaves(healthy), jax.tree.leaves(sick), strict=True):
            np.testing.assert_array_equal(np.asarray(a)[::2], np.asarray(b)[::2])
    assert np.isnan(runs[1].outputs[1]).any() and np.isnan(np.asarray(runs[3].d_drive[1], np.float32)).any()
