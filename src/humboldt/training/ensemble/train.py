"""The members of one training as one compiled program, and the stepper that trains them in the loop of all engines."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from humboldt.core.events import AbstractSink
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import AbstractProblem, MemberRecipe, Milestone, Recipe
from humboldt.training.ensemble.compiled import keep_compiled_programs
from humboldt.training.ensemble.members import outline, pad_members, stack_weights
from humboldt.training.ensemble.named import from_named, to_named
from humboldt.training.ensemble.steps import Chunk, Curve, Learners, MemberValues, Work, train_chunk, transformation
from humboldt.training.ensemble.stream import buckets_for, make_chunk
from humboldt.training.loop import AbstractStepper, Loop, Losses, Weights
from humboldt.training.spans import SPAN_STEPS, Call, History

LONG_CALL = 10.0  # seconds; training cannot be stopped or saved during a call
FEWEST_STEPS = 2  # of a call: a loop of one step may be unrolled by the compiler, with other roundings
SPEED = {"cpu": 5e10, "accelerator": 2e13}  # operations per second, roughly, of small networks
LOOKED_AT = 4  # batches from which the cost of one is estimated


class State(NamedTuple):
    """The state of training: the learners, and their weights at milestones once one was scored."""

    learners: Learners
    best: PyTree | None = None  # the weights to end with
    last: PyTree | None = None  # the weights of the last milestone, if they may be needed


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedEnsemble(History):
    """Members after training, and its record.

    Weights have a leading axis of members; they are those of the selected milestone if milestones are scored.
    """

    weights: PyTree
    static: PyTree


BUCKET_SHARE = 0.23  # an RNN with eight buckets takes 2.6 times as long to compile as with one


class Pace(NamedTuple):
    """Seconds per token of a batch for all members together, and seconds of compilation."""

    token: float
    compilation: float


class Ensemble:
    """The members of one training and how to train them.

    **Arguments:**

    - `build`: makes a model from a key.
    - `members`: one entry per member.
    """

    def __init__(
        self,
        build: Callable[[Array], PyTree],
        members: Sequence[MemberRecipe],
        recipe: Recipe,
        problem: AbstractProblem,
    ) -> None:
        keep_compiled_programs()
        self.build, self.recipe, self.problem = build, recipe, problem
        self.members, self.num_members = tuple(members), len(members)
        surplus = pad_members(len(members)) - len(members)
        padded = [*members, *[members[-1]] * surplus]
        self._seeds = [member.seed for member in padded]
        self.values = MemberValues(
            learning_rate=jnp.array([member.learning_rate for member in padded], jnp.float32),
            l1=jnp.array([member.l1 for member in padded], jnp.float32),
            l2=jnp.array([member.l2 for member in padded], jnp.float32),
            key=jnp.stack([jax.random.fold_in(jax.random.key(seed), 1) for seed in self._seeds]),
        )
        self.static, numbers = outline(build)
        # Compiling for an accelerator takes several times longer than for a CPU.
        most = 8 if jax.default_backend() == "cpu" else 4
        self.buckets = _as_pairs(problem.buckets or buckets_for(problem.longest, most=most), problem.longest_target)
        self.rows = problem.rows or (None,) * len(self.buckets)
        self.call_steps = self._steps_of_a_call(numbers)

    def _steps_of_a_call(self, numbers: int) -> int:
        """Returns the number of steps of a call: fewer for many or large members, by a rough estimate, so that a call
        is short. `numbers`: the number of weights of a member."""
        problem, steps = self.problem, self.recipe.steps
        batches = [problem.batch(i) for i in range(0, steps, -(-steps // LOOKED_AT))]
        tokens = [batch.tokens.size + (batch.targets.size if problem.longest_target else 0) for batch in batches]
        members = 1 if problem.has_own_examples else len(self._seeds)  # whose rows the batch already includes
        operations = 6 * max(1, numbers) * members * float(np.mean(tokens))  # a model may have no weights
        seconds = operations / SPEED["cpu" if jax.default_backend() == "cpu" else "accelerator"]
        return min(SPAN_STEPS, steps, max(FEWEST_STEPS, int(LONG_CALL / seconds)))

    def fresh(self) -> State:
        """Returns the members before their first step."""
        weights = self.initial_weights()
        optimiser = jax.vmap(transformation(self.recipe).init)(weights)
        return State(Learners(weights, optimiser, jnp.full(len(self._seeds), -1, jnp.int32)))

    def initial_weights(self) -> PyTree:
        """Returns the weights of all members before their first step, with a leading axis of members."""
        return stack_weights(self.build, self._seeds)

    def padded(self, values: np.ndarray) -> np.ndarray:
        """Repeats the last member's value for the members that only fill up the devices."""
        surplus = len(self._seeds) - self.num_members
        return np.concatenate([values, *[values[-1:]] * surplus])

    def stand_ins(self) -> Learners:
        """Returns learners of the same shapes as fresh ones, for a measurement: their numbers have no meaning.

        To draw initial weights, JAX compiles a small program for every shape. A measurement can do without them.
        """
        try:
            shapes = eqx.filter_eval_shape(lambda: self.fresh().learners)
        except jax.errors.JAXTypeError:  # a model that computes with its key in Python
            return self.fresh().learners
        rng = np.random.default_rng(0)
        weights = jax.tree.map(lambda x: (0.05 * rng.standard_normal(x.shape)).astype(x.dtype), shapes.weights)
        optimiser = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes.optimiser)
        return Learners(weights, optimiser, np.full(len(self._seeds), -1, np.int32))  # pyright: ignore[reportArgumentType]

    def chunk(self, first: int, last: int) -> Chunk:
        """Returns the data of one call of the compiled program: steps `first` to `last` (excluded)."""
        problem = self.problem
        return make_chunk(
            self._batch,
            first,
            last,
            self.call_steps,
            self.buckets,
            has_own_examples=problem.has_own_examples,
            has_one_batch=problem.has_one_batch,
        )

    def _batch(self, step: int) -> Any:
        batch = self.problem.batch(step)
        if not self.problem.has_own_examples or len(self._seeds) == self.num_members:
            return batch
        names = type(batch).__dataclass_fields__
        return replace(batch, **{name: self.padded(getattr(batch, name)) for name in names})

    def advance(
        self, learners: Learners, chunk: Chunk, rates: Float[np.ndarray, " member"] | None = None
    ) -> tuple[Learners, Curve]:
        """Calls the compiled program once. `learners` is used up; `rates` are factors on the learning rates."""
        values = self.values
        if rates is not None:
            values = values._replace(learning_rate=values.learning_rate * self.padded(rates))
        recipe = replace(self.recipe, steps=self.call_steps)  # the same program for any number of calls
        problem = self.problem
        work = Work(
            static=self.static,
            recipe=recipe,
            buckets=self.buckets,
            rows=self.rows,
            start=problem.start,
            has_own_examples=problem.has_own_examples,
            has_one_batch=problem.has_one_batch,
            values=values,
            chunk=chunk,
        )
        return train_chunk(work, learners)

    def pace(self, sample: int = 10) -> "Pace":
        """Measures the speed: compiles, then times a few steps of members that are discarded.

        Only the longest bucket is compiled; the time of the others, which are branches of the same program, is
        extrapolated.
        """
        whole, self.buckets = self.buckets, self.buckets[-1:]
        rows_of_each, self.rows = self.rows, (None,)
        try:
            learners = self.stand_ins()
            sample = min(sample, self.call_steps)
            chunk = self.chunk(0, sample)
            begin = time.perf_counter()
            learners, _ = jax.block_until_ready(self.advance(learners, chunk))
            compiled = time.perf_counter()
            jax.block_until_ready(self.advance(learners, chunk))
            step = (time.perf_counter() - compiled) / sample
        finally:
            self.buckets, self.rows = whole, rows_of_each
        rows, length = np.shape(chunk.examples.tokens)[-2:]
        others = 1 + BUCKET_SHARE * (len(whole) - 1)
        return Pace(step / (rows * length), max(0.0, compiled - begin - step * sample) * others)

    def train(
        self,
        checkpoints: Checkpoints,
        sink: AbstractSink,
        milestone: Callable[[int, PyTree], Milestone] | None = None,
    ) -> TrainedEnsemble:
        """Trains to the end, from the newest checkpoint if there is one; see `humboldt.training.loop.Loop`.

        `milestone(step, weights)` is called at the problem's milestones.
        """
        stepper = EnsembleStepper(self)
        history = Loop(stepper, self.recipe, self.problem, milestone).run(checkpoints, sink)
        return TrainedEnsemble(**vars(history), weights=stepper.trained(), static=self.static)


