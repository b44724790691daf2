"""The autoregressive Transformer: who sees what, one token at a time, its internals, and that it learns."""

from functools import cache
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks_support import train

from humboldt.languages import Batch, frame_transduction, tasks
from humboldt.models.layers.positions import RelativePositions, sinusoids
from humboldt.models.networks.encoder_decoder import EncoderDecoderNetwork
from humboldt.models.zoo.shared.attention import Positions
from humboldt.models.zoo.transformer import Transformer

ENCODINGS: list[Positions] = ["none", "sin_cos", "rope", "alibi", "relative"]
SYMBOLS = 3
EMPTY, COMPUTE = 3, 4
BEGIN = 6  # where the ∅ stands
TOKENS = jnp.array([0, 1, 2, 1, COMPUTE, COMPUTE, EMPTY, 1, 2, 0, 1], jnp.int32)
ALL = jnp.ones(11, bool)


_both = eqx.filter_jit(lambda model, tokens, mask, key: model.run(tokens, mask, key))
start = eqx.filter_jit(lambda model, tokens: model.start(tokens))
step = eqx.filter_jit(lambda model, state, token: model.step(state, token))


@cache
def build(positions: Positions, sin_cos_from: Literal["start", "end"] = "start") -> EncoderDecoderNetwork:
    spec = Transformer(
        num_layers=2, width=16, num_heads=4, feed_forward_size=32, positions=positions, sin_cos_from=sin_cos_from
    )
    return spec.build(SYMBOLS + 2, 3, num_symbols=SYMBOLS, key=jax.random.key(0))


def run(model: EncoderDecoderNetwork, tokens: jax.Array, mask: jax.Array, key: jax.Array | None = None) -> jax.Array:
    return _both(model, tokens, mask, key)[0]


def look(model: EncoderDecoderNetwork, tokens: jax.Array, mask: jax.Array) -> dict[str, jax.Array]:
    return _both(model, tokens, mask, None)[1]


def differs(first: jax.Array, second: jax.Array) -> np.ndarray:
    return np.abs(np.asarray(first) - np.asarray(second)).max(-1) > 1e-5


@pytest.fixture(params=ENCODINGS)
def positions(request: pytest.FixtureRequest) -> Positions:
    return request.param


def test_the_decoder_cannot_see_the_future(positions: Positions):
    model = build(positions)
    expected = run(model, TOKENS, ALL)
    for changed in range(BEGIN + 1, len(TOKENS)):
        found = run(model, TOKENS.at[changed].set((TOKENS[changed] + 1) % SYMBOLS), ALL)
        np.testing.assert_array_equal(differs(found, expected), np.arange(len(TOKENS)) >= changed)


def test_the_encoder_cannot_see_the_targets(positions: Positions):
    model = build(positions)
    other = jnp.where(jnp.arange(len(TOKENS)) > BEGIN, (TOKENS + 1) % SYMBOLS, TOKENS)
    expected, found = (look(model, tokens, ALL) for tokens in (TOKENS, other))
    np.testing.assert_allclose(found["states"][:, :BEGIN], expected["states"][:, :BEGIN], atol=1e-6)
    assert (np.asarray(expected["encoder_attention"])[..., BEGIN:] == 0).all()


def test_the_decoder_sees_the_whole_source(positions: Positions):
    model = build(positions)
    expected = run(model, TOKENS, ALL)
    for changed in range(BEGIN):
        new = (TOKENS[changed] + 1) % SYMBOLS
        assert differs(run(model, TOKENS.at[changed].set(new), ALL), expected)[BEGIN:].all()


def test_where_the_answer_begins_does_not_matter_to_the_decoder():
    """Without positions in the source, doubling every source token changes no average, and so no logits."""
    model = build("none")
    short = jnp.array([0, 1, EMPTY, 2, 1], jnp.int32)
    long = jnp.array([0, 1, 1, 0, EMPTY, 2, 1], jnp.int32)
    found, expected = run(model, long, jnp.ones(7, bool))[4:], run(model, short, jnp.ones(5, bool))[2:]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("positions", "end"), [*[(each, "start") for each in ENCODINGS], ("sin_cos", "end")])
