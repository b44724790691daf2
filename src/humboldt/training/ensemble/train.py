"""Training an ensemble from its first step to its last, whatever happens in between."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from humboldt.checkpoints import Checkpoints
from humboldt.errors import Interrupted
from humboldt.events import AbstractSink, Progress, Warned
from humboldt.training.base import AbstractProblem, MemberRecipe, Milestone, Recipe
from humboldt.training.ensemble.compiled import keep_compiled_programs
from humboldt.training.ensemble.members import outline, pad_members, stack_weights
from humboldt.training.ensemble.named import from_named, to_named
from humboldt.training.ensemble.steps import Chunk, Curve, Learners, MemberValues, Work, train_chunk, transformation
from humboldt.training.ensemble.stream import buckets_for, make_chunk
from humboldt.training.spans import calls, prefetch, remark, spans

SPAN_STEPS = 100  # training steps of a point of the curve, and at most of a call of the compiled program
LONG_CALL = 10.0  # seconds: nobody can stop or save during a call
FEWEST_STEPS = 2  # of a call: a loop of one step may be compiled as no loop, with other roundings
SPEED = {"cpu": 5e10, "accelerator": 2e13}  # operations per second, roughly, of small networks
LOOKED_AT = 4  # batches, to guess how much one has to compute


class Best(NamedTuple):
    """The weights that each member had at its best milestone, its score there, and what its learning rate has been
    multiplied by since the beginning."""

    weights: PyTree
    score: Any
    rate: Any


class Memory(NamedTuple):
    """All that a checkpoint holds."""

    learners: Learners
    curve: Curve
    part: Curve  # the steps of the span that is not finished
    best: Best | None


@dataclass(frozen=True, eq=False)
class TrainedEnsemble:
    """Curves are averages over spans of steps, shape `(member, span)`; `steps` is the step at which each ended.

    Weights have a leading axis of members: those of the best milestone, where milestones are scored.
    """

    weights: PyTree
    static: PyTree
    diverged_at: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    steps: np.ndarray
    milestones: tuple[Any, ...]


BUCKET_SHARE = 0.23  # an RNN with eight buckets takes 2.6 times as long to compile as with one


class Pace(NamedTuple):
    """Seconds for a token of a batch, all members together; and until everything is compiled."""

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
        self.num_members = len(members)
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
        # Compiling for an accelerator takes several times longer than for a CPU, and its time is dear.
        most = 8 if jax.default_backend() == "cpu" else 4
        self.buckets = _as_pairs(problem.buckets or buckets_for(problem.longest, most=most), problem.longest_target)
        self.rows = problem.rows or (None,) * len(self.buckets)
        self.spans = spans(recipe.steps, SPAN_STEPS, (*problem.milestones, *recipe.restarts))
        self.call_steps = self._steps_of_a_call(numbers)

    def _steps_of_a_call(self, numbers: int) -> int:
        """Fewer where members are many or large, by a rough guess, so that a call does not take long. `numbers`: the
        weights of one."""
        problem, steps = self.problem, self.recipe.steps
        batches = [problem.batch(i) for i in range(0, steps, -(-steps // LOOKED_AT))]
        tokens = [batch.tokens.size + (batch.targets.size if problem.longest_target else 0) for batch in batches]
        members = 1 if problem.has_own_examples else len(self._seeds)  # whose rows are in the batch already
        operations = 6 * max(1, numbers) * members * float(np.mean(tokens))  # there are models without weights
        seconds = operations / SPEED["cpu" if jax.default_backend() == "cpu" else "accelerator"]
        return min(SPAN_STEPS, steps, max(FEWEST_STEPS, int(LONG_CALL / seconds)))

    def fresh(self, *, with_best: bool = False) -> Memory:
        """The members before their first step, and the empty record of their training."""
        weights = stack_weights(self.build, self._seeds)
        optimiser = jax.vmap(transformation(self.recipe).init)(weights)
        count = len(self._seeds)
        learners = Learners(weights, optimiser, jnp.full(count, -1, jnp.int32))
        empty: Any = np.full((count, len(self.spans)), np.nan, np.float32)
        part: Any = np.full((count, min(SPAN_STEPS, self.recipe.steps)), np.nan, np.float32)
        never, whole = np.full(count, -np.inf), np.ones(count, np.float32)
        best = Best(jax.tree.map(jnp.array, weights), never, whole) if with_best else None
        return Memory(learners, Curve(empty, empty.copy()), Curve(part, part.copy()), best)

    def stand_ins(self) -> Learners:
        """Learners of the same shapes as fresh ones, for a measurement: their numbers have no meaning.

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
        """The data of one call of the compiled program: steps `first` to `last`, which is excluded."""
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
        surplus = len(self._seeds) - self.num_members
        if not (self.problem.has_own_examples and surplus):
            return batch
        names = type(batch).__dataclass_fields__
        return replace(
            batch, **{n: np.concatenate([getattr(batch, n), *[getattr(batch, n)[-1:]] * surplus]) for n in names}
        )

    def advance(self, learners: Learners, chunk: Chunk, best: Best | None = None) -> tuple[Learners, Curve]:
        """One call of the compiled program. `learners` is used up."""
        values = self.values
        if best is not None:
            values = values._replace(learning_rate=values.learning_rate * best.rate)
        recipe = replace(self.recipe, steps=self.call_steps)  # however many calls there are, the program is the same
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
        """A measured estimate: compiles, then times a few steps of fresh members (which are thrown away).

        Only the longest bucket is compiled. The others, which are branches of the same program, are added by a rule.
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
        """Trains to the end, from the newest checkpoint if there is one.

        `milestone(step, weights)` is called at the problem's milestones. Raises `Interrupted`, with everything saved,
        if the sink asks to stop.
        """
        done, memory, records = self._resumed(checkpoints, sink, with_best=milestone is not None)
        learners, curve, part, best = memory
        curve, part = (Curve(np.array(c.loss), np.array(c.accuracy)) for c in (curve, part))  # pyright: ignore[reportArgumentType]
        saved = done

        def save() -> None:
            nonlocal saved
            checkpoints.save(done, to_named(Memory(learners, curve, part, best)), {"milestones": records})
            saved = done

        left = calls(self.spans, self.call_steps, done)
        chunks = prefetch(self.chunk(first, last) for _, first, last in left)
        try:
            for (span, first, last), chunk in zip(left, chunks, strict=True):
                if first in self.recipe.restarts:
                    learners = self._restarted(learners)
                learners, steps = self.advance(learners, chunk, best)
                begin, count = self.spans[span][0], last - first  # what follows in a chunk is filling
                for so_far, points, values in zip(part, curve, steps, strict=True):
                    so_far[:, first - begin : last - begin] = np.asarray(values)[:, :count]
                    points[:, span] = so_far[:, : last - begin].mean(1)
                done = last
                sink.send(self._progress(last, learners, curve, span))
                if milestone is not None and last in self.problem.milestones:
                    weights = jax.tree.map(lambda x: x[: self.num_members], learners.weights)
                    seen = milestone(last, weights)
                    records.append(seen.record)
                    best = self._better(best, learners, seen.score)
                if sink.should_stop():
                    save()
                    raise Interrupted("Stopped as asked.")
                if checkpoints.due():
                    save()
        finally:
            chunks.close()
        if saved != done:
            save()
        count = self.num_members
        final = learners.weights
        if best is not None:  # a member that never had a score keeps its last weights
            scored = jnp.asarray(~np.isneginf(best.score))
            final = jax.tree.map(lambda new, old: _where(scored, new, old), best.weights, learners.weights)
        return TrainedEnsemble(
            weights=jax.tree.map(lambda x: x[:count], final),
            static=self.static,
            diverged_at=np.array(learners.diverged_at[:count]),
            loss=np.array(curve.loss[:count]),
            accuracy=np.array(curve.accuracy[:count]),
            steps=np.array([last for _, last in self.spans]),
            milestones=tuple(records),
        )

    def _resumed(
        self, checkpoints: Checkpoints, sink: AbstractSink, *, with_best: bool
    ) -> tuple[int, Memory, list[Any]]:
        fresh = self.fresh(with_best=with_best)
        latest = checkpoints.latest()
        for complaint in latest.complaints:
            sink.send(Warned(complaint))
        if not latest.done:
            return 0, fresh, []
        try:
            return latest.done, from_named(latest.arrays, fresh), list(latest.about["milestones"])
        except (ValueError, KeyError) as error:
            sink.send(Warned(f"A checkpoint is of another model or version: {error}. Starting from the beginning."))
            return 0, fresh, []

    def _restarted(self, learners: Learners) -> Learners:
        """With the initial weights, and the optimiser as it is. A diverged member is not touched again."""
        well, initial = learners.diverged_at < 0, stack_weights(self.build, self._seeds)
        weights = jax.tree.map(lambda new, old: _where(well, new, old), initial, learners.weights)
        return Learners(weights, learners.optimiser, learners.diverged_at)

    def _progress(self, step: int, learners: Learners, curve: Curve, index: int) -> Progress:
        loss, accuracy = (np.asarray(values)[:, index] for values in (curve.loss, curve.accuracy))
        said = remark(loss, accuracy, np.asarray(learners.diverged_at))
        return Progress("training", step, self.recipe.steps, said)

    def _better(self, best: Best | None, learners: Learners, score: np.ndarray | None) -> Best | None:
        if best is None or score is None:
            return best
        surplus = len(best.score) - len(score)
        score = np.concatenate([score, *[score[-1:]] * surplus])
        is_better = score > best.score  # the first of equally good ones
        chosen = jax.tree.map(lambda new, old: _where(jnp.asarray(is_better), new, old), learners.weights, best.weights)
        shrink = 1.0 if self.recipe.shrink is None else self.recipe.shrink
        shrunk = np.float32(shrink) * best.rate
        return Best(chosen, np.where(is_better, score, best.score), np.where(is_better, best.rate, shrunk))


def _where(condition: Array, new: Array, old: Array) -> Array:
    """The new weights of the members that a condition holds for, the old ones of the others."""
    return jnp.where(condition.reshape(-1, *[1] * (new.ndim - 1)), new, old)


def _as_pairs(buckets: Sequence[Any], longest_target: int | None) -> tuple[tuple[int, int], ...]:
    """Lengths of sources and targets. Where only one is given, targets lie on the same axis, or have one length."""
    return tuple(one if isinstance(one, tuple) else (one, longest_target or one) for one in buckets)
