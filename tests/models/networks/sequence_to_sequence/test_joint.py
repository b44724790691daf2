"""Joint source-target self-attention beside its plain form: one pass over the source and the target in one row."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.zoo.joint_s2s import JointS2S

SOURCE, TARGET = jnp.array([1, 2, 0, 3, 3]), jnp.array([4, 0, 2, 1])
REAL = jnp.array([True, True, True, False, False])


def plain(network, source, mask, told):
    """Every token of both sequences goes through every block, one row of a matrix of what may be seen each."""
    s, t = len(source), len(told)
    x = jnp.concatenate([network.source_embedding(source), network.target_embedding(told)])
    visible = np.zeros((s + t, s + t), bool)
    visible[:, :s] = np.array(mask)
    visible[s:, s:] = np.tri(t, dtype=bool)
    for i in range(len(network.blocks.attention.key.weight)):
        block = jax.tree.map(lambda leaf, i=i: leaf[i] if eqx.is_array(leaf) else leaf, network.blocks)
        x, _ = block(x, jnp.array(visible))
    weight = network.target_embedding.weight.T if network.readout is None else network.readout.weight
    return x[s:] @ weight


@pytest.mark.parametrize("tied", [True, False])
def test_it_is_one_transformer_over_both_sequences(tied: bool):
    model = JointS2S(embedding_size=8, hidden_size=12, num_heads=2, num_layers=3, tied=tied)
    network = model.build(4, 5, num_symbols=5, key=jax.random.key(0))
    ours = network(SOURCE, REAL, TARGET, jnp.ones(4, bool))
    np.testing.assert_allclose(ours, plain(network, SOURCE, REAL, TARGET), rtol=1e-5, atol=1e-5)
    assert network.readout is None if tied else network.readout is not None


def test_first_weights_are_those_of_the_released_code():
    network = JointS2S(num_layers=2).build(4, 5, num_symbols=5, key=jax.random.key(0))
    attention, width = network.blocks.attention, 64
    for layer in (attention.query, attention.key, attention.value):  # one matrix of 3 * 64 outputs there
        assert abs(float(jnp.abs(layer.weight).max()) - (6 / (4 * width)) ** 0.5) < 0.002
    assert abs(float(jnp.abs(attention.output.weight).max()) - (6 / (2 * width)) ** 0.5) < 0.002
    layers = (attention.query, attention.key, attention.value, attention.output)
    assert all(layer.bias is not None and not layer.bias.any() for layer in layers)
    many = JointS2S().build(4_000, 5, num_symbols=5, key=jax.random.key(0))
    assert abs(float(many.source_embedding.weight.std()) - width**-0.5) < 0.002
    language = many.source_embedding.language
    assert language is not None and language.shape == (width,)
