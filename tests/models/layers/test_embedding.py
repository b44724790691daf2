"""What the first block of a Transformer sees, against its definition."""

import jax
import jax.numpy as jnp
import numpy as np

from humboldt.models.layers.embedding import NormalEmbedding, ScaledEmbedding
from humboldt.models.layers.positions import sinusoids

TOKENS, PLACES = jnp.array([2, 0, 2], jnp.int32), jnp.array([0, 1, 7], jnp.int32)


def test_vectors_are_scaled_and_sinusoids_tell_the_given_places():
    for use_sin_cos in (False, True):
        embedding = ScaledEmbedding(3, 4, use_sin_cos=use_sin_cos, dropout=0.5, key=jax.random.key(0))
        expected = 2 * np.asarray(embedding.weight)[[2, 0, 2]] + use_sin_cos * np.asarray(sinusoids(PLACES, 4))
        np.testing.assert_allclose(embedding(TOKENS, PLACES), expected, rtol=1e-5, atol=1e-6)


def test_word_vectors_are_standard_normal():
    embedding = NormalEmbedding(100, 50, key=jax.random.key(0))
    np.testing.assert_allclose(embedding(TOKENS), np.asarray(embedding.weight)[[2, 0, 2]], rtol=1e-6)
    assert abs(float(embedding.weight.std()) - 1) < 0.05