class EnsembleStepper(AbstractStepper):
    """Steps all members of an ensemble as one group."""

    precision = np.float32

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble, self.call_steps = ensemble, ensemble.call_steps
        self.num_members = self.group_size = ensemble.num_members
        self.members = ensemble.members

    def begin(self) -> None:
        self.state = self.ensemble.fresh()

    def data(self, first: int, last: int) -> Chunk:
        return self.ensemble.chunk(first, last)

    def advance(self, call: Call, data: Chunk, rates: np.ndarray) -> Losses:
        changed = rates if (rates != 1).any() else None
        learners, curve = self.ensemble.advance(self.state.learners, data, changed)
        self.state = self.state._replace(learners=learners)
        count = call.last - call.first  # the rest of a chunk is padding
        return Losses(*(np.asarray(values)[: self.num_members, :count] for values in curve))

    def restart(self, group: int) -> None:
        del group
        learners, initial = self.state.learners, self.ensemble.initial_weights()
        weights = _where(learners.diverged_at < 0, initial, learners.weights)
        self.state = self.state._replace(learners=learners._replace(weights=weights))

    @property
    def diverged_at(self) -> np.ndarray:
        return np.array(self.state.learners.diverged_at[: self.num_members])

    def trained(self) -> PyTree:
        return jax.tree.map(lambda x: x[: self.num_members], self.state.learners.weights)

    def copy(self, source: Weights, target: Weights, members: np.ndarray) -> None:
        learners, best, last = self.state
        weights = {"now": learners.weights, "best": best, "last": last}
        if weights[target] is None:  # a copy: the compiled program reuses the memory of the learners
            weights[target] = jax.tree.map(jnp.array, weights[source])
        else:
            mask = jnp.asarray(self.ensemble.padded(members))
            weights[target] = _where(mask, weights[source], weights[target])
        self.state = State(learners._replace(weights=weights["now"]), weights["best"], weights["last"])

    def arrays(self) -> dict[str, np.ndarray]:
        return to_named(self.state)

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        weights = self.state.learners.weights
        kept = {part: weights for part in ("best", "last") if any(name.startswith(f".{part}") for name in arrays)}
        self.state = from_named(arrays, self.state._replace(**kept))


def _where(condition: Bool[Array, " member"], new: PyTree, old: PyTree) -> PyTree:
    """Returns the new weights of the members for which the condition holds, and the old ones of the others."""
    return jax.tree.map(lambda a, b: jnp.where(condition.reshape(-1, *[1] * (a.ndim - 1)), a, b), new, old)


def _as_pairs(buckets: Sequence[Any], longest_target: int | None) -> tuple[tuple[int, int], ...]:
    """Returns pairs of lengths of sources and targets. Single lengths become pairs: targets are on the same axis, or
    have a fixed length."""
    return tuple(bucket if isinstance(bucket, tuple) else (bucket, longest_target or bucket) for bucket in buckets)