def test_one_token_at_a_time_equals_all_at_once(positions: Positions, end: Literal["start", "end"]):
    """`start` is given a longer array with nonsense after the ∅: it must not look there."""
    model = build(positions, end)
    unknown = jnp.concatenate([TOKENS[: BEGIN + 1], jnp.full(8, EMPTY, jnp.int32)])
    state, logits = start(model, unknown), []
    for token in TOKENS:
        state, output = step(model, state, token)
        logits.append(output)
    np.testing.assert_allclose(jnp.stack(logits), run(model, TOKENS, ALL), rtol=1e-4, atol=1e-5)
    assert (np.stack(logits)[:BEGIN] == 0).all()


def test_rows_of_different_length_are_decoded_together():
    model = build("relative")
    rows = jnp.array([[0, EMPTY, 1, 2, 0], [1, 2, 0, EMPTY, 1]], jnp.int32)
    state, logits = eqx.filter_vmap(start, in_axes=(None, 0))(model, rows), []
    together = eqx.filter_vmap(step, in_axes=(None, 0, 0))
    for i in range(5):
        state, output = together(model, state, rows[:, i])
        logits.append(output)
    expected = [run(model, tokens, jnp.ones(5, bool)) for tokens in rows]
    np.testing.assert_allclose(jnp.stack(logits, 1), jnp.stack(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("positions", ["none", "relative"])
def test_a_step_costs_time_linear_in_the_length(positions: Positions):
    model = build(positions)

    def operations(time: int) -> float:
        state = jax.eval_shape(model.start, jnp.zeros(time, jnp.int32))
        cost = jax.jit(lambda state: model.step(state, jnp.array(0, jnp.int32))).lower(state).compile().cost_analysis()
        return cost["flops"]  # pyright: ignore

    small, large = operations(100), operations(400)
    assert 2 * small < large < 4.2 * small


def test_padding_is_not_seen(positions: Positions):
    model = build(positions)
    padded = jnp.concatenate([TOKENS, jnp.array([0, EMPTY, 2], jnp.int32)])
    found = run(model, padded, jnp.arange(14) < 11)[:11]
    np.testing.assert_allclose(found, run(model, TOKENS, ALL), rtol=1e-5, atol=1e-5)


def test_internals_are_those_of_the_same_pass(positions: Positions):
    model = build(positions)
    internals = look(model, TOKENS, ALL)
    is_target = np.arange(11) >= BEGIN
    for name, of_queries, of_keys in (
        ("encoder_attention", ~is_target, ~is_target),
        ("decoder_attention", is_target, is_target),
        ("cross_attention", is_target, ~is_target),
    ):
        matrices = np.asarray(internals[name])
        assert matrices.shape == (2, 4, 11, 11)
        np.testing.assert_allclose(matrices.sum(-1), np.broadcast_to(of_queries, (2, 4, 11)), atol=1e-5)
        assert (matrices[..., ~of_keys] == 0).all()
    assert (np.triu(internals["decoder_attention"], 1) == 0).all()
    assert internals["states"].shape == (2, 11, 16)
    logits = jax.vmap(model.readout)(internals["states"][-1])
    np.testing.assert_allclose(logits[BEGIN:], run(model, TOKENS, ALL)[BEGIN:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("positions", ["none", "sin_cos"])  # only the sinusoids have dropout of their own
def test_dropout_is_on_with_a_key_and_off_without(positions: Positions):
    model = build(positions)
    first, second = (run(model, TOKENS, ALL, jax.random.key(seed)) for seed in (1, 2))
    assert differs(first, second)[BEGIN:].all()
    assert differs(first, run(model, TOKENS, ALL))[BEGIN:].all()


@pytest.mark.slow
def test_it_learns_to_reverse_and_decodes_what_it_learnt():
    """Trained on true answers, then decoding freely: its own symbols are fed back, and the KV cache carries it."""
    task = tasks.get("chomsky/reverse_string")()

    def batch(step: int) -> Batch:
        rng = np.random.default_rng((0, step))
        pairs = task.sample(rng, 32, int(rng.integers(2, 5)))  # pyright: ignore[reportAttributeAccessIssue]
        return frame_transduction(pairs, 2, autoregressive=True)

    spec = Transformer(num_layers=2, width=16, num_heads=4, feed_forward_size=32, positions="relative")
    network = spec.build(3, 2, num_symbols=2, key=jax.random.key(0))
    model, accuracy = train(network, batch, steps=300, learning_rate=3e-3)
    assert accuracy[-50:].mean() > 0.95
    correct = []
    for source in ([0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 1], [1, 0, 0, 0]):
        state, token, answer = start(model, jnp.array([*source, *[2] * 4], jnp.int32)), jnp.array(2, jnp.int32), []
        for symbol in source:
            state, _ = step(model, state, jnp.array(symbol, jnp.int32))
        for _ in source:
            state, logits = step(model, state, token)
            token = logits.argmax().astype(jnp.int32)
            answer.append(int(token))
        correct.append(answer == source[::-1])
    assert np.mean(correct) > 0.7


def code_shift(logits: np.ndarray) -> np.ndarray:
    """The released code's shift for causal attention: a zero column in front, other rows, the first left out."""
    queries, keys = logits.shape
    padded = np.concatenate([np.zeros((queries, 1)), logits], 1)
    return padded.reshape(keys + 1, queries)[1:].reshape(queries, keys)


def test_relative_distances_of_the_decoder_as_in_the_released_code():
    positions = RelativePositions(8, 1, offset=1, key=jax.random.key(0))
    queries, keys = (jax.random.normal(jax.random.key(i), (6, 1, 8)) for i in (1, 2))
    found = positions(queries, keys, first=0, num_positions=6)[0]
    table = jax.vmap(positions.key)(sinusoids(jnp.arange(6, 0, -1), 8))
    queries, keys, table = np.asarray(queries)[:, 0], np.asarray(keys)[:, 0], np.asarray(table)
    content = (queries + np.asarray(positions.content_bias)) @ keys.T
    expected = content + code_shift((queries + np.asarray(positions.distance_bias)) @ table.T)
    is_seen = np.tri(6, dtype=bool)
    np.testing.assert_allclose(np.where(is_seen, found, 0), np.where(is_seen, expected, 0), rtol=1e-4, atol=1e-5)

    def offsets(shift: Literal["paper", "code"]) -> tuple[int, int, int]:
        spec = Transformer(num_layers=1, width=8, num_heads=1, positions="relative", relative_shift=shift)
        model = eqx.filter_eval_shape(
            lambda key: spec.build(SYMBOLS + 1, 3, num_symbols=SYMBOLS, key=key), jax.random.key(0)
        )
        decoder, encoder = model.decoder.blocks, model.encoder.blocks
        attentions = (decoder.attention, decoder.cross, encoder.attention)
        return tuple(attention.relative.offset for attention in attentions)  # pyright: ignore

    assert (offsets("paper"), offsets("code")) == ((0, 0, 0), (1, 0, 0))


def test_dropout_can_stay_on_while_decoding():
    model = build("sin_cos")

    @jax.jit
    def decoded(key: jax.Array | None) -> jax.Array:
        state = model.start(TOKENS, ALL, key)
        return jax.lax.scan(lambda *given: model.step(*given), state, TOKENS)[1][BEGIN:]

    first, again, second = (decoded(jax.random.key(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert differs(first, second).all() and differs(first, decoded(None)).all()
