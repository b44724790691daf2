"""Initial values and norms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.mixers.parts import BlockLinear, HeadNorm, linear, orthogonal, step_sizes


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3)])
def test_orthogonal_matrices_are_orthogonal(shape: tuple[int, int]):
    matrix = np.asarray(jax.jit(lambda: orthogonal(jax.random.key(0), shape, 2.0))())
    assert matrix.shape == shape
    product = matrix @ matrix.T if shape[0] <= shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, 4 * np.eye(min(shape)), atol=1e-5)


def test_step_sizes_are_in_their_range():
    sizes = np.log1p(np.exp(np.asarray(jax.jit(lambda: step_sizes(jax.random.key(0), (1000,)))(), float)))
    assert 0.00099 < sizes.min() < 0.0012
    assert 0.09 < sizes.max() < 0.1001


def test_linear_layers_are_those_of_pytorch_or_normal():
    uniform, normal = jax.jit(
        lambda: (
            linear(16, 100, use_bias=True, key=jax.random.key(0)),
            linear(16, 100, spread=0.02, use_bias=True, key=jax.random.key(0)),
        )
    )()
    assert uniform.bias is not None and normal.bias is not None
    assert 0.2 < np.abs(uniform.bias).max() <= np.abs(uniform.weight).max() <= 0.25
    assert not normal.bias.any()
    np.testing.assert_allclose(np.std(normal.weight), 0.02, rtol=0.1)


def test_a_head_norm_is_by_mean_square_or_by_deviation():
    x = np.random.default_rng(0).normal(size=(2, 50)) + 1
    given = jnp.asarray(x, jnp.float32)
    plain, centred = (HeadNorm(2, 50, shared=not c, centred=c, use_bias=c) for c in (False, True))
    np.testing.assert_allclose(plain(given), x / np.sqrt((x**2).mean(-1, keepdims=True)), rtol=1e-4)
    expected = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    np.testing.assert_allclose(centred(given), expected, rtol=1e-4, atol=1e-5)


def test_blocks_do_not_see_each_other():
    layer = BlockLinear(6, 2, dim=6, key=jax.random.key(0))
    outputs = layer(jnp.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]))
    assert outputs[:3].any() and not outputs[3:].any()
