"""The CNN against XLA's own two-dimensional convolution, how far it sees, and that it learns."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks_support import train

from humboldt.errors import UsageError
from humboldt.languages import Batch, frame_transduction, tasks
from humboldt.models.zoo.cnn import CNN

run = eqx.filter_jit(lambda model, tokens, mask: model.run(tokens, mask, None))


@pytest.mark.parametrize("kernel_size", [3, 5, 7, 11])
def test_it_is_a_two_dimensional_convolution_over_time_and_channels(kernel_size: int):
    """Each kernel is `kernel_size` wide in time and spans the other dimension."""
    model = CNN(kernel_size=kernel_size, num_layers=3, channels=5).build(4, 2, num_symbols=3, key=jax.random.key(0))
    tokens = jnp.array(np.random.default_rng(0).integers(0, 4, 20), jnp.int32)
    x = jax.nn.one_hot(tokens, 4)
    states = run(model, tokens, jnp.ones(20, bool))[1]["states"]
    assert states.shape == (3, 20, 5)
    for layer, convolution in enumerate(model.convolutions):
        kernel = convolution.weight.reshape(kernel_size, x.shape[1], 1, 5)
        around = (kernel_size // 2, kernel_size // 2)
        image = jax.lax.conv_general_dilated(
            x[None, :, :, None], kernel, (1, 1), (around, (0, 0)), dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(image[0, :, 0, :])
        np.testing.assert_allclose(states[layer], x, rtol=1e-4, atol=1e-5)


def test_padding_is_what_lies_beyond_the_end():
    model = CNN(kernel_size=5, num_layers=3, channels=5).build(3, 2, num_symbols=2, key=jax.random.key(0))
    tokens = jnp.array([0, 1, 1, 2], jnp.int32)
    padded = jnp.concatenate([tokens, jnp.array([1, 2, 0], jnp.int32)])
    found = run(model, padded, jnp.arange(7) < 4)[0][:4]
    np.testing.assert_allclose(found, run(model, tokens, jnp.ones(4, bool))[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel_size", [3, 11])
def test_it_sees_as_far_as_its_kernels_reach(kernel_size: int):
    model = CNN(kernel_size=kernel_size).build(3, 2, num_symbols=2, key=jax.random.key(0))
    reach = 5 * (kernel_size // 2)
    tokens, mask = jnp.zeros(60, jnp.int32).at[-1].set(2), jnp.ones(60, bool)
    answers = [run(model, tokens.at[59 - distance].set(1), mask)[0][-1] for distance in (reach, reach + 1)]
    plain = run(model, tokens, mask)[0][-1]
    assert not np.allclose(answers[0], plain, atol=1e-8)
    np.testing.assert_array_equal(answers[1], plain)


def test_an_even_kernel_is_refused():
    with pytest.raises(UsageError, match="kernel_size=4 has no middle"):
        CNN(kernel_size=4)


def test_it_learns_even_pairs_within_its_reach():
    """A short but real run: first and last symbol are compared, on lengths up to 5."""
    task = tasks.get("chomsky/even_pairs")()

    def batch(step: int) -> Batch:
        rng = np.random.default_rng((0, step))
        return frame_transduction(task.sample(rng, 32, int(rng.integers(2, 6))), 2)  # pyright: ignore[reportAttributeAccessIssue]

    network = CNN().build(3, 2, num_symbols=2, key=jax.random.key(0))
    _, accuracy = train(network, batch, steps=300, learning_rate=3e-3)
    assert accuracy[:50].mean() < 0.8 < 0.95 < accuracy[-50:].mean()
