"""The GRU cell."""

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.cells.gru import uniform_gru_cell


def test_a_step_is_that_of_the_paper_in_pytorchs_form():
    cell = uniform_gru_cell(3, 2, key=jax.random.key(0))
    x, h = np.array([0.5, -1.0, 2.0], np.float32), np.array([0.3, -0.7], np.float32)

    def sigmoid(values: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-values))

    w, u = np.asarray(cell.input.weight), np.asarray(cell.recurrent.weight)
    assert cell.input.bias is not None and cell.recurrent.bias is not None
    r_x, z_x, n_x = np.split(x @ w + np.asarray(cell.input.bias), 3)
    r_h, z_h, n_h = np.split(h @ u + np.asarray(cell.recurrent.bias), 3)
    reset, keep = sigmoid(r_x + r_h), sigmoid(z_x + z_h)
    expected = (1 - keep) * np.tanh(n_x + reset * n_h) + keep * h
    (hidden,), output = cell((jnp.asarray(h),), cell.project(jnp.asarray(x)))
    np.testing.assert_allclose(hidden, expected, rtol=1e-5)
    np.testing.assert_array_equal(hidden, output)
    assert np.abs(w).max() <= 2**-0.5
