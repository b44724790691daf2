"""The interface between suites and engines: the inputs and results of a training. NumPy only.

A suite makes a *problem* and a *recipe*; an *engine* trains the members and returns a *predictor*, with which the suite
scores them. Suites do not import engines, and engines do not import suites.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from humboldt.core.events import AbstractSink
from humboldt.errors import UsageError
from humboldt.languages import Batch, ProblemKind
from humboldt.registry import Registry
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.abilities import AbstractAbility

Arrays = Mapping[str, np.ndarray]
"""The weights of one member as named arrays."""


Precision = Literal["float32", "bfloat16", "bfloat16_products"]
"""Precision of a network's arithmetic in training: of all of it, or only of the factors of products with the weights of
linear layers. Weights and loss stay in single precision."""


Road = Literal["auto", "stacked", "graphs", "processes", "threads", "in_turn"]
"""How the members of a PyTorch module are trained: as one module, as CUDA graphs, in processes, or in turn, with all
threads or with one."""


Compile = Literal["setting", "auto"]
"""Whether `torch.compile` is used: as the model's setting says, or also where a trial finds that it pays."""


@dataclass(frozen=True)
class Schedule:
    """A factor on every member's learning rate: linear from `start` to 1 over `warm_up` steps, then according to
    `decay`.

    `cosine` falls to 0 at step `last`, as half a cosine.

    `first`: the number of the first step. It is 0 if the rate depends on the number of completed steps, as in fairseq.
    """

    warm_up: int
    start: float = 0.0
    decay: Literal["none", "inverse_square_root", "cosine"] = "inverse_square_root"
    last: int = 0  # of cosine
    first: Literal[0, 1] = 1


def warm_up(steps: int | None) -> Schedule | None:
    """Returns the schedule of a rate that rises for this number of steps and then stays; `None` if it never rises."""
    return None if steps is None else Schedule(steps, decay="none")


@dataclass(frozen=True, kw_only=True)
class Heads:
    """Further outputs of a causal classifier, each with a loss on the strings of class 1: after every symbol, which
    symbol comes next, and which ones could, the mark at the end included.

    The outputs of a network are the `answers`, then one for each of the `symbols` and the mark, for every head that has
    a weight. Where a symbol is read, the targets of a batch are the set of symbols that could come next, as bits;
    the lowest bit stands for symbol 0.
    """

    answers: int
    symbols: int
    next_symbol: float = 0.0  # weight of the loss; 0: no such head
    next_set: float = 0.0

    @property
    def outputs(self) -> int:
        """The number of all outputs."""
        return self.answers + (self.symbols + 1) * sum(weight > 0 for weight in (self.next_symbol, self.next_set))


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Optimiser and number of steps. Settings that differ between members (learning rate, penalty) are in
    `MemberRecipe`."""

    steps: int
    optimiser: Literal["adam", "adamw", "sgd"] = "adam"
    betas: tuple[float, float] = (0.9, 0.999)  # for Adam and AdamW
    weight_decay: float = 1e-2  # for AdamW
    momentum: float = 0.0  # of SGD
    nesterov: bool = False  # for SGD with momentum
    gradient_clip: float | None = 1.0  # largest norm of a member's whole gradient
    precision: Precision = "float32"
    exact_products: bool = False  # single precision even if the accelerator would round the factors (TF32)
    loss: Literal["mean", "sum", "pooled"] = "mean"  # of an example's symbols; pooled: over all symbols of the batch
    schedule: Schedule | None = None
    shrink: float | None = None  # factor on a member's rate after every milestone that is no better than its best
    kept: Literal["best", "before_best"] = "best"  # the milestone whose weights are saved; the first has none before it
    heads: Heads | None = None  # further losses of a classifier; only the JAX engine has them
    restart_every: int | None = None  # steps after which weights and schedule, but not the optimiser, are reset

    @property
    def restarts(self) -> range:
        """The steps before which weights and schedule are reset."""
        return range(self.restart_every, self.steps, self.restart_every) if self.restart_every else range(0)

    def step_of_schedule(self, step: Any) -> Any:
        """Returns the number of a step since the last restart, as a number or a scalar array."""
        return step % self.restart_every if self.restart_every else step


@dataclass(frozen=True)
class MemberRecipe:
    """The settings in which the members of one training differ."""

    seed: int
    learning_rate: float
    l1: float = 0.0
    l2: float = 0.0


class AbstractProblem(ABC):
    """The training data of members, as arrays.

    - `task_name`: the full name of the task (`bliss/an_bn`), for engines with special support for some tasks.
    - `symbols`: the symbols that a model reads, in the order of their ids.
    - `input_size`: the number of token ids of inputs; `num_symbols` of them are symbols, larger ids are marks.
    - `output_size`: the number of output symbols.
    - `batch_size`: rows of a training batch. `longest`: the largest number of time steps of a training batch.
    - `longest_target`: the same for targets, if they have a separate time axis.
    - `buckets`: the padded lengths of training batches; `None` lets the engine choose. Pairs of lengths if targets have
      a separate time axis.
    - `rows`: for each bucket, the number of rows of a batch that can count, if these are not all. They come first; the
      rows after them are padding, which need not be computed.
    - `start`: the first decoder input of a sequence-to-sequence model, before the first target symbol.
    - `end`: the target symbol after which an output is complete.
    - `answers_from`: the token after which an autoregressive model reads its own previous answers.
    - `test_dropout_seed`: seed of the dropout in tests, if dropout stays on in tests.
    - `milestones`: the steps of training at which members are evaluated; see `Job.milestone`.
    - `has_own_examples`: whether every member has different training examples. The arrays of `batch` then begin with an
      axis of members.
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
        """Returns batch number `step`, a function of `step` alone: a resumed run sees the same data."""

    def training_set(self) -> Batch:
        """Returns the training set, if it is fixed: each distinct example once, weighted by its frequency."""
        raise UsageError("This problem draws fresh strings at every step: it has no fixed training set.")

    def framed(self, symbols: Sequence[str]) -> Batch:
        """Returns one string as a model reads it: a batch of one row, whose `target_mask` marks the steps with an
        answer. Its targets have no meaning."""
        raise UsageError(
            f"`{type(self).__name__}` does not say how a model reads one string, so that its models cannot be asked "
            "about strings. Give it a method `framed`; see `humboldt.training.base.AbstractProblem`."
        )


