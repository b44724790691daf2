"""Ensembles: ten at once equal ten one by one; nothing is compiled per length; a diverged member harms nobody."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.errors import Interrupted
from humboldt.languages import Batch, frame_transduction, tasks
from humboldt.models.rnn import RNN
from humboldt.training import Ensemble, MemberKnobs, Recipe, Trained, Watcher
from humboldt.training._steps import train_chunk

PARITY = tasks.get("chomsky/parity_check")()


def stream(step: int) -> Batch:
    rng = np.random.default_rng((0, step))
    return frame_transduction(PARITY.sample(rng, 8, int(rng.integers(1, 13))), 2)  # pyright: ignore[reportAttributeAccessIssue]


def ensemble(members: list[MemberKnobs], steps: int = 30, **recipe) -> Ensemble:
    spec = RNN(hidden_size=8)
    build = lambda key: spec.build(3, 2, num_symbols=2, key=key)  # noqa: E731
    return Ensemble(build, members, Recipe(steps=steps, **recipe), stream, longest=13)


def train(folder: Path, members: list[MemberKnobs], steps: int = 30, **recipe) -> Trained:
    return ensemble(members, steps, **recipe).train(folder, Watcher())


def member(trained: Trained, index: int) -> list[np.ndarray]:
    return [np.asarray(leaf[index]) for leaf in jax.tree.leaves(trained.weights)]


def test_an_ensemble_of_ten_equals_ten_single_runs(tmp_path: Path):
    members = [MemberKnobs(seed, rate) for seed in range(5) for rate in (1e-2, 3e-3)]
    together = train(tmp_path / "all", members)
    for i, one in enumerate(members):
        alone = train(tmp_path / str(i), [one])
        for a, b in zip(member(together, i), member(alone, 0), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(together.loss[i], alone.loss[0], rtol=1e-4)


def test_vmapped_members_equal_members_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    members = [MemberKnobs(seed, 1e-2) for seed in range(3)]
    in_turn = train(tmp_path / "turn", members)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")  # what an accelerator would do: vmap, hoisted gradients
    train_chunk._cached.clear_cache()  # pyright: ignore
    at_once = train(tmp_path / "once", members)
    monkeypatch.undo()
    train_chunk._cached.clear_cache()  # pyright: ignore
    np.testing.assert_allclose(in_turn.loss, at_once.loss, rtol=1e-3)
    for i in range(3):
        for a, b in zip(member(in_turn, i), member(at_once, i), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_members_differ_by_seed_and_by_learning_rate(tmp_path: Path):
    trained = train(tmp_path, [MemberKnobs(0, 1e-2), MemberKnobs(1, 1e-2), MemberKnobs(0, 1e-3)])
    first, second, third = (member(trained, i) for i in range(3))
    assert not np.allclose(first[0], second[0]) and not np.allclose(first[0], third[0])


def test_one_compilation_whatever_the_lengths(tmp_path: Path):
    train_chunk._cached.clear_cache()  # pyright: ignore
    lengths = {stream(i).time for i in range(250)}
    assert len(lengths) == 12
    train(tmp_path, [MemberKnobs(0, 1e-2)], steps=250)
    assert train_chunk._cached._cache_size() == 1  # pyright: ignore
    train(tmp_path / "longer", [MemberKnobs(0, 1e-2)], steps=350)  # nor for another number of steps
    assert train_chunk._cached._cache_size() == 1  # pyright: ignore


def test_a_diverged_member_is_marked_and_the_others_go_on(tmp_path: Path):
    fine = MemberKnobs(0, 1e-2)
    trained = train(tmp_path / "a", [MemberKnobs(1, 1e38), fine], gradient_clip=None)
    alone = train(tmp_path / "b", [fine], gradient_clip=None)
    assert trained.diverged_at[0] >= 0 and trained.diverged_at[1] == -1
    assert all(np.isfinite(leaf).all() for leaf in member(trained, 1))
    for a, b in zip(member(trained, 1), member(alone, 0), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_the_gradient_norm_is_clipped_per_member():
    clip = Recipe(steps=1, optimiser="sgd", gradient_clip=1.0).transformation()
    gradient = {"a": jnp.full(4, 3.0), "b": jnp.full(4, 4.0)}
    updates, _ = clip.update(gradient, clip.init(gradient), gradient)
    np.testing.assert_allclose(np.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(updates))), 1.0, rtol=1e-5)


@pytest.mark.parametrize("steps", [30, 101, 230])
def test_a_resumed_run_is_bit_identical(tmp_path: Path, steps: int):
    members = [MemberKnobs(0, 1e-2), MemberKnobs(1, 1e-2)]
    whole = train(tmp_path / "whole", members, steps)
    calls = 0

    def stop_after_one() -> bool:
        nonlocal calls
        calls += 1
        return calls == 1

    with pytest.raises(Interrupted):
        ensemble(members, steps).train(tmp_path / "parts", Watcher(should_stop=stop_after_one))
    resumed = train(tmp_path / "parts", members, steps)
    assert eqx.tree_equal(whole.weights, resumed.weights)
    np.testing.assert_array_equal(whole.loss, resumed.loss)
    np.testing.assert_array_equal(whole.accuracy, resumed.accuracy)


def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path: Path):
    members = [MemberKnobs(0, 1e-2)]
    whole = ensemble(members, 230).train(tmp_path, Watcher(save_seconds=0))  # after every call of the program
    newest = sorted(tmp_path.glob("*.ckpt"))[-1]
    assert len(list(tmp_path.glob("*.ckpt"))) == 2
    newest.write_bytes(newest.read_bytes()[:-10])
    warnings: list[str] = []
    again = ensemble(members, 230).train(tmp_path, Watcher(warn=warnings.append))
    assert len(warnings) == 1 and newest.name in warnings[0] and "the one before" in warnings[0]
    assert eqx.tree_equal(whole.weights, again.weights)


def test_training_learns_parity(tmp_path: Path):
    """A short but real run: well above chance on lengths up to 12."""
    spec = RNN(hidden_size=32)
    build = lambda key: spec.build(3, 2, num_symbols=2, key=key)  # noqa: E731
    learner = Ensemble(build, [MemberKnobs(0, 5e-3)], Recipe(steps=600), stream, longest=13)
    trained = learner.train(tmp_path, Watcher())
    assert trained.accuracy[0, 0] < 0.65 < 0.95 < trained.accuracy[0, -1]


def test_bfloat16_computes_in_bfloat16_and_keeps_float32_weights(tmp_path: Path):
    fine = train(tmp_path / "a", [MemberKnobs(0, 1e-2)])
    coarse = train(tmp_path / "b", [MemberKnobs(0, 1e-2)], precision="bfloat16")
    assert all(leaf.dtype == np.float32 for leaf in member(coarse, 0))
    assert not np.array_equal(fine.loss, coarse.loss)
    np.testing.assert_allclose(fine.loss, coarse.loss, rtol=0.05)
