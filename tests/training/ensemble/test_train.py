"""Ensembles: many at once equal each alone; nothing is compiled per length; a diverged member harms nobody."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import numpy as np
import pytest
from suite_support import Recording
from training_support import Parity

from humboldt.core.events import Progress
from humboldt.errors import Interrupted
from humboldt.languages import Batch
from humboldt.models.zoo.rnn import RNN
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import MemberRecipe, Milestone, Recipe, Schedule
from humboldt.training.ensemble import train as module
from humboldt.training.ensemble.members import outline
from humboldt.training.ensemble.named import to_named
from humboldt.training.ensemble.steps import Learners, train_chunk
from humboldt.training.ensemble.train import Ensemble, TrainedEnsemble
from humboldt.training.spans import spans

MEMBERS = [MemberRecipe(seed, rate) for seed in (0, 1) for rate in (1e-2, 3e-3)]
STEPS = 230  # three calls of the program, the last of them not full


def build(key: Any) -> Any:
    return RNN(hidden_size=8).build(3, 2, num_symbols=2, key=key)


def ensemble(members: list[MemberRecipe], steps: int = STEPS, problem: Parity | None = None, **recipe) -> Ensemble:
    return Ensemble(build, members, Recipe(steps=steps, **recipe), problem or Parity())


def train(
    folder: Path, members: list[MemberRecipe], steps: int = STEPS, problem: Parity | None = None, **recipe
) -> TrainedEnsemble:
    return ensemble(members, steps, problem, **recipe).train(Checkpoints(folder), Recording())


def weights(trained: TrainedEnsemble, index: int) -> list[np.ndarray]:
    return [np.asarray(leaf[index]) for leaf in jax.tree.leaves(trained.weights)]


def assert_close(ours: list[np.ndarray], theirs: list[np.ndarray], rtol: float = 1e-4, atol: float = 1e-6) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> TrainedEnsemble:
    return train(tmp_path_factory.mktemp("together"), MEMBERS)


def test_an_ensemble_equals_its_members_alone_and_lengths_cause_no_compilation(
    together: TrainedEnsemble, tmp_path: Path
):
    assert len({Parity().batch(i).time for i in range(STEPS)}) == 12
    before = train_chunk._cached._cache_size()  # pyright: ignore
    for i, one in enumerate(MEMBERS):
        alone = train(tmp_path / str(i), [one])
        assert_close(weights(together, i), weights(alone, 0))
        np.testing.assert_allclose(together.loss[i], alone.loss[0], rtol=1e-4)
    train(tmp_path / "longer", MEMBERS[:1], steps=350)  # nor does another number of steps
    assert train_chunk._cached._cache_size() == before + 1  # pyright: ignore


def test_vmapped_members_equal_members_in_turn(
    together: TrainedEnsemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """So does the optimiser behind the branches of a step; a member that diverges stays as it was."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")  # what an accelerator would do: vmap, hoisted gradients
    monkeypatch.setattr(module, "keep_compiled_programs", lambda: None)
    members = [*MEMBERS, MemberRecipe(7, 1e38)]  # another number of members is another program
    at_once = train(tmp_path, members)
    monkeypatch.undo()
    assert (at_once.diverged_at[:4] == -1).all() and 0 <= at_once.diverged_at[4] < STEPS
    assert all(np.isfinite(leaf).all() for leaf in weights(at_once, 4))
    np.testing.assert_allclose(together.loss, at_once.loss[:4], rtol=1e-2)
    for i in range(4):
        assert_close(weights(together, i), weights(at_once, i), rtol=1e-2, atol=1e-4)


def test_members_differ_by_seed_and_by_learning_rate(together: TrainedEnsemble):
    first, other_rate, other_seed = (weights(together, i)[0] for i in (0, 1, 2))
    assert not np.allclose(first, other_rate) and not np.allclose(first, other_seed)


def test_a_diverged_member_is_marked_and_the_others_go_on(tmp_path: Path):
    bad = [MemberRecipe(7, 1e38), *MEMBERS[1:]]
    broken = train(tmp_path / "a", bad, gradient_clip=None)
    well = train(tmp_path / "b", MEMBERS, gradient_clip=None)
    assert broken.diverged_at[0] >= 0 and (broken.diverged_at[1:] == -1).all() and (well.diverged_at == -1).all()
    for i in range(1, 4):
        for a, b in zip(weights(broken, i), weights(well, i), strict=True):
            np.testing.assert_array_equal(a, b)
    assert all(np.isfinite(leaf).all() for leaf in weights(broken, 0))  # its last good weights


