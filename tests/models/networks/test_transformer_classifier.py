"""The two Transformer classifiers: who sees whom, what is pooled, how they begin."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.layers.positions import sinusoids
from humboldt.models.networks.parameters import count_parameters
from humboldt.models.networks.transformer_classifier import TransformerClassifierNetwork

TOKENS, MASK = jnp.array([3, 1, 2, 0, 0]), jnp.arange(5) < 3


run = eqx.filter_jit(lambda model, tokens=TOKENS, key=None: model.run(tokens, MASK, key))


@cache
def build(kind: str, **settings) -> TransformerClassifierNetwork:
    small = {"num_layers": 2, "num_heads": 2, "width": 8, "feed_forward_size": 12}
    spec = models.get(f"transformer_{kind}_classifier")(**{**small, **settings})
    return spec.build(4, 2, num_symbols=4, key=jax.random.key(0))


def test_the_encoder_reads_the_mean_of_the_real_tokens():
    model = build("encoder")
    states = run(model)[1]["states"][-1]
    np.testing.assert_allclose(run(model)[0][0], model.readout(states[:3].mean(0)), rtol=1e-5, atol=1e-6)


def test_the_decoder_reads_the_last_real_token():
    model = build("decoder")
    states = run(model)[1]["states"][-1]
    np.testing.assert_allclose(run(model)[0][0], model.readout(states[2]), rtol=1e-5, atol=1e-6)


def test_only_the_decoder_is_causal():
    for kind, is_causal in (("encoder", False), ("decoder", True)):
        attention = run(build(kind))[1]["attention"]
        future = jnp.triu(jnp.ones((5, 5), bool), 1) & MASK[None, :]
        assert bool((attention[..., future] == 0).all()) is is_causal
        assert bool((attention[..., 3:] == 0).all())  # padding is seen by no one


def test_without_layers_of_attention_the_order_is_in_the_sinusoids():
    model = build("encoder")
    given = model.embedding(TOKENS) + sinusoids(jnp.arange(5), 8)
    np.testing.assert_allclose(
        run(model)[1]["states"][0], eqx.filter_jit(model.blocks)(given, MASK)[1]["states"][0], rtol=1e-5, atol=1e-6
    )
    assert not np.allclose(run(model)[0][0], run(model, TOKENS[jnp.array([2, 1, 0, 3, 4])])[0][0])


def test_the_blocks_begin_as_pytorchs():
    model = models.get("transformer_encoder_classifier")().build(4, 2, num_symbols=4, key=jax.random.key(0))
    attention, feed_forward = model.blocks.blocks.attention, model.blocks.blocks.feed_forward
    for layer in (attention.query, attention.key, attention.value):
        bound = (6 / 512) ** 0.5
        assert 0.99 * bound < float(jnp.abs(layer.weight).max()) <= bound
    assert 0.99 * 128**-0.5 < float(jnp.abs(attention.output.weight).max()) <= 128**-0.5
    assert not attention.query.bias.any() and not attention.output.bias.any()
    assert 0.9 * 1024**-0.5 < float(jnp.abs(feed_forward.down.bias).max()) <= 1024**-0.5
    assert not np.allclose(attention.query.weight[0], attention.query.weight[1])  # the layers differ


@pytest.mark.parametrize(("num_layers", "printed"), [(3, "0.99"), (4, "1.32")])
def test_four_layers_have_the_parameters_that_the_paper_prints(num_layers: int, printed: str):
    for kind in ("encoder", "decoder"):
        spec = models.get(f"transformer_{kind}_classifier")(num_layers=num_layers)
        shapes = eqx.filter_eval_shape(
            lambda key, spec=spec: spec.build(10, 2, num_symbols=10, key=key), jax.random.key(0)
        )
        counts = count_parameters(shapes)
        assert counts["body"] == num_layers * 329_856 and f"{counts['body'] / 1e6:.2f}" == printed


def test_dropout_is_off_by_default_and_needs_a_key():
    plain, dropping = build("encoder"), build("encoder", dropout=0.5)
    k_first, k_second = jax.random.split(jax.random.key(1))
    np.testing.assert_allclose(run(plain, key=k_first)[0], run(plain)[0], rtol=1e-6)
    np.testing.assert_allclose(run(dropping)[0], run(plain)[0], rtol=1e-6)
    assert not np.allclose(run(dropping, key=k_first)[0], run(dropping, key=k_second)[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_heads": 0}, "num_heads must be a whole number of at least 1"),
        ({"num_heads": 3}, "cannot be shared out"),
        ({"dropout": 1.0}, "not a share"),
    ],
)
def test_sizes_are_checked(settings: dict, message: str):
    with pytest.raises(UsageError, match=message):
        build("encoder", **settings)


def test_dropout_is_where_pytorchs_blocks_have_it():
    """`nn.TransformerEncoderLayer`: attention weights, inside the feed-forward layer, both residual connections."""
    model = build("encoder", dropout=0.1)
    block = model.blocks.blocks
    rates = (block.attention.weight_dropout, block.feed_forward.inner_dropout)
    assert (*rates, block.after_attention.dropout, block.after_feed_forward.dropout) == (0.1, 0.1, 0.1, 0.1)
    assert model.embedding_dropout == 0
    model = build("encoder", num_layers=1, embedding_dropout=0.5)
    assert not np.allclose(run(model, key=jax.random.key(1))[0], run(model)[0])


def test_layers_can_begin_alike():
    alike = build("encoder", alike_layers=True)
    for leaf, other in zip(jax.tree.leaves(alike.blocks), jax.tree.leaves(build("encoder").blocks), strict=True):
        np.testing.assert_array_equal(leaf[0], leaf[1])
        np.testing.assert_array_equal(leaf[0], other[0])  # the first layer is as it is without
