"""What all sequence-to-sequence networks promise: one symbol at a time is as all at once, and padding is nothing."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.loop.unroll import loop_form
from humboldt.models.zoo.cnn_s2s import CNNS2S
from humboldt.models.zoo.lstm_s2s import LSTMS2S
from humboldt.models.zoo.transformer_s2s import TransformerS2S

SOURCES, OUTPUTS = 5, 6
MODELS = {
    "lstm": LSTMS2S(**LSTMS2S.tiny),
    "lstm without attention": LSTMS2S(**LSTMS2S.tiny, attention=False),
    "lstm both ways": LSTMS2S(**LSTMS2S.tiny, bidirectional=True, toolkit="opennmt"),
    "cnn": CNNS2S(**CNNS2S.tiny),
    "cnn of even width": CNNS2S(**CNNS2S.tiny, kernel_width=4),
    "transformer": TransformerS2S(**TransformerS2S.tiny),
    "transformer of OpenNMT-py": TransformerS2S(**TransformerS2S.tiny, toolkit="opennmt"),
    "transformer, relative and shared": TransformerS2S(
        **TransformerS2S.tiny, toolkit="opennmt", positions="relative", share_layers=True
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def network(request: pytest.FixtureRequest) -> Any:
    network = MODELS[request.param].build(SOURCES, OUTPUTS, num_symbols=SOURCES, key=jax.random.key(1))
    if not isinstance(MODELS[request.param], LSTMS2S):
        return network
    # Larger weights than at first, so that every part matters.
    return jax.tree.map(lambda x: 5 * x if eqx.is_inexact_array(x) else x, network)


SOURCE = jnp.array([3, 1, 4, 1, 2], jnp.int32)
TOLD = jnp.array([5, 2, 0, 3], jnp.int32)


def logits_of(network: Any, padding: int = 0, key: Any = None) -> np.ndarray:
    source = jnp.concatenate([SOURCE, jnp.full(padding, 2, jnp.int32)])
    told = jnp.concatenate([TOLD, jnp.full(padding, 1, jnp.int32)])
    mask, target_mask = (jnp.arange(len(x) + padding) < len(x) for x in (SOURCE, TOLD))
    return np.asarray(eqx.filter_jit(network)(source, mask, told, target_mask, key=key))[: len(TOLD)]


def test_one_symbol_at_a_time_is_the_same_as_all_at_once(network: Any) -> None:
    settled = network.settled()
    for form in [network] if settled is network else [network, settled]:
        step = eqx.filter_jit(form.step)
        state = form.start(form.encode(SOURCE, jnp.ones(len(SOURCE), bool)), 7)
        said = []
        for token in TOLD:
            state, logits = step(state, token)
            said.append(logits)
        assert np.allclose(np.stack(said), logits_of(network), rtol=1e-5, atol=1e-4)


def test_padding_changes_nothing(network: Any) -> None:
    assert np.allclose(logits_of(network, padding=3), logits_of(network), rtol=1e-5, atol=1e-5)


def test_a_symbol_depends_on_the_source_and_on_what_was_told_before_it(network: Any) -> None:
    mask = jnp.ones(len(SOURCE), bool), jnp.ones(len(TOLD), bool)
    plain = logits_of(network)
    other_source = network(SOURCE.at[0].set(0), mask[0], TOLD, mask[1])
    assert not np.allclose(other_source, plain, atol=1e-4)
    other_told = np.asarray(network(SOURCE, mask[0], TOLD.at[2].set(4), mask[1]))
    assert np.allclose(other_told[:2], plain[:2], rtol=1e-5, atol=1e-5)
    assert not np.allclose(other_told[2:], plain[2:], atol=1e-4)


def test_dropout_is_on_with_a_key_only(network: Any) -> None:
    one, again, other = (logits_of(network, key=jax.random.key(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.allclose(one, other, atol=1e-4)
    assert not np.allclose(one, logits_of(network), atol=1e-4)


def test_gradients_are_the_same_where_they_are_taken_out_of_the_loop() -> None:
    network = MODELS["lstm both ways"].build(SOURCES, OUTPUTS, num_symbols=SOURCES, key=jax.random.key(1))
    mask, target_mask = jnp.arange(5) < 4, jnp.ones(4, bool)

    def gradient(form: Any) -> Any:
        def loss(network: Any) -> Any:
            with loop_form(form):
                return jnp.sin(3 * network(SOURCE, mask, TOLD, target_mask, key=jax.random.key(0))).sum()

        return eqx.filter_jit(eqx.filter_grad(loss))(network)

    for plain, hoisted in zip(jax.tree.leaves(gradient("plain")), jax.tree.leaves(gradient("hoisted")), strict=True):
        assert np.abs(plain).max() > 0
        assert np.allclose(plain, hoisted, atol=1e-5)
