"""The seam between suites and engines: what an engine is given to train, and what it gives back. NumPy only.

A suite makes a *problem* and a *recipe*; an *engine* trains the members and gives back a *predictor*, by which the
suite scores them. A suite knows no engine, and an engine knows no suite.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from humboldt.checkpoints import Checkpoints
from humboldt.errors import UsageError
from humboldt.events import AbstractSink
from humboldt.languages import Batch, ProblemKind
from humboldt.registry import Registry

Arrays = Mapping[str, np.ndarray]
"""Named arrays: the weights of one member."""


Precision = Literal["float32", "bfloat16", "bfloat16_products"]
"""Of a network's arithmetic in training: all of it, or only the factors of products with the weights of linear layers.
Weights and loss stay in single precision."""


@dataclass(frozen=True)
class Schedule:
    """A factor on every member's learning rate: linear from `start` to 1 over `warm_up` steps, then as `decay` says.

    `first`: the number of the first step. It is 0 where the rate follows from how many steps are done, as in fairseq.
    """

    warm_up: int
    start: float = 0.0
    decay: Literal["none", "inverse_square_root"] = "inverse_square_root"
    first: Literal[0, 1] = 1


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Optimiser and number of steps. What differs between members (learning rate, penalty) is in `MemberRecipe`."""

    steps: int
    optimiser: Literal["adam", "adamw", "sgd"] = "adam"
    betas: tuple[float, float] = (0.9, 0.999)  # of Adam and AdamW
    momentum: float = 0.0  # of SGD
    nesterov: bool = False  # of SGD with momentum
    gradient_clip: float | None = 1.0  # largest norm of a member's whole gradient
    precision: Precision = "float32"
    exact_products: bool = False  # single precision also where an accelerator would round the factors (TF32)
    loss: Literal["mean", "sum", "pooled"] = "mean"  # of an example's symbols; pooled: over all symbols of the batch
    schedule: Schedule | None = None
    shrink: float | None = None  # factor on a member's rate after every milestone that is no better than its best
    restart_every: int | None = None  # steps after which weights and schedule begin again; the optimiser does not

    @property
    def restarts(self) -> range:
        """The steps before which weights and schedule begin again."""
        return range(self.restart_every, self.steps, self.restart_every) if self.restart_every else range(0)

    def step_of_schedule(self, step: Any) -> Any:
        """The number of a step since the last restart: a number, or an array of one."""
        return step % self.restart_every if self.restart_every else step


@dataclass(frozen=True)
class MemberRecipe:
    """What differs between the members of one training."""

    seed: int
    learning_rate: float
    l1: float = 0.0
    l2: float = 0.0


