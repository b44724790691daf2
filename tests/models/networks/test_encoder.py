"""The Transformer encoder: what each positional encoding lets it see, its internals, and that it learns."""

from functools import cache
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks_support import train

from humboldt.errors import UsageError
from humboldt.languages import Batch, frame_transduction, tasks
from humboldt.models.networks.encoder import EncoderNetwork, count_places
from humboldt.models.zoo.shared.attention import Positions
from humboldt.models.zoo.transformer_encoder import TransformerEncoder

ENCODINGS: list[Positions] = ["none", "sin_cos", "rope", "alibi", "relative"]
TOKENS = jnp.array([0, 1, 1, 0, 1, 2], jnp.int32)
ALL = jnp.ones(6, bool)


run = eqx.filter_jit(lambda model, tokens, mask, key=None: model(tokens, mask, key=key))


@cache
def build(positions: Positions, sin_cos_from: Literal["start", "end"] = "start") -> EncoderNetwork:
    spec = TransformerEncoder(
        num_layers=2, width=16, num_heads=4, feed_forward_size=32, positions=positions, sin_cos_from=sin_cos_from
    )
    return spec.build(3, 2, num_symbols=2, key=jax.random.key(0))


@pytest.fixture(params=ENCODINGS)
def positions(request: pytest.FixtureRequest) -> Positions:
    return request.param


def test_the_paper_s_size():
    model = eqx.filter_eval_shape(
        lambda key: TransformerEncoder().build(3, 2, num_symbols=2, key=key), jax.random.key(0)
    )
    count = sum(leaf.size for leaf in jax.tree.leaves(model))
    attention, feed_forward, norms = 4 * 64 * 64, 64 * 256 + 256 + 256 * 64 + 64, 4 * 64
    assert count == 5 * (attention + feed_forward + norms) + 3 * 64 + 64 * 2 + 2


def test_without_positions_it_is_permutation_equivariant_and_with_them_it_is_not(positions: Positions):
    model, order = build(positions), jnp.array([4, 0, 3, 5, 1, 2])
    is_equivariant = np.allclose(run(model, TOKENS[order], ALL), run(model, TOKENS, ALL)[order], atol=1e-5)
    assert is_equivariant == (positions == "none")


@pytest.mark.parametrize(("positions", "end"), [*[(each, "start") for each in ENCODINGS], ("sin_cos", "end")])
def test_padding_is_not_seen(positions: Positions, end: Literal["start", "end"]):
    model = build(positions, end)
    padded = jnp.concatenate([TOKENS, jnp.array([0, 1, 2], jnp.int32)])
    found = run(model, padded, jnp.arange(9) < 6)[:6]
    np.testing.assert_allclose(found, run(model, TOKENS, ALL), rtol=1e-5, atol=1e-5)


def test_sinusoids_from_the_end_tell_how_far_it_is():
    np.testing.assert_array_equal(count_places(4, jnp.array(3), "start"), [0, 1, 2, 3])
    np.testing.assert_array_equal(count_places(4, jnp.array(3), "end"), [3, 2, 1, 0])  # the last one is padding
    assert not np.allclose(run(build("sin_cos"), TOKENS, ALL), run(build("sin_cos", "end"), TOKENS, ALL))


def test_a_token_on_the_left_is_not_one_on_the_right(positions: Positions):
    """The ∅ in the middle: `a ∅ b` and `b ∅ a` differ for all but the network that knows no positions."""
    model = build(positions)
    first, second = (
        run(model, jnp.array([*tokens, 0, 0, 0], jnp.int32), jnp.arange(6) < 3)[1] for tokens in ([0, 2, 1], [1, 2, 0])
    )
    assert np.allclose(first, second, atol=1e-5) == (positions == "none")


@pytest.mark.parametrize("positions", ["none", "sin_cos"])  # only the sinusoids have dropout of their own
def test_dropout_is_on_with_a_key_and_off_without(positions: Positions):
    model = build(positions)
    first, second = (run(model, TOKENS, ALL, jax.random.key(seed)) for seed in (1, 2))
    again = run(model, TOKENS, ALL, jax.random.key(1))
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, run(model, TOKENS, ALL))


def test_internals_are_those_of_the_same_pass(positions: Positions):
    model, mask = build(positions), jnp.arange(6) < 5
    internals = {name: seen.values for name, seen in eqx.filter_jit(model.inspect)(TOKENS, mask).items()}
    assert internals["attention"].shape == (2, 4, 6, 6) and internals["states"].shape == (2, 6, 16)
    np.testing.assert_allclose(internals["attention"].sum(-1), 1.0, rtol=1e-5)
    assert (internals["attention"][..., 5] == 0).all()  # padding
    np.testing.assert_allclose(jax.vmap(model.readout)(internals["states"][-1]), run(model, TOKENS, mask), rtol=1e-5)


def test_it_runs_at_lengths_far_beyond_training(positions: Positions):
    logits = run(build(positions), jnp.zeros(1001, jnp.int32), jnp.ones(1001, bool))
    assert logits.shape == (1001, 2) and np.isfinite(logits).all()


def test_wrong_sizes_are_refused():
    with pytest.raises(UsageError, match="num_heads=7"):
        TransformerEncoder(num_heads=7)


@pytest.mark.slow
def test_it_learns_even_pairs():
    """A short but real run: first and last symbol are compared, on lengths up to 7."""
    task = tasks.get("chomsky/even_pairs")()

    def batch(step: int) -> Batch:
        rng = np.random.default_rng((0, step))
        return frame_transduction(task.sample(rng, 32, int(rng.integers(2, 8))), 2)  # pyright: ignore[reportAttributeAccessIssue]

    spec = TransformerEncoder(num_layers=2, width=16, num_heads=4, feed_forward_size=32, positions="relative")
    network = spec.build(3, 2, num_symbols=2, key=jax.random.key(0))
    _, accuracy = train(network, batch, steps=500, learning_rate=1e-2)
    assert accuracy[:50].mean() < 0.75 < 0.95 < accuracy[-50:].mean()
