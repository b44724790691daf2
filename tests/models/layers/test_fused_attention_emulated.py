"""The kernels of attention, run on a CPU by an emulator, against plain products."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attention_support import Case, drawn, for_all
from emulated_support import Emulator
from emulated_support import emulator as emulator

from humboldt.models.layers.fused import kernels
from humboldt.models.layers.fused.kernels import MOST, Form, Sizes, fits

PLAIN, RELATIVE, ALIBI = Form(), Form(relative=True), Form(alibi=True)


def by_kernels(case: Case) -> dict[str, Any]:
    arguments, d_outputs = drawn(case)
    outputs, logarithms = kernels.forward(case.form, *arguments)
    if max(case.queries, case.keys) > MOST:
        return {"outputs": outputs}
    *arrays, weights = kernels.backward(case.form, *arguments, outputs, logarithms, d_outputs)
    return {"outputs": outputs, "arrays": arrays, "weights": {name: x.sum(1) for name, x in weights.items()}}


def by_products(case: Case) -> dict[str, Any]:
    (*arrays, mask, weights), d_outputs = drawn(case)

    def run(arrays: Any, weights: Any) -> Any:
        return for_all(case.form, *arrays, mask=mask, weights=weights)

    outputs, pull = jax.vjp(run, arrays, weights)
    d_arrays, d_weights = pull(d_outputs)
    return {"outputs": outputs, "arrays": d_arrays, "weights": d_weights}


def compare(case: Case) -> dict[str, Any]:
    """Compares distances relative to the norm of each member. Factors are rounded to ten binary digits; the largest
    distance that was found is 1.5e-3, of `distance_bias`, whose gradients nearly cancel."""
    ours, theirs = by_kernels(case), by_products(case)
    for name, found in ours.items():
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(theirs[name]), strict=True):
            a, b = (np.asarray(x, np.float64).reshape(len(x), -1) for x in (a, b))
            distances, norms = np.linalg.norm(a - b, axis=1), np.linalg.norm(b, axis=1)
            assert (distances <= 3e-3 * norms + 1e-5).all(), (name, distances, norms)
    return ours


def test_the_smallest_kernel(emulator: Emulator):
    compare(Case(2, 2, 5, 9, 2, 8, ALIBI))


CASES = (
    Case(2, 2, 21, 37, 2, 8, RELATIVE),
    Case(2, 3, 33, 33, 3, 8, PLAIN, "padding", own=True),
    Case(2, 2, 40, 40, 2, 8, RELATIVE, "causal"),
    Case(1, 2, 40, 20, 2, 16, RELATIVE, "padding"),
    Case(3, 1, 1, 1, 1, 8, RELATIVE, "causal"),  # all but the gradient of values is zero
    Case(1, 1, 18, 70, 2, 24, ALIBI, own=True),
    Case(1, 2, 70, 18, 3, 40, PLAIN),
    Case(1, 1, 36, 30, 1, 64, RELATIVE),
    Case(1, 1, 128, 128, 1, 8, RELATIVE, "causal"),
    Case(1, 1, 300, 270, 1, 8, RELATIVE),
    Case(2, 1, 130, 300, 2, 16, ALIBI, "padding", own=True),
)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernels_agree_with_products_and_any_order_of_threads_gives_the_same_bits(case: Case, emulator: Emulator):
    results = []
    for emulator.seed in (0, 1):
        results.append(compare(case) if emulator.seed == 0 else by_kernels(case))
    jax.tree.map(np.testing.assert_array_equal, *results)


@pytest.mark.slow
def test_a_query_without_any_key_reads_zeros_and_has_no_gradient(emulator: Emulator):
    found = by_kernels(Case(1, 2, 9, 9, 1, 8, RELATIVE))
    for x in (found["outputs"], found["arrays"][0]):
        assert (np.asarray(x)[:, :, [3, 8]] == 0).all() and (np.asarray(x)[:, :, [0, 1, 2, 4]] != 0).all()


@pytest.mark.slow
def test_a_member_that_is_not_a_number_harms_nobody(emulator: Emulator):
    case = Case(3, 2, 9, 9, 2, 8, RELATIVE)
    arguments, d_outputs = drawn(case)
    runs: list[Any] = []
    for queries in (arguments[0], arguments[0].at[1, 1, 4, 0, 2].set(jnp.nan)):
        results = kernels.forward(case.form, queries, *arguments[1:])
        runs.append((results, kernels.backward(case.form, queries, *arguments[1:], *results, d_outputs=d_outputs)))
    for healthy, sick in zip(*map(jax.tree.leaves, runs), strict=True):
        np.testing.assert_array_equal(np.asarray(healthy)[::2], np.asarray(sick)[::2])
    (outputs, _), gradients = runs[1]
    assert np.isnan(outputs[1, 1, 4, 0]).all() and np.isfinite(outputs[1, 0]).all()
    assert np.isnan(gradients.weights["table"][1, 1]).any()


def test_what_fits():
    for form in (PLAIN, RELATIVE, ALIBI):
        assert fits(form, Sizes(8, 128, 128)) is fits(form, Sizes(32, 128, 128)) is None
        assert fits(form, Sizes(64, 10_000, 3), gradients=False) is None
    assert fits(PLAIN, Sizes(64, 128, 128)) is None
    assert fits(RELATIVE, Sizes(64, 64, 64)) is None
    assert "more memory than a block has" in str(fits(RELATIVE, Sizes(64, 128, 128)))
    assert "at most 128 tokens, not 129" in str(fits(PLAIN, Sizes(8, 3, 129)))
    for size in (4, 12, 72):
        assert f"not {size}" in str(fits(PLAIN, Sizes(size, 3, 3)))
