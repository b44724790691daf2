"""The training loop with a stepper of NumPy numbers, against a plain loop over members and steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from suite_support import Recording
from training_support import Parity

from humboldt.core.events import Progress, Warned
from humboldt.errors import Interrupted
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import MemberRecipe, Milestone, Recipe
from humboldt.training.loop import AbstractStepper, Loop, Losses, Weights
from humboldt.training.spans import Call, History

STEPS, MEMBERS = 330, 4
MILESTONES = (40, 130, 200, 330)
RECIPE = Recipe(steps=STEPS, restart_every=150, shrink=0.7)
SPANS = [0, 40, 130, 150, 200, 300, 330]  # no span is longer than 100, or goes across a milestone or a restart
SCORES = {40: (1, 2, np.nan, 1), 130: (1, 3, np.nan, 0), 200: (2, 1, np.nan, 0.5), 330: (1.5, 1, np.nan, 1)}
GROUPS = pytest.mark.parametrize(("group_size", "call_steps"), [(4, 100), (4, 7), (1, 100), (2, 100), (1, 33)])


@cache
def batch(step: int) -> float:
    return float(np.random.default_rng(step).normal())


def after_step(member: int, weight: float, speed: float, rate: float, step: int) -> tuple[float, float, float, float]:
    """One step of one member: weight, what its optimiser remembers, loss, accuracy."""
    speed = 0.9 * speed + batch(step)
    weight = weight - rate * speed / (member + 2)
    return weight, speed, weight**2, 1 / (1 + weight**2)


@dataclass
class Clockwork(AbstractStepper):
    """A weight and the memory of an optimiser for each member. Member `m` diverges at step `diverging[m]`."""

    precision = np.float64

    num_members: int = MEMBERS
    group_size: int = MEMBERS
    call_steps: int = 100
    diverging: Mapping[int, int] = field(default_factory=dict)
    broken_at: int | None = None  # a call that has this step fails
    made: list[tuple[int, int]] = field(default_factory=list)  # the steps that data was made for
    checked: int = 0
    restarted: list[int] = field(default_factory=list)

    def begin(self) -> None:
        self.weights = np.arange(1.0, self.num_members + 1)
        self.speeds = np.zeros(self.num_members)
        self.best, self.last = np.full((2, self.num_members), np.nan)
        self.diverged = np.full(self.num_members, -1)

    def check(self, sink: Any) -> None:
        del sink
        self.checked += 1

    def data(self, first: int, last: int) -> range:
        self.made.append((first, last))
        return range(first, last)

    def advance(self, call: Call, data: range, rates: np.ndarray) -> Losses:
        assert [*data] == [*range(call.first, call.last)] and len(rates) == self.group_size
        if self.broken_at in data:
            raise RuntimeError("the machine is on fire")
        losses = np.full((2, self.group_size, len(data)), np.nan)
        for i, rate in enumerate(rates):
            member = call.group * self.group_size + i
            for step in data:
                if self.diverging.get(member) == step:
                    self.diverged[member] = step
                if self.diverged[member] >= 0:
                    if self.group_size == 1:
                        return Losses(*losses[:, :, : step - call.first])
                    break
                state = after_step(member, float(self.weights[member]), float(self.speeds[member]), rate, step)
                self.weights[member], self.speeds[member], *losses[:, i, step - call.first] = state
        return Losses(*losses)

    def restart(self, group: int) -> None:
        self.restarted.append(group)
        for member in range(group * self.group_size, (group + 1) * self.group_size):
            if self.diverged[member] < 0:
                self.weights[member] = member + 1.0

    @property
    def diverged_at(self) -> np.ndarray:
        return self.diverged.copy()

    def trained(self) -> np.ndarray:
        return self.weights.copy()

    def copy(self, source: Weights, target: Weights, members: np.ndarray) -> None:
        assert members.any()
        names = {"now": "weights", "last": "last", "best": "best"}
        values = np.where(members, getattr(self, names[source]), getattr(self, names[target]))
        assert not np.isnan(values[members]).any()
        setattr(self, names[target], values)

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in ("weights", "speeds", "best", "last", "diverged")}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        if arrays["weights"].shape != (self.num_members,):
            raise ValueError("another number of members")
        for name in self.arrays():
            setattr(self, name, arrays[name])


def plainly(kept: str = "best") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights and both curves as a loop gives them that knows no spans, groups, calls or checkpoints."""
    weights, curves = [], []
    for member in range(MEMBERS):
        weight, speed, rate, best, best_score, values = member + 1.0, 0.0, 1.0, None, -np.inf, []
        last = None
        for step in range(STEPS):
            if step in (150, 300):
                weight = member + 1.0
            weight, speed, *losses = after_step(member, weight, speed, rate, step)
            values.append(losses)
            if step + 1 in MILESTONES:
                score = SCORES[step + 1][member]
                if score > best_score:
                    before = weight if best is None else last
                    best, best_score = (before if kept == "before_best" else weight), score
                else:
                    rate = rate * 0.7
                last = weight
        weights.append(weight if best is None else best)
        curves.append([np.mean(values[first:last], 0) for first, last in pairwise(SPANS)])
    loss, accuracy = np.array(curves, np.float32).transpose(2, 0, 1)
    return np.array(weights), loss, accuracy


