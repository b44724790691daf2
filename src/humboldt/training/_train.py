"""Training an ensemble from its first step to its last, whatever happens in between."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from humboldt.errors import Interrupted
from humboldt.training._checkpoint import Checkpoints
from humboldt.training._compiled import keep_compiled_programs
from humboldt.training._members import pad_members, stack_weights
from humboldt.training._recipe import Recipe
from humboldt.training._steps import Chunk, Curve, Knobs, Learners, Work, train_chunk
from humboldt.training._stream import Stream, buckets_for, make_chunk, prefetch

CHUNK_STEPS = 100  # training steps per call of the compiled program


@dataclass(frozen=True)
class MemberKnobs:
    """The numbers of one member."""

    seed: int
    learning_rate: float
    l1: float = 0.0
    l2: float = 0.0


@dataclass(frozen=True)
class Watcher:
    """What training tells the outside while it runs, and what it asks."""

    progress: Callable[[int, int, float, float], None] = lambda step, steps, loss, accuracy: None
    warn: Callable[[str], None] = lambda message: None
    should_stop: Callable[[], bool] = lambda: False
    save_seconds: float = 30.0  # between checkpoints: at most so much training is ever lost


@dataclass
class Ensemble:
    """The members of one experiment and how to train them.

    **Arguments:**

    - `build`: makes a model from a key.
    - `members`: one entry per member.
    - `stream`: batch `i` of the training data, shared by all members.
    - `longest`: most time steps any batch can have.
    """

    build: Callable[[Array], PyTree]
    members: Sequence[MemberKnobs]
    recipe: Recipe
    stream: Stream
    longest: int
    static: PyTree = field(init=False)
    knobs: Knobs = field(init=False)
    buckets: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        keep_compiled_programs()
        surplus = pad_members(len(self.members)) - len(self.members)
        members = [*self.members, *[self.members[-1]] * surplus]
        self._seeds = [member.seed for member in members]
        self.knobs = Knobs(
            learning_rate=jnp.array([member.learning_rate for member in members], jnp.float32),
            l1=jnp.array([member.l1 for member in members], jnp.float32),
            l2=jnp.array([member.l2 for member in members], jnp.float32),
            key=jnp.stack([jax.random.fold_in(jax.random.key(seed), 1) for seed in self._seeds]),
        )
        _, self.static = eqx.partition(self.build(jax.random.key(0)), eqx.is_inexact_array)
        # Compiling for an accelerator takes several times longer than for a CPU, and its time is dear.
        self.buckets = buckets_for(self.longest, most=8 if jax.default_backend() == "cpu" else 4)
        self.chunk_steps = min(CHUNK_STEPS, self.recipe.steps)
        self.num_chunks = -(-self.recipe.steps // self.chunk_steps)

    def fresh(self) -> tuple[Learners, Curve]:
        """The members before their first step, and the empty record of their training."""
        weights = stack_weights(self.build, self._seeds)
        optimiser = jax.vmap(self.recipe.transformation().init)(weights)
        learners = Learners(weights, optimiser, jnp.full(len(self._seeds), -1, jnp.int32))
        empty = np.full((len(self._seeds), self.num_chunks), np.nan, np.float32)
        return learners, Curve(empty, empty.copy())  # pyright: ignore[reportArgumentType]

    def chunk(self, index: int) -> Chunk:
        """The data of one call of the compiled program."""
        first = index * self.chunk_steps
        last = min(first + self.chunk_steps, self.recipe.steps)
        return make_chunk(self.stream, first, last, self.chunk_steps, self.buckets)

    def advance(self, learners: Learners, chunk: Chunk) -> tuple[Learners, Curve]:
        """One call of the compiled program. `learners` is used up."""
        recipe = replace(self.recipe, steps=self.chunk_steps)  # however many calls there are, the program is the same
        return train_chunk(Work(self.static, recipe, self.buckets, self.knobs, chunk), learners)

    def seconds_per_step(self, sample: int = 10) -> float:
        """A measured estimate: compiles, then times a few steps of fresh members (which are thrown away)."""
        learners, _ = self.fresh()
        sample = min(sample, self.chunk_steps)
        chunk = make_chunk(self.stream, 0, sample, self.chunk_steps, self.buckets)
        learners, _ = jax.block_until_ready(self.advance(learners, chunk))
        begin = time.perf_counter()
        jax.block_until_ready(self.advance(learners, chunk))
        return (time.perf_counter() - begin) / sample

    def train(self, folder: Path, watcher: Watcher) -> "Trained":
        """Trains to the end, from the newest checkpoint in `folder` if there is one.

        Raises `Interrupted`, with everything saved, if the watcher asks to stop.
        """
        checkpoints = Checkpoints(folder)
        done, (learners, curve), complaints = checkpoints.latest(self.fresh())
        for complaint in complaints:
            watcher.warn(complaint)
        curve = Curve(np.array(curve.loss), np.array(curve.accuracy))  # pyright: ignore[reportArgumentType]
        saved, saved_at = done, time.monotonic()

        def save() -> None:
            nonlocal saved, saved_at
            checkpoints.save(done, (learners, curve))
            saved, saved_at = done, time.monotonic()

        chunks = prefetch(self.chunk(i) for i in range(done, self.num_chunks))
        try:
            for chunk in chunks:
                learners, steps = self.advance(learners, chunk)
                used = int((chunk.bucket < len(self.buckets)).sum())  # the rest is filling
                curve.loss[:, done] = np.asarray(steps.loss)[:, :used].mean(1)
                curve.accuracy[:, done] = np.asarray(steps.accuracy)[:, :used].mean(1)
                alive = np.asarray(learners.diverged_at) < 0
                done += 1
                watcher.progress(
                    min(done * self.chunk_steps, self.recipe.steps),
                    self.recipe.steps,
                    float(curve.loss[alive, done - 1].mean()) if alive.any() else float("nan"),
                    float(curve.accuracy[alive, done - 1].mean()) if alive.any() else float("nan"),
                )
                if watcher.should_stop():
                    save()
                    raise Interrupted("Stopped as asked.")
                if time.monotonic() - saved_at >= watcher.save_seconds:
                    save()
        finally:
            chunks.close()
        if saved != done:
            save()
        count = len(self.members)
        return Trained(
            weights=jax.tree.map(lambda x: x[:count], learners.weights),
            static=self.static,
            diverged_at=np.array(learners.diverged_at[:count]),
            loss=np.array(curve.loss[:count]),
            accuracy=np.array(curve.accuracy[:count]),
            steps=np.minimum(np.arange(1, self.num_chunks + 1) * self.chunk_steps, self.recipe.steps),
        )


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained ensemble. Curves are averages over calls of the program, shape `(member, call)`; `steps` is the
    step at which each call ended."""

    weights: PyTree
    static: PyTree
    diverged_at: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    steps: np.ndarray
