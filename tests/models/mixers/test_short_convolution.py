"""The short convolution against NumPy's, feature by feature."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.mixers.base import fold
from humboldt.models.mixers.short_convolution import ShortConvolution


@pytest.mark.parametrize(("length", "use_bias"), [(9, True), (2, False)])  # longer and shorter than the convolution
def test_is_a_causal_convolution_of_each_feature(length: int, use_bias: bool):
    xs = np.random.default_rng(0).normal(size=(length, 3)).astype(np.float32)

    @eqx.filter_jit
    def run(xs: jax.Array) -> tuple[ShortConvolution, jax.Array, jax.Array]:
        convolution = ShortConvolution(3, use_bias=use_bias, use_silu=False, key=jax.random.key(0))
        return convolution, convolution(xs, jnp.ones(length, bool)), fold(convolution, xs)

    convolution, at_once, steps = run(jnp.asarray(xs))
    weight, bias = np.asarray(convolution.weight), 0 if convolution.bias is None else np.asarray(convolution.bias)
    expected = np.stack([np.convolve(xs[:, i], weight[::-1, i])[:length] for i in range(3)], -1) + bias
    np.testing.assert_allclose(at_once, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(steps, expected, rtol=1e-5, atol=1e-6)
    assert np.abs(weight).max() <= 0.5


def test_silu_comes_last():
    plain, silu = (ShortConvolution(2, use_silu=use_silu, key=jax.random.key(0)) for use_silu in (False, True))
    xs = jnp.ones((5, 2))
    before = np.asarray(plain(xs, jnp.ones(5, bool)))
    np.testing.assert_allclose(silu(xs, jnp.ones(5, bool)), before / (1 + np.exp(-before)), rtol=1e-5)


@pytest.mark.parametrize("length", [9, 2])
def test_gradients_are_those_of_the_steps(length: int):
    """The gradient of all steps at once is written by hand."""
    random = np.random.default_rng(0)
    xs, wanted = (jnp.asarray(random.normal(size=(2, length, 3)), jnp.float32) for _ in range(2))
    convolution = ShortConvolution(3, use_bias=True, key=jax.random.key(0))

    @eqx.filter_jit
    def gradients(at_once: bool) -> tuple[ShortConvolution, jax.Array]:
        def loss(both: tuple[ShortConvolution, jax.Array]) -> jax.Array:
            mixer, xs = both
            run = (lambda x: mixer(x, jnp.ones(length, bool))) if at_once else lambda x: fold(mixer, x)
            return (jax.vmap(run)(xs) * wanted).sum()

        return eqx.filter_grad(loss)((convolution, xs))

    for one, other in zip(*(jax.tree.leaves(gradients(at_once)) for at_once in (True, False)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