@pytest.mark.parametrize("questions", [0, 1, 2])
def test_a_resumed_run_is_bit_identical(together: TrainedEnsemble, tmp_path: Path, questions: int):
    with pytest.raises(Interrupted):
        ensemble(MEMBERS).train(Checkpoints(tmp_path), Recording(stop_after=questions))
    resumed = train(tmp_path, MEMBERS)
    assert eqx.tree_equal(together.weights, resumed.weights)
    np.testing.assert_array_equal(together.loss, resumed.loss)
    np.testing.assert_array_equal(together.accuracy, resumed.accuracy)


@pytest.mark.parametrize(("steps", "questions"), [(2, 0), (2, 70), (33, 1), (33, 4)])
def test_short_calls_change_nothing_and_can_be_stopped_in_between(
    together: TrainedEnsemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, questions: int
):
    monkeypatch.setattr(Ensemble, "_steps_of_a_call", lambda self, numbers: steps)
    with pytest.raises(Interrupted):
        ensemble(MEMBERS).train(Checkpoints(tmp_path), Recording(stop_after=questions))
    sink = Recording()
    resumed = ensemble(MEMBERS).train(Checkpoints(tmp_path), sink)
    first = next(event for event in sink.events if isinstance(event, Progress))
    span, within = divmod(questions + 2, -(-100 // steps))  # the call after the one that was stopped
    assert first.done == 100 * span + min(steps * within, 100)
    assert eqx.tree_equal(together.weights, resumed.weights)
    np.testing.assert_array_equal(together.loss, resumed.loss)
    np.testing.assert_array_equal(together.accuracy, resumed.accuracy)


def test_a_machine_with_calls_of_another_length_goes_on(
    together: TrainedEnsemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A checkpoint that was written on a CPU may be read beside a GPU."""
    for steps, questions in ((33, 4), (7, 2)):  # stopped after 133 steps, then after 154
        monkeypatch.setattr(Ensemble, "_steps_of_a_call", lambda self, numbers, steps=steps: steps)
        with pytest.raises(Interrupted):
            ensemble(MEMBERS).train(Checkpoints(tmp_path), Recording(stop_after=questions))
    assert Checkpoints(tmp_path).latest().done == 154
    monkeypatch.undo()
    resumed = train(tmp_path, MEMBERS)
    assert eqx.tree_equal(together.weights, resumed.weights)
    np.testing.assert_array_equal(together.loss, resumed.loss)


def test_calls_are_short_where_there_is_much_to_compute(monkeypatch: pytest.MonkeyPatch):
    assert ensemble(MEMBERS).call_steps == 100 and ensemble(MEMBERS, steps=1).call_steps == 1
    operations = 6 * 114 * 4 * np.mean([Parity().batch(i).tokens.size for i in range(0, STEPS, 58)])
    monkeypatch.setattr(module, "SPEED", {"cpu": operations})  # then a step takes a second
    assert outline(build)[1] == 114  # 3 x 8 + 8 and 8 x 8 to the hidden units, 8 x 2 + 2 to the output
    assert [ensemble(MEMBERS).call_steps, ensemble(MEMBERS[:2]).call_steps, ensemble(MEMBERS * 10).call_steps] == [
        10,
        20,
        module.FEWEST_STEPS,
    ]


def test_a_damaged_checkpoint_falls_back_to_the_one_before(together: TrainedEnsemble, tmp_path: Path):
    ensemble(MEMBERS).train(Checkpoints(tmp_path, save_seconds=0), Recording())  # after every call of the program
    newest = sorted(tmp_path.glob("*.ckpt"))[-1]
    assert len(list(tmp_path.glob("*.ckpt"))) == 2
    newest.write_bytes(newest.read_bytes()[:-10])
    sink = Recording()
    again = ensemble(MEMBERS).train(Checkpoints(tmp_path), sink)
    assert len(sink.warnings) == 1 and newest.name in sink.warnings[0] and "the one before" in sink.warnings[0]
    assert eqx.tree_equal(together.weights, again.weights)


def test_the_checkpoint_of_another_model_is_told_and_not_used(together: TrainedEnsemble, tmp_path: Path):
    Checkpoints(tmp_path).save(1, {"something": np.zeros(3)})
    sink = Recording()
    found = ensemble(MEMBERS).train(Checkpoints(tmp_path), sink)
    assert "of another model or version" in sink.warnings[0]
    assert eqx.tree_equal(together.weights, found.weights)


def test_a_checkpoint_of_an_earlier_form_is_reported_and_not_used(together: TrainedEnsemble, tmp_path: Path):
    made = ensemble(MEMBERS)
    curves = {
        f".{name}.{what}": np.zeros((4, size), np.float32)
        for name, size in (("curve", 3), ("part", 100))
        for what in ("loss", "accuracy")
    }
    Checkpoints(tmp_path).save(100, {**to_named(made.fresh()), **curves}, {"milestones": []})
    sink = Recording()
    again = made.train(Checkpoints(tmp_path), sink)
    assert "of another model or version" in sink.warnings[0]
    assert eqx.tree_equal(together.weights, again.weights)
    np.testing.assert_array_equal(together.loss, again.loss)


def test_progress_and_curves(together: TrainedEnsemble, tmp_path: Path):
    sink = Recording()
    found = ensemble(MEMBERS).train(Checkpoints(tmp_path), sink)
    told = [event for event in sink.events if isinstance(event, Progress)]
    assert [(event.done, event.total) for event in told] == [(100, STEPS), (200, STEPS), (230, STEPS)]
    assert "loss" in told[0].remark and "accuracy" in told[0].remark
    assert found.steps.tolist() == [100, 200, 230] and np.isfinite(found.loss).all()


def test_training_learns_parity(tmp_path: Path):
    """A short but real run: well above chance on lengths up to 12."""

    def larger(key: Any) -> Any:
        return RNN(hidden_size=32).build(3, 2, num_symbols=2, key=key)

    learner = Ensemble(larger, [MemberRecipe(0, 5e-3)], Recipe(steps=600), Parity())
    trained = learner.train(Checkpoints(tmp_path), Recording())
    assert trained.accuracy[0, 0] < 0.65 < 0.95 < trained.accuracy[0, -1]


def test_bfloat16_computes_in_bfloat16_and_keeps_float32_weights(together: TrainedEnsemble, tmp_path: Path):
    coarse = train(tmp_path, MEMBERS, precision="bfloat16")
    assert all(leaf.dtype == np.float32 for leaf in weights(coarse, 0))
    assert not np.array_equal(together.loss, coarse.loss)
    np.testing.assert_allclose(together.loss[:, 0], coarse.loss[:, 0], rtol=0.05)


def test_a_schedule_scales_the_learning_rate_of_every_member(tmp_path: Path):
    """Without a memory of gradients, a step at half the rate is a step of half the size."""
    recipe = {"optimiser": "sgd", "gradient_clip": None, "steps": 1}
    flat = train(tmp_path / "flat", MEMBERS, **recipe)
    rising = train(tmp_path / "rising", MEMBERS, schedule=Schedule(warm_up=4), **recipe)
    fresh = ensemble(MEMBERS, 1).fresh().learners.weights
    for start, full, quarter in zip(*map(jax.tree.leaves, (fresh, flat.weights, rising.weights)), strict=True):
        np.testing.assert_allclose(quarter - start, (full - start) / 4, atol=2e-7)


def test_after_a_restart_weights_are_the_initial_ones_and_the_optimiser_is_as_it_was(tmp_path: Path):
    size = 40
    plain = ensemble(MEMBERS, 2 * size)
    learners, _ = plain.advance(plain.fresh().learners, plain.chunk(0, size))
    learners = Learners(plain.fresh().learners.weights, learners.optimiser, learners.diverged_at)
    learners, _ = plain.advance(learners, plain.chunk(size, 2 * size))
    restarted = train(tmp_path, MEMBERS, 2 * size, restart_every=size)
    for theirs, ours in zip(*map(jax.tree.leaves, (learners.weights, restarted.weights)), strict=True):
        np.testing.assert_allclose(np.asarray(theirs)[: len(MEMBERS)], ours, rtol=1e-5, atol=1e-7)
    first = train(tmp_path / "first", MEMBERS, size)
    assert not np.allclose(weights(restarted, 0)[0], weights(first, 0)[0], atol=1e-4)


def test_the_schedule_begins_again_with_the_weights(tmp_path: Path):
    """Without a memory of gradients, the step after a restart is as large as a first step."""
    recipe = {"optimiser": "sgd", "gradient_clip": None, "steps": 6, "restart_every": 5}
    flat = train(tmp_path / "flat", MEMBERS, **recipe)
    rising = train(tmp_path / "rising", MEMBERS, schedule=Schedule(warm_up=4), **recipe)
    fresh = ensemble(MEMBERS, 1).fresh().learners.weights
    for start, full, quarter in zip(*map(jax.tree.leaves, (fresh, flat.weights, rising.weights)), strict=True):
        assert not np.array_equal(full, start)
        np.testing.assert_allclose(quarter - start, (full - start) / 4, atol=2e-7)


@pytest.mark.parametrize("questions", [0, 1, 2, 3])
def test_a_training_with_restarts_can_be_resumed(tmp_path: Path, questions: int):
    """There is a moment to stop before, at and after the restart."""
    steps, size = 210, 105
    whole = train(tmp_path / "whole", MEMBERS, steps, restart_every=size)
    with pytest.raises(Interrupted):
        ensemble(MEMBERS, steps, restart_every=size).train(
            Checkpoints(tmp_path / "part"), Recording(stop_after=questions)
        )
    resumed = train(tmp_path / "part", MEMBERS, steps, restart_every=size)
    assert eqx.tree_equal(whole.weights, resumed.weights)
    np.testing.assert_array_equal(whole.loss, resumed.loss)


def test_a_diverged_member_is_not_restarted(tmp_path: Path):
    members = [MEMBERS[0], MemberRecipe(1, 1e30)]
    before = train(tmp_path / "before", members, 6)
    found = train(tmp_path / "after", members, 12, restart_every=6)
    assert found.diverged_at[0] == -1 and 0 <= found.diverged_at[1] == before.diverged_at[1] < 6
    for ours, theirs in zip(weights(found, 1), weights(before, 1), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(weights(found, 0)[0], weights(before, 0)[0])


def test_members_with_examples_of_their_own_equal_training_alone_on_them(tmp_path: Path):
    seeds = (3, 4, 5, 6)
    own = train(tmp_path / "own", MEMBERS, problem=Parity(seeds, own=True))
    for i, (member, seed) in enumerate(zip(MEMBERS, seeds, strict=True)):
        alone = train(tmp_path / str(i), [member], problem=Parity((seed,)))
        assert_close(weights(own, i), weights(alone, 0))
        np.testing.assert_allclose(own.loss[i], alone.loss[0], rtol=1e-4)
    assert not np.allclose(own.loss[0], own.loss[1])


@pytest.mark.parametrize(
    ("steps", "most", "milestones", "expected"),
    [
        (250, 100, (), [(0, 100), (100, 200), (200, 250)]),
        (250, 100, (120,), [(0, 100), (100, 120), (120, 220), (220, 250)]),
        (100, 100, (100,), [(0, 100)]),
        (5, 100, (0, 2, 5, 9), [(0, 2), (2, 5)]),
        (3, 1, (2,), [(0, 1), (1, 2), (2, 3)]),
        (10, 4, (4, 4, 8), [(0, 4), (4, 8), (8, 10)]),
    ],
)
def test_no_call_of_the_program_goes_across_a_milestone(steps: int, most: int, milestones, expected):
    assert spans(steps, most, milestones) == expected


class Looks:
    """Scores by a table, and remembers the weights that it was shown."""

    def __init__(self, scores: Mapping[int, Sequence[float]]) -> None:
        self.scores, self.seen = scores, {}

    def __call__(self, step: int, shown: Any) -> Milestone:
        self.seen[step] = jax.tree.map(np.array, shown)
        return Milestone(np.array(self.scores[step]), {"step": step})


SCORES = {50: [0, 3, 0, 1], 150: [2, 2, 0, 2], 230: [1, 1, 0, 3]}


def test_every_member_keeps_the_weights_of_its_best_milestone(together: TrainedEnsemble, tmp_path: Path):
    looks = Looks(SCORES)
    found = ensemble(MEMBERS, problem=Parity(milestones=(50, 150, 230))).train(
        Checkpoints(tmp_path), Recording(), looks
    )
    assert found.milestones == ({"step": 50}, {"step": 150}, {"step": 230}) and list(looks.seen) == [50, 150, 230]
    assert found.steps.tolist() == [50, 150, 230]
    for member, best in enumerate((150, 50, 50, 230)):  # the first of equally good ones
        expected = [leaf[member] for leaf in jax.tree.leaves(looks.seen[best])]
        for a, b in zip(weights(found, member), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    # Looking changes nothing: the last weights are those of a run without milestones.
    for a, b in zip(jax.tree.leaves(looks.seen[230]), jax.tree.leaves(together.weights), strict=True):
        np.testing.assert_array_equal(a, b)


def keeping(kept: Literal["best", "before_best"]) -> Ensemble:
    made = ensemble(MEMBERS, problem=Parity(milestones=(50, 150, 230)))
    made.recipe = replace(made.recipe, kept=kept)
    return made


def test_a_recipe_can_keep_the_milestone_before_the_best(tmp_path: Path):
    """As a released script of the papers does; the first milestone, which has none before it, is kept itself."""
    looks = Looks(SCORES)
    found = keeping("before_best").train(Checkpoints(tmp_path), Recording(), looks)
    for member, kept in enumerate((50, 50, 50, 150)):  # the best are 150, 50, 50 and 230
        expected = [leaf[member] for leaf in jax.tree.leaves(looks.seen[kept])]
        for a, b in zip(weights(found, member), expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kept", ["best", "before_best"])
@pytest.mark.parametrize("questions", [0, 1])
def test_records_and_best_weights_survive_an_interruption(
    tmp_path: Path, questions: int, kept: Literal["best", "before_best"]
):
    whole = keeping(kept).train(Checkpoints(tmp_path / "a"), Recording(), Looks(SCORES))
    with pytest.raises(Interrupted):
        keeping(kept).train(Checkpoints(tmp_path / "b"), Recording(stop_after=questions), Looks(SCORES))
    later = Looks(SCORES)
    resumed = keeping(kept).train(Checkpoints(tmp_path / "b"), Recording(), later)
    assert list(later.seen) == [50, 150, 230][questions + 1 :]  # what was looked at is not looked at again
    assert resumed.milestones == whole.milestones
    assert eqx.tree_equal(whole.weights, resumed.weights)


def test_the_rate_shrinks_after_milestones_that_are_no_better(tmp_path: Path):
    scores = {50: [1, 1, 1, 1], 100: [2, 1, 0, 2], 150: [3, 1, 2, 1], 230: [0, 0, 0, 0]}

    def seen(shrink: float | None) -> dict[int, Any]:
        made, looks = ensemble(MEMBERS, problem=Parity(milestones=tuple(scores))), Looks(scores)
        made.recipe = replace(made.recipe, shrink=shrink)
        made.train(Checkpoints(tmp_path / str(shrink)), Recording(), looks)
        return looks.seen

    shrunk, plain = seen(0.0), seen(None)  # with a rate of nothing, weights stay as they are

    def same(first: Any, second: Any, member: int) -> bool:
        pairs = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
        return all(np.array_equal(a[member], b[member]) for a, b in pairs)

    assert all(same(shrunk[100], plain[100], member) for member in range(4))
    # Members 1 and 2 were no better at step 100, member 3 at step 150; member 0 was better each time.
    assert [same(shrunk[150], shrunk[100], member) for member in range(4)] == [False, True, True, False]
    assert [same(shrunk[230], shrunk[150], member) for member in range(4)] == [False, True, True, True]
    assert same(shrunk[230], plain[230], 0)


def test_without_scores_the_last_weights_are_kept(together: TrainedEnsemble, tmp_path: Path):
    found = ensemble(MEMBERS, problem=Parity(milestones=(100,))).train(
        Checkpoints(tmp_path), Recording(), lambda step, shown: Milestone(record=step)
    )
    assert found.milestones == (100,) and eqx.tree_equal(found.weights, together.weights)


def test_a_member_that_never_has_a_score_keeps_its_last_weights(together: TrainedEnsemble, tmp_path: Path):
    found = ensemble(MEMBERS, problem=Parity(milestones=(100,))).train(
        Checkpoints(tmp_path), Recording(), lambda step, shown: Milestone(np.array([1.0, np.nan, 1.0, 1.0]))
    )
    for a, b in zip(weights(found, 1), weights(together, 1), strict=True):
        np.testing.assert_array_equal(a, b)


class Filled(Parity):
    """In its long batches three rows count; the others are filling, which has a weight here, to see who reads it."""

    buckets, rows = (4, 13), (8, 3)


class Unweighted(Parity):
    """The same, but the filling has no weight."""

    buckets = Filled.buckets

    def batch(self, step: int) -> Batch:
        batch = super().batch(step)
        return batch if batch.time <= 4 else replace(batch, weight=(np.arange(8) < 3).astype(np.float32))


def test_what_a_batch_is_filled_up_with_is_not_computed(tmp_path: Path):
    cut, unweighted, whole = (
        train(tmp_path / str(i), MEMBERS[:1], problem=problem)
        for i, problem in enumerate((Filled(), Unweighted(), Parity()))
    )
    assert_close(weights(cut, 0), weights(unweighted, 0))
    assert not np.allclose(cut.loss, whole.loss, rtol=1e-2)