class AbstractPredictor(ABC):
    """Trained members that can be evaluated; a model from outside is one member. Abilities are further base classes
    (`humboldt.training.abilities`).

    `covers` names the test sets that it has answers for, if these are not all: a file may have predictions for only one
    of them.
    """

    num_members: int
    covers: tuple[str, ...] | None = None

    @abstractmethod
    def take(self, members: Sequence[int]) -> "AbstractPredictor":
        """Returns a predictor of some of the members."""

    def about(self, member: int) -> tuple[dict[str, float], dict[str, Any]]:
        """Returns measures and details of a member that come from the engine."""
        del member
        return {}, {}

    def parameters(self) -> dict[str, int]:
        """Returns the number of trained parameters: of the `embedding`, of the `readout`, and of the `body` between
        them; empty if not known.
        """
        return {}

    def source_vectors(self) -> np.ndarray | None:
        """Returns the vectors of all source tokens, shape `(member, token, size)`; `None` if not known."""
        return None


@dataclass(frozen=True)
class Milestone:
    """The result of evaluating the members during training. The `score` of each member decides which weights are saved
    as its best (the last, if there is no score). `record` is stored unchanged; a list with an entry for each member is
    stored with each member's results, under `milestones`."""

    score: np.ndarray | None = None
    record: Any = None


@dataclass(frozen=True)
class Job:
    """The input of an engine: one training. `model` is the object with the model's settings.

    `milestone(step, predictor)` is called at the problem's milestones. `cores` is the number of cores that the job
    may use; `None` means all of its process. `road`: how the members of PyTorch modules are trained; `compile`: whether
    by `torch.compile`; `fused`: whether loops over time and attention of JAX networks may run as one kernel. Results
    depend on these three only in rounding; on `cores` too, if a PyTorch member is trained on all of them, and otherwise
    not at all.
    """

    model: Any
    problem: AbstractProblem
    recipe: Recipe
    members: tuple[MemberRecipe, ...]
    milestone: Callable[[int, AbstractPredictor], Milestone] | None = None
    cores: int | None = None
    road: Road = "auto"
    compile: Compile = "setting"
    fused: bool = True


@dataclass(frozen=True)
class TrainingEnd:
    """How one member's training ended. `diverged_at` is the step, or `None`."""

    diverged_at: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class AbstractTrained(ABC):
    """The members after training."""

    predictor: AbstractPredictor
    outcomes: tuple[TrainingEnd, ...]
    milestones: tuple[Any, ...] = ()  # the records of all milestones, in order

    @abstractmethod
    def weights(self, member: int) -> dict[str, np.ndarray]:
        """Returns one member as named arrays to save; `AbstractEngine.restore` reads them."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Lower bound on the memory of a training in bytes: shared, per member, and available."""

    shared: int
    each: int
    available: int


class AbstractEngine(ABC):
    """Trains members. Importing an engine's file imports neither JAX nor torch; using it may."""

    models: Registry[Any]  # classes of model settings that it can train
    abilities: ClassVar[frozenset[type[AbstractAbility]]]  # abilities of its predictors
    has_roads: ClassVar[bool] = False  # whether `road` returns sentences
    uses_accelerator: ClassVar[bool] = True  # whether it can use a GPU

    @abstractmethod
    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> AbstractTrained:
        """Trains to the end, from the newest checkpoint if there is one.

        Raises `Interrupted`, with everything saved, if the sink requests a stop. No member's result depends on the
        other members.
        """

    @abstractmethod
    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        """Returns members from their saved weights, in the order of `job.members`."""

    @abstractmethod
    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        """Returns untrained members, for an estimate of the time of scoring, and the estimated seconds of training,
        including compilation."""

    def takes_turns(self) -> bool:
        """Returns whether members are trained and evaluated one after the other here, so that time grows with their
        number."""
        return False

    def road(self, job: Job) -> str | None:
        """Returns a sentence about the way in which the members of a job are trained here, for a plan; `None` if there
        is one way only."""
        del job

    def parameters(self, job: Job) -> int:
        """Returns the number of trained parameters of one member."""
        del job
        raise UsageError(f"`{type(self).__name__}` has no networks of a fixed size.")

    def trial(self, job: Job) -> Any:
        """Returns an untrained network to be checked; see `humboldt.training.checks.AbstractTrial`."""
        del job
        raise UsageError(f"`{type(self).__name__}` has no networks that can be tried out.")

    def memory(self, job: Job) -> "MemoryEstimate | None":
        """Returns the least memory that a job needs, and that of the machine; `None` if not known."""
        del job
        return None

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """Returns versions and device, which are stored with every result."""

    def environment_of(self, job: Job) -> dict[str, str]:
        """Returns the environment of a training: `environment`, and what depends on the job."""
        del job
        return self.environment()


engines: Registry[AbstractEngine] = Registry("engine", "humboldt.training.engines")