class Looks:
    """Scores by a table, and remembers the weights that it was shown."""

    def __init__(self, scores: Mapping[int, Sequence[float] | None] = SCORES) -> None:
        self.scores, self.seen = scores, {}

    def __call__(self, step: int, trained: np.ndarray) -> Milestone:
        self.seen[step] = trained
        score = self.scores[step]
        return Milestone(None if score is None else np.array(score, float), step)


def trained(
    stepper: Clockwork,
    folder: Path,
    sink: Recording | None = None,
    looks: Looks | None = None,
    *,
    recipe: Recipe = RECIPE,
    save_seconds: float = 30.0,
) -> History:
    loop = Loop(stepper, recipe, Parity(milestones=MILESTONES), looks or Looks())
    return loop.run(Checkpoints(folder, save_seconds), sink or Recording())


def assert_same(stepper: Clockwork, history: History, other: Clockwork, other_history: History) -> None:
    np.testing.assert_array_equal(stepper.weights, other.weights)
    for name, value in vars(history).items():
        np.testing.assert_array_equal(value, getattr(other_history, name), err_msg=name)


@GROUPS
def test_the_loop_equals_a_plain_loop(group_size: int, call_steps: int, tmp_path: Path):
    stepper, sink, looks = Clockwork(group_size=group_size, call_steps=call_steps), Recording(), Looks()
    history = trained(stepper, tmp_path, sink, looks)
    weights, loss, accuracy = plainly()
    np.testing.assert_array_equal(stepper.weights, weights)  # member 2 never had a score, and has its last weights
    np.testing.assert_allclose(history.loss, loss, rtol=1e-6)
    np.testing.assert_allclose(history.accuracy, accuracy, rtol=1e-6)
    assert history.steps.tolist() == SPANS[1:] and history.milestones == MILESTONES == tuple(looks.seen)
    assert (history.diverged_at == -1).all() and stepper.checked == 1
    assert sorted(stepper.restarted) == sorted([*range(MEMBERS // group_size)] * 2)


@pytest.mark.parametrize("group_size", [4, 1])
def test_the_milestone_before_the_best_can_be_kept(group_size: int, tmp_path: Path):
    recipe = replace(RECIPE, kept="before_best")
    weights, _, _ = plainly("before_best")
    assert (weights != plainly()[0]).tolist() == [True, True, False, False]  # member 3 was best at its first milestone
    stepper = Clockwork(group_size=group_size)
    trained(stepper, tmp_path / "whole", recipe=recipe)
    np.testing.assert_array_equal(stepper.weights, weights)
    for question in range(0, 6 * MEMBERS // group_size, 5):
        with pytest.raises(Interrupted):
            part = Clockwork(group_size=group_size)
            trained(part, tmp_path / str(question), Recording(stop_after=question), recipe=recipe)
        rest = Clockwork(group_size=group_size)
        trained(rest, tmp_path / str(question), recipe=recipe)
        np.testing.assert_array_equal(rest.weights, weights)


@GROUPS
def test_progress_grows_to_the_last_step(group_size: int, call_steps: int, tmp_path: Path):
    sink = Recording()
    trained(Clockwork(group_size=group_size, call_steps=call_steps), tmp_path, sink)
    done = [event.done for event in sink.events if isinstance(event, Progress)]
    calls = sum(-(-(last - first) // call_steps) for first, last in pairwise(SPANS)) * MEMBERS // group_size
    assert len(done) == calls and done == sorted(done) and done[-1] == STEPS


@GROUPS
def test_stopping_anywhere_changes_no_bit(group_size: int, call_steps: int, tmp_path: Path):
    whole = Clockwork(group_size=group_size, call_steps=call_steps)
    sink, whole_looks = Recording(), Looks()
    history = trained(whole, tmp_path / "whole", sink, whole_looks)
    for question in range(0, len(sink.events), 1 + len(sink.events) // 10):
        folder, looks = tmp_path / str(question), Looks()
        part, rest = (Clockwork(group_size=group_size, call_steps=call_steps) for _ in range(2))
        with pytest.raises(Interrupted):
            trained(part, folder, Recording(stop_after=question), looks)
        assert_same(rest, trained(rest, folder, looks=looks), whole, history)
        assert rest.checked == 0 and list(looks.seen) == list(MILESTONES)
        assert len(part.restarted) + len(rest.restarted) == len(whole.restarted)
        for step, weights in whole_looks.seen.items():
            np.testing.assert_array_equal(looks.seen[step], weights)


@pytest.mark.parametrize("group_size", [4, 1])
def test_a_training_that_is_killed_goes_on_from_its_last_checkpoint(group_size: int, tmp_path: Path):
    whole, rest = Clockwork(group_size=group_size), Clockwork(group_size=group_size)
    history = trained(whole, tmp_path / "whole")
    for step in (10, 160, 320):  # the first time nothing is saved yet
        broken = Clockwork(group_size=group_size, broken_at=step)
        with pytest.raises(RuntimeError, match="on fire"):
            trained(broken, tmp_path / "part", save_seconds=0.0)
    assert Checkpoints(tmp_path / "part").latest().done == 300 * MEMBERS // group_size
    assert_same(rest, trained(rest, tmp_path / "part"), whole, history)
    assert rest.made == [(300, 330)]


def test_calls_of_another_length_go_on_with_a_checkpoint(tmp_path: Path):
    whole, rest = Clockwork(), Clockwork()
    history = trained(whole, tmp_path / "whole")
    for call_steps in (33, 7, 60):
        with pytest.raises(Interrupted):
            trained(Clockwork(call_steps=call_steps), tmp_path / "part", Recording(stop_after=1))
    assert_same(rest, trained(rest, tmp_path / "part"), whole, history)


def test_groups_whose_turns_follow_each_other_share_their_data(tmp_path: Path):
    for group_size in (1, 2, 4):
        stepper = Clockwork(group_size=group_size)
        trained(stepper, tmp_path / str(group_size))
        assert stepper.made == [*pairwise(SPANS)]


def test_a_finished_training_is_read_and_not_done_again(tmp_path: Path):
    whole, again, looks = Clockwork(), Clockwork(), Looks()
    history = trained(whole, tmp_path)
    assert_same(again, trained(again, tmp_path, looks=looks), whole, history)
    assert again.made == [] and not looks.seen


@pytest.mark.parametrize("group_size", [4, 1])
def test_a_diverged_member_is_left_as_it_is(group_size: int, tmp_path: Path):
    recipe = Recipe(steps=STEPS, restart_every=150)
    well, bad = Clockwork(group_size=group_size), Clockwork(group_size=group_size, diverging={1: 60})
    scoreless, sink = Looks(dict.fromkeys(MILESTONES)), Recording()
    well_history = trained(well, tmp_path / "well", looks=scoreless, recipe=recipe)
    bad_history = trained(bad, tmp_path / "bad", sink, Looks(dict.fromkeys(MILESTONES)), recipe=recipe)
    assert bad_history.diverged_at.tolist() == [-1, 60, -1, -1]
    others = [0, 2, 3]
    np.testing.assert_array_equal(bad.weights[others], well.weights[others])
    np.testing.assert_array_equal(bad_history.loss[others], well_history.loss[others])
    assert np.isfinite(bad_history.loss[1, 0]) and np.isnan(bad_history.loss[1, 2:]).all()
    assert not any("nan" in event.remark for event in sink.events if isinstance(event, Progress))
    with pytest.raises(Interrupted):
        bad = Clockwork(group_size=group_size, diverging={1: 60})
        trained(bad, tmp_path / "part", Recording(stop_after=2 * MEMBERS // group_size - 1))  # after the second span
    again = Clockwork(group_size=group_size)  # it has diverged, and does not do so again
    trained(again, tmp_path / "part", looks=Looks(dict.fromkeys(MILESTONES)), recipe=recipe)
    assert again.diverged_at.tolist() == [-1, 60, -1, -1]


def test_without_scores_members_have_their_last_weights(tmp_path: Path):
    stepper, looks = Clockwork(), Looks(dict.fromkeys(MILESTONES))
    trained(stepper, tmp_path, looks=looks)
    np.testing.assert_array_equal(stepper.weights, looks.seen[STEPS])
    assert np.isnan(stepper.best).all()


def test_checkpoints_are_saved_when_they_are_due_and_at_the_end(tmp_path: Path):
    trained(Clockwork(), tmp_path / "often", save_seconds=0.0)
    assert sorted(path.name for path in (tmp_path / "often").glob("*.ckpt")) == [
        "done-000000300.ckpt",  # the newest two
        "done-000000330.ckpt",
    ]
    trained(Clockwork(), tmp_path / "seldom")
    assert [path.name for path in (tmp_path / "seldom").glob("*.ckpt")] == ["done-000000330.ckpt"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("rates"), "it has no array rates"),
        (lambda arrays: arrays.update(curves=arrays["curves"][:, :, 1:]), "curves has shape"),
        (lambda arrays: arrays.update(part=arrays["part"][:, 1:]), "part has shape"),
        (lambda arrays: arrays.update({"members/weights": np.zeros(3)}), "another number of members"),
        (lambda arrays: arrays.pop("members/best"), "best"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_reported_and_not_used(change: Any, message: str, tmp_path: Path):
    whole, again = Clockwork(), Clockwork()
    history = trained(whole, tmp_path / "whole")
    with pytest.raises(Interrupted):
        trained(Clockwork(), tmp_path / "part", Recording(stop_after=2))
    checkpoints = Checkpoints(tmp_path / "part")
    latest = checkpoints.latest()
    change(latest.arrays)
    checkpoints.save(latest.done, latest.arrays, latest.about)
    sink = Recording()
    assert_same(again, trained(again, tmp_path / "part", sink), whole, history)
    assert len(sink.warnings) == 1 and message in sink.warnings[0] and again.checked == 1
    assert sink.warnings[0].startswith("A checkpoint is of another model or version: ")


@pytest.mark.parametrize("group_size", [1, MEMBERS])
def test_a_member_that_diverges_is_told_with_step_loss_and_way_out(tmp_path: Path, group_size: int):
    stepper, sink = Clockwork(group_size=group_size, diverging={1: 57, 2: 0}), Recording()
    stepper.members = [MemberRecipe(seed, 0.03) for seed in range(MEMBERS)]
    Loop(stepper, Recipe(steps=100, gradient_clip=None), Parity(milestones=())).run(Checkpoints(tmp_path, 1e9), sink)
    messages = [event.message for event in sink.events if isinstance(event, Warned)]
    assert len(messages) == (2 if group_size == 1 else 1)  # one for each call
    told = " ".join(messages)
    assert (
        "seed 1 with learning rate 0.03 at step 57 (loss " in told
        and "seed 2 with learning rate 0.03 at step 0" in told
    )
    assert "Try --set learning_rates=0.01 or --set gradient_clip=1." in told
    assert "seed 3" not in told
