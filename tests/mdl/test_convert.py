import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humboldt.mdl.convert import to_equinox
from humboldt.mdl.network import published_networks
from humboldt.mdl.steppers import PlainStepper

from .helpers import networks

jax = pytest.importorskip("jax")
eqx = pytest.importorskip("equinox")
strings = st.lists(st.integers(0, 2), min_size=1, max_size=6)


@settings(max_examples=15, deadline=None)
@given(networks(), strings)
def test_outputs_are_the_networks(network, symbols):
    _, expected = PlainStepper(network).feed(symbols)
    if not np.all(np.isfinite(expected)):
        return  # overflow without clipping: not a distribution in either form
    with jax.enable_x64(True):
        logits = to_equinox(network)(jax.numpy.asarray(symbols))
        np.testing.assert_allclose(np.exp(logits), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["an_bn_figure_4", "dyck_1"])
def test_published_networks_exactly_where_it_counts(name):
    symbols = [0] + [1] * 20 + [2] * 20
    _, expected = PlainStepper(published_networks()[name]).feed(symbols)
    logits = np.asarray(to_equinox(published_networks()[name])(jax.numpy.asarray(symbols)))
    np.testing.assert_allclose(np.exp(logits), expected, atol=1e-6)
    np.testing.assert_array_equal(np.isneginf(logits), expected == 0)


def test_step_by_step_equals_the_whole_string():
    model = to_equinox(published_networks()["dyck_1"])
    symbols = jax.numpy.asarray([0, 1, 1, 2, 1, 2, 2])
    state, rows = model.init_state(), []
    for symbol in symbols:
        state, row = model.step(state, symbol)
        rows.append(np.asarray(row))
    np.testing.assert_allclose(np.stack(rows), np.exp(model(symbols)), atol=1e-6)


def test_weights_are_parameters_with_finite_gradients():
    network = published_networks()["an_bn_figure_4"]
    model = to_equinox(network)
    assert len(jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array))) == 2

    def loss(model):
        return -model(jax.numpy.asarray([0, 1, 1]))[2, 2]

    gradients = eqx.filter_grad(loss)(model)
    assert np.all(np.isfinite(gradients.weights))
    assert np.any(np.asarray(gradients.weights) != 0)


def test_nothing_else_imports_jax():
    code = "import sys, humboldt.mdl, humboldt.mdl.search, humboldt.mdl.convert; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