class AbstractProblem(ABC):
    """What members are trained on, as arrays.

    - `task_name`: the full name of the task (`bliss/an_bn`), for engines that know something about it by name.
    - `symbols`: the symbols that a model reads, in the order of their ids.
    - `input_size`: how many token ids a model reads; `num_symbols` of them are symbols, larger ids are marks.
    - `output_size`: how many symbols it chooses its answers from.
    - `batch_size`: rows of a training batch. `longest`: most time steps that any training batch can have.
    - `longest_target`: the same for targets, where they have a time axis of their own.
    - `buckets`: the padded lengths that training batches are given; `None` lets the engine choose. Where targets have a
      time axis of their own, pairs of lengths.
    - `rows`: for each bucket, how many rows of a batch can count, where these are not all; the first ones. What follows
      them is filling, and nothing need be computed for it.
    - `start`: the token that a sequence-to-sequence model is told first, where the symbol before the first would be.
    - `end`: the target symbol after which an output is complete.
    - `answers_from`: the token after which a model is told its own previous answers, where it is told them.
    - `test_dropout_seed`: seed of the dropout in tests, where it stays on in tests.
    - `milestones`: the steps of training at which members are looked at; see `Job.milestone`.
    - `has_own_examples`: whether every member has training examples of its own. The arrays of `batch` then begin with
      an axis of members.
    - `has_one_batch`: whether every step has the same batch, or every step from one restart to the next (see `Recipe`).
    """

    kind: ClassVar[ProblemKind]
    task_name: str | None = None
    symbols: tuple[str, ...]
    input_size: int
    output_size: int
    num_symbols: int
    batch_size: int
    longest: int
    longest_target: int | None = None
    buckets: tuple[int, ...] | tuple[tuple[int, int], ...] | None = None
    rows: tuple[int, ...] | None = None
    start: int | None = None
    end: int | None = None
    answers_from: int | None = None
    test_dropout_seed: int | None = None
    milestones: tuple[int, ...] = ()
    has_own_examples: bool = False
    has_one_batch: bool = False

    @abstractmethod
    def batch(self, step: int) -> Batch:
        """Batch number `step`, a function of `step` alone: a resumed run sees the same data."""

    def training_set(self) -> Batch:
        """All that is trained on, where that is a fixed set: each distinct example once, weighted by its frequency."""
        raise UsageError("This problem draws fresh strings at every step: it has no fixed training set.")

    def framed(self, symbols: Sequence[str]) -> Batch:
        """One string as a model reads it: a batch of one row, whose `target_mask` says at which steps it answers. What
        is right there is not part of it."""
        raise UsageError(
            f"`{type(self).__name__}` does not say how a model reads one string, so that its models cannot be asked "
            "about strings. Give it a method `framed`; see `humboldt.training.base.AbstractProblem`."
        )


class AbstractPredictor(ABC):
    """Trained members, ready to be asked; somebody else's model is one member.

    Arrays that come back have a leading axis of members. A predictor offers what it can; what a suite asks for and the
    predictor lacks is an error that says so.

    `covers` names the test sets that it can be asked about, where these are not all: a file may have predictions for
    one of them only.
    """

    num_members: int
    covers: tuple[str, ...] | None = None

    @abstractmethod
    def take(self, members: Sequence[int]) -> "AbstractPredictor":
        """Some of the members."""

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        """How many target symbols of each row are right, shape `(member, batch)`.

        `number` tells batches apart, for models that draw something in tests.
        """
        raise self._lacks("say which symbols are right")

    def nats(self, batch: Batch) -> np.ndarray:
        """Minus the log-probability of the target symbols of each row, shape `(member, batch)`.

        The arrays of the batch may begin with an axis of members.
        """
        raise self._lacks("give probabilities")

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        """Greedy outputs of at most `longest` symbols for each source, shape `(member, batch, longest)`.

        From the end symbol on, everything is the end symbol. An output without one did not come to an end.
        """
        raise self._lacks("generate outputs")

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Any, int]:
        """One member that reads strings of up to `longest` symbols one symbol at a time (see
        `humboldt.measures.bliss.Stepper`), and how many rows it should be given at once.

        `most_memory` bounds the cells of a memory, whatever it had in training.
        """
        raise self._lacks("read a string symbol by symbol")

    def verdict(self, member: int, *, language: str, measure: str, epsilon: float) -> dict[str, Any] | None:
        """Whether one member is right about every string of a language (`bliss/an_bn`), as plain data.

        `None` where that cannot be asked of the language; see `humboldt.mdl.proofs.verdict_record` for the rest.
        """
        raise self._lacks("be proved right or wrong")

    def model(self, member: int) -> Any:
        """One member as a network: it can be called with tokens and mask (see `humboldt.models`), and may show its
        internals with `inspect(tokens, mask) -> {name: Internal}`."""
        raise self._lacks("be looked into")

    def offers(self, ability: str) -> bool:
        """Whether this predictor can be asked: `offers("nats")`."""
        return getattr(type(self), ability) is not getattr(AbstractPredictor, ability)

    def about(self, member: int) -> tuple[dict[str, float], dict[str, Any]]:
        """Measures and details that the engine itself knows of a member."""
        del member
        return {}, {}

    def parameters(self) -> dict[str, int]:
        """How many numbers training has changed: in the `embedding`, in the `readout`, and in the `body` between them;
        empty where that is not known."""
        return {}

    def source_vectors(self) -> np.ndarray | None:
        """The vectors of all source tokens, shape `(member, token, size)`; `None` where they are not known."""
        return None

    def _lacks(self, ability: str) -> UsageError:
        return UsageError(f"This suite needs models that can {ability}, and `{type(self).__name__}` cannot.")


