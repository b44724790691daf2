import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.languages import Pairs, frame_transduction, tasks
from humboldt.models.networks import recurrent
from humboldt.models.zoo.rnn import RNN
from humboldt.models.zoo.tape_rnn import TapeRNN
from humboldt.models.zoo.transformer_encoder import TransformerEncoder
from humboldt.training.ensemble import evaluate as module
from humboldt.training.ensemble.evaluate import count_correct, evaluate
from humboldt.training.ensemble.members import stack_weights

REVERSALS = Pairs.concatenate(
    [
        Pairs.full(rows := np.random.default_rng(length).integers(0, 2, (4, length)), rows[:, ::-1])
        for length in (1, 3, 20, 150)
    ]
)


def build(key: jax.Array):
    return RNN(hidden_size=8).build(3, 2, num_symbols=2, key=key)


@pytest.mark.parametrize("is_kernel", [False, True])
@pytest.mark.parametrize("room", [module.BYTES_AT_ONCE, 100])
def test_counts_equal_the_obvious_way(room: int, is_kernel: bool, monkeypatch: pytest.MonkeyPatch):
    count_correct._cached.clear_cache()  # pyright: ignore
    monkeypatch.setattr(module, "BYTES_AT_ONCE", room)  # the second: for two rows at a time, or for one
    if is_kernel:  # the loop is chosen as where there is a kernel, and run as a scan
        monkeypatch.setattr(recurrent, "why_scan", lambda *_: "")
    batch = frame_transduction(REVERSALS, 2)
    weights, (_, static) = stack_weights(build, [0, 1]), eqx.partition(build(jax.random.key(0)), eqx.is_inexact_array)
    (found,) = evaluate(weights, static, iter([batch]))
    assert found.shape == (2, 16)
    for seed in range(2):
        logits = jax.jit(jax.vmap(build(jax.random.key(seed))))(jnp.array(batch.tokens), jnp.array(batch.mask))
        right = (np.argmax(logits, -1) == batch.targets) & batch.target_mask
        np.testing.assert_array_equal(found[seed], right.sum(1))


@pytest.mark.parametrize("room", [1, 5 * 256**2, module.PAIRS_AT_ONCE["cpu"]])
def test_attention_counts_the_same_however_many_rows_run_at_once(room: int, monkeypatch: pytest.MonkeyPatch):
    def attentive(key: jax.Array):
        spec = TransformerEncoder(num_layers=1, width=8, num_heads=2, feed_forward_size=8)
        return spec.build(3, 2, num_symbols=2, key=key)

    count_correct._cached.clear_cache()  # pyright: ignore
    monkeypatch.setitem(module.PAIRS_AT_ONCE, "cpu", room)
    batch = frame_transduction(REVERSALS, 2)
    _, static = eqx.partition(attentive(jax.random.key(0)), eqx.is_inexact_array)
    (found,) = evaluate(stack_weights(attentive, [0, 1]), static, iter([batch]))
    for seed in range(2):
        logits = jax.jit(jax.vmap(attentive(jax.random.key(seed))))(jnp.array(batch.tokens), jnp.array(batch.mask))
        right = (np.argmax(logits, -1) == batch.targets) & batch.target_mask
        np.testing.assert_array_equal(found[seed], right.sum(1))


def test_more_members_leave_room_for_fewer_rows():
    tokens = jnp.zeros((250, 128), jnp.int32)
    assert module.PAIRS_AT_ONCE["cpu"] == 256 * 128**2
    assert [module._rows_at_once(tokens, members) for members in (1, 2, 30, 1000)] == [250, 125, 8, 1]


def test_a_string_that_a_kernel_reads_needs_room_for_one_tape(monkeypatch: pytest.MonkeyPatch):
    network = TapeRNN(hidden_size=256).build(3, 2, num_symbols=2, key=jax.random.key(0))
    tokens = jnp.zeros(1536, jnp.int32)
    assert network.numbers_at_once(tokens) is None
    monkeypatch.setattr(recurrent, "why_scan", lambda *_: "")
    numbers = network.numbers_at_once(tokens)
    assert numbers is not None and 1536 * 2 + 3074 * 8 <= numbers < 1536 * 2 + 3074 * 8 + 1000  # logits and the tape
    monkeypatch.setattr(recurrent, "within_kernel", lambda *_, **__: None)
    more = network.numbers_at_once(tokens)
    assert more is not None and more - numbers == 1536 * 256
    assert module._rows_together(128, 10 * 4 * numbers) >= 64


def test_no_compilation_per_length():
    count_correct._cached.clear_cache()  # pyright: ignore
    weights, (_, static) = stack_weights(build, [0]), eqx.partition(build(jax.random.key(0)), eqx.is_inexact_array)
    parity = tasks.get("chomsky/parity_check")()
    batches = (
        frame_transduction(parity.sample(np.random.default_rng(n), 4, n), 2)  # pyright: ignore[reportAttributeAccessIssue]
        for n in range(41, 500, 7)
    )
    assert len(list(evaluate(weights, static, batches))) == 66
    assert count_correct._cached._cache_size() == 4  # pyright: ignore


def test_own_answers_are_fed_back():
    """Against a plain loop: after ∅ the model hears what it said, never the target."""
    batch = frame_transduction(REVERSALS, 2, autoregressive=True)
    weights, (_, static) = stack_weights(build, [3]), eqx.partition(build(jax.random.key(3)), eqx.is_inexact_array)
    (found,) = evaluate(weights, static, iter([batch]), own_answers_from=2)
    model = build(jax.random.key(3))
    step = eqx.filter_jit(model.step)
    for row in range(0, 16, 3):
        tokens, begin, correct, said = batch.tokens[row], int(np.argmax(batch.tokens[row] == 2)), 0, 0
        state = model.start(jnp.array(tokens))
        for i in range(int(batch.mask[row].sum())):
            state, logits = step(state, jnp.array(said if i > begin else tokens[i], jnp.int32))
            said = int(np.argmax(logits))
            correct += bool(batch.target_mask[row, i]) and said == batch.targets[row, i]
        assert found[0, row] == correct