@dataclass(frozen=True)
class Milestone:
    """What is to be remembered of one look at the members: `score` of each decides which weights are kept as the best
    so far (the last, if there is none), `record` is kept as it is. A list with an entry for each member is kept with
    each member's results, under `milestones`."""

    score: np.ndarray | None = None
    record: Any = None


@dataclass(frozen=True)
class Job:
    """One training as an engine gets it. `model` is the object with the model's settings.

    `milestone(step, predictor)` is called at the problem's milestones. `cores` is how many the job may use: `None`
    means all that its process may. No result depends on it.
    """

    model: Any
    problem: AbstractProblem
    recipe: Recipe
    members: tuple[MemberRecipe, ...]
    milestone: Callable[[int, AbstractPredictor], Milestone] | None = None
    cores: int | None = None


@dataclass(frozen=True)
class Outcome:
    """How one member's training ended. `diverged_at` is the step, or `None`."""

    diverged_at: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class AbstractTrained(ABC):
    """The members after training."""

    predictor: AbstractPredictor
    outcomes: tuple[Outcome, ...]
    milestones: tuple[Any, ...] = ()  # the records of all looks at the members, in order

    @abstractmethod
    def weights(self, member: int) -> dict[str, np.ndarray]:
        """One member as named arrays, to be kept; `AbstractEngine.restore` reads them."""


@dataclass(frozen=True)
class Memory:
    """Bytes that a training needs at the least: for what its members share, and for each of them; and what there is."""

    shared: int
    each: int
    available: int


class AbstractEngine(ABC):
    """Trains members. Importing an engine's file imports neither JAX nor torch; using it may."""

    models: Registry[Any]  # the settings classes that it can train
    uses_accelerator: ClassVar[bool] = True  # whether a GPU is of any use to it

    @abstractmethod
    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> AbstractTrained:
        """Trains to the end, from the newest checkpoint if there is one.

        Raises `Interrupted`, with everything saved, if the sink asks to stop. No member's result depends on who else
        is trained with it.
        """

    @abstractmethod
    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        """Members from their kept weights, in the order of `job.members`."""

    @abstractmethod
    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        """Untrained members, for an estimate of what scoring costs; and the seconds that training will take, with
        compilation."""

    def takes_turns(self) -> bool:
        """Whether members are trained and asked one after the other here, so that time grows with their number."""
        return False

    def known_seconds(self, job: Job, times: float = 1.0) -> float | None:
        """The seconds that training will take, if a job like this one was sampled before; else `None`. `times`: if
        there were so many times as many members, who take turns."""
        del job, times
        return None

    def parameters(self, job: Job) -> int:
        """How many numbers of one member are trained."""
        del job
        raise UsageError(f"`{type(self).__name__}` has no networks of a fixed size.")

    def trial(self, job: Job) -> Any:
        """An untrained network that can be tried out; see `humboldt.training.checks.AbstractTrial`."""
        del job
        raise UsageError(f"`{type(self).__name__}` has no networks that can be tried out.")

    def memory(self, job: Job) -> "Memory | None":
        """What a job needs at the least, and what there is; `None` where that is not known."""
        del job
        return None

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """Versions and device, as stored with every result."""


engines: Registry[AbstractEngine] = Registry("engine", "humboldt.training.engines")
