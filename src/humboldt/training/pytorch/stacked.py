"""Trains all members as one module whose weights have a leading axis of members (`torch.func`).

The weights of a member are one row of a matrix, so that an optimiser is a few operations for all members: each has its
own learning rate, penalties and clipping. Nothing is read from the device before the last step of a call. A member
whose loss or gradient is not finite is frozen; no operation mixes rows, so no member's result depends on the others.
"""

import gc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from humboldt.errors import is_out_of_memory
from humboldt.languages import Batch
from humboldt.training.base import Recipe
from humboldt.training.pytorch.calling import Examples
from humboldt.training.pytorch.learner import Learner, own_random
from humboldt.training.pytorch.plain_layers import Dropped, Observed, PlainLayers
from humboldt.training.pytorch.recording import (
    MOST_GRAPHS,
    MOST_STEPS,
    WARM_UP_STEPS,
    CannotRecord,
    CudaRecorder,
    Direct,
    MemberRandom,
    Recorder,
    recorded,
    tensors_of,
)
from humboldt.training.pytorch.steps import learning_rate_factor, loss_of

if TYPE_CHECKING:
    from humboldt.training.pytorch.train import Training

EPSILON = 1e-8  # of PyTorch's Adam
MOMENTS = {"adam": ("exp_avg", "exp_avg_sq"), "adamw": ("exp_avg", "exp_avg_sq"), "sgd": ("momentum_buffer",)}


class CannotStack(Exception):
    """Members cannot be trained as one module. The message is the reason."""


class Functional:
    """A module with other weights and buffers. `tensors` is updated if the module assigns buffers."""

    def __init__(self, module: nn.Module, tensors: dict[str, Tensor]) -> None:
        self.module, self.tensors, self.forward = module, tensors, module.forward

    def __call__(self, *args: Any, **named: Any) -> Any:
        layers = [vars(part) for part in self.module.modules() if isinstance(part, nn.RNNBase)]
        for attributes in layers:  # on a GPU, a layer would move weights that it does not know to one place
            attributes["flatten_parameters"] = _do_nothing
        try:
            return functional_call(self.module, self.tensors, args, named)
        finally:
            for attributes in layers:
                del attributes["flatten_parameters"]


def _do_nothing() -> None:
    pass


@contextmanager
def batched() -> Iterator[None]:
    """Chooses forms of operations that have batching rules; others are done member by member, without a warning."""
    with warnings.catch_warnings(), sdpa_kernel(SDPBackend.MATH):
        warnings.filterwarnings("ignore", message="There is a performance drop")
        yield


class Rows:
    """The weights of all members as one matrix with a row each, and views of it in the shapes of the parameters."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        parameters = [{name: x for name, x in m.named_parameters() if x.requires_grad} for m in modules]
        shapes = {name: x.shape for name, x in parameters[0].items()}
        if any({name: x.shape for name, x in own.items()} != shapes for own in parameters):
            raise CannotStack("members have different parameters")
        if not shapes or any(x.dtype != torch.float32 for own in parameters for x in own.values()):
            raise CannotStack("some parameters are not in single precision")
        self.names, self.shapes, count = list(shapes), list(shapes.values()), len(modules)
        self.sizes = [shape.numel() for shape in self.shapes]
        self.matrix = torch.stack([flat(own.values()) for own in parameters])
        self.views = [x.requires_grad_() for x in self._split(self.matrix, (count,))]
        self.constants = _stacked([_constants(module) for module in modules])

    def load(self, modules: Sequence[nn.Module]) -> None:
        """Reads the weights of the modules again, into the same places."""
        parameters = [dict(module.named_parameters()) for module in modules]
        self.matrix.copy_(torch.stack([flat(own[name] for name in self.names) for own in parameters]))
        for name, x in _stacked([_constants(module) for module in modules]).items():
            self.constants[name].copy_(x)

    def parts(self, row: Tensor) -> list[Tensor]:
        """Returns the parts of a row of a matrix, in the shapes of the parameters."""
        return self._split(row, ())

    def _split(self, matrix: Tensor, leading: tuple[int, ...]) -> list[Tensor]:
        parts = matrix.detach().split(self.sizes, -1)
        return [part.view(*leading, *shape) for part, shape in zip(parts, self.shapes, strict=True)]


def flat(tensors: Any) -> Tensor:
    """Returns tensors as one vector."""
    return torch.cat([x.detach().reshape(-1) for x in tensors])


def _constants(module: nn.Module) -> dict[str, Tensor]:
    """Returns buffers, and parameters that are not trained."""
    fixed = {name: x for name, x in module.named_parameters() if not x.requires_grad}
    return {**fixed, **dict(module.named_buffers())}


def _stacked(tensors: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    try:
        return {name: torch.stack([own[name].detach() for own in tensors]) for name in tensors[0]}
    except (KeyError, RuntimeError) as error:
        raise CannotStack("members have different buffers") from error


class Stack:
    """All members of one training, or the given ones. Learners keep the state between two calls of `advance`.

    On a GPU, a step is recorded for each shape of batch, if the module allows it; see `recording`.
    """

    def __init__(
        self, training: "Training", recorder: Recorder | None = None, *, numbers: Sequence[int] | None = None
    ) -> None:
        if training.compiled:
            raise CannotStack("modules are compiled one by one (`compile=true`)")
        self.training, self.caller, self.recipe = training, training.caller, training.recipe
        self.numbers = list(range(len(training.members)) if numbers is None else numbers)
        self.members = [training.members[number] for number in self.numbers]
        self.module, self._tried = (training.fresh(self.members[0]).module.train() for _ in range(2))
        device = training.caller.device
        self.recorder = recorder or recorder_of(device)
        self.not_recorded: str | None = None  # why steps are not recorded, after an attempt
        self._l1, self._l2 = (
            torch.tensor([getattr(member, name) for member in self.members], dtype=torch.float32, device=device)[
                :, None
            ]
            for name in ("l1", "l2")
        )
        self._is_penalised = any(member.l1 or member.l2 for member in self.members)
        self._forget()

    def halves(self) -> list["Stack"]:
        """Returns two programs for half of the members each, for a device whose memory is too small for all. They share
        the memory of what they record, since they take turns."""
        recorder = Direct() if isinstance(self.recorder, Direct) else recorder_of(self.caller.device)
        middle = (len(self.numbers) + 1) // 2
        parts = self.numbers[:middle], self.numbers[middle:]
        return [Stack(self.training, recorder, numbers=part) for part in parts]

    def free(self) -> None:
        """Frees the memory of its state and of what is recorded."""
        self._forget()
        gc.collect()
        if self.caller.device.type == "cuda":
            torch.cuda.empty_cache()

    def _forget(self) -> None:
        self._state: _State | None = None
        self._dropped: dict[Any, list[Dropped]] = {}  # the calls of dropout for batches of some shapes
        self._steps: dict[Any, tuple[Examples, Callable[[], None], list[Tensor]]] = {}

    def advance(self, learners: Sequence[Learner], first: int, data: Sequence[Batch], rates: np.ndarray) -> np.ndarray:
        """Does consecutive steps of all learners; returns losses and accuracies, shape `(2, member, step)`.

        `rates` are factors on the learning rates. Values of members after they diverged are not a number. If it
        raises an exception, the learners are unchanged.
        """
        if all(learner.diverged_at >= 0 for learner in learners):
            return np.empty((2, len(learners), 0))
        if len(data) > MOST_STEPS:
            raise CannotStack(f"a call has more than {MOST_STEPS} steps")
        try:
            return self._advance(learners, first, data, rates)
        except CannotRecord as error:
            self.recorder, self.not_recorded = Direct(), str(error)
            self._forget()
            return self._advance(learners, first, data, rates)

    def _advance(self, learners: Sequence[Learner], first: int, data: Sequence[Batch], rates: np.ndarray) -> np.ndarray:
        device, recorder = self.caller.device, self.recorder
        with own_random(device), self.caller.computing(), batched():
            if self._state is None:
                self._state = _State(self.recipe, learners, device)
            state = self._state
            state.load(learners, first, self._rates(first, len(data), rates))
            ready: dict[int, Examples] = {}  # a batch may be used often; a stream reads it until the end of the call
            for batch in data:
                if id(batch) not in ready:
                    ready[id(batch)] = self._examples(batch)
                with recorder.running():
                    self._do(ready[id(batch)])
            recorder.wait()
            losses = state.values[:, :, : len(data)].cpu().double().numpy()  # waits for the device, once
        done = state.diverged_at.tolist()
        for number, (learner, end) in enumerate(zip(learners, done, strict=True)):
            if learner.diverged_at >= 0:
                losses[:, number] = np.nan
                continue
            if end >= 0:
                losses[:, number, end - first + 1 :] = np.nan
            steps = len(data) if end < 0 else end - first
            self._take_over(learner, number, state, steps)
            learner.random, learner.diverged_at = state.randoms[number].state(), end
        return losses

    def _do(self, batch: Examples) -> None:
        """Does the next step of the call, from a record if there is one."""
        assert self._state is not None
        key = tuple(x.shape for x in batch)
        if key not in self._dropped:
            self._dropped[key] = self._observed(batch)
        if key not in self._steps:
            if len(self._steps) == MOST_GRAPHS:
                return self._step(batch, self._dropped[key])
            inputs = Examples(*(x.clone() for x in batch))
            self._steps[key] = inputs, self._recorded(inputs, self._dropped[key]), tensors_of(self.module)
        inputs, replay, _ = self._steps[key]
        for mine, given in zip(inputs, batch, strict=True):
            mine.copy_(given)
        replay()

    def _recorded(self, inputs: Examples, dropped: Sequence[Dropped]) -> Callable[[], None]:
        state = self._state
        assert state is not None
        try:
            return recorded(
                self.recorder,
                lambda: self._step(inputs, dropped),
                state.tensors(),
                state.randoms if dropped else [],
                warm_up=1 if self._steps else WARM_UP_STEPS,
            )
        except Exception as error:
            if isinstance(self.recorder, Direct) or is_out_of_memory(error):
                raise
            raise CannotRecord(str(error)) from error

    def _step(self, batch: Examples, dropped: Sequence[Dropped]) -> None:
        """Does one step of all members, with changes at fixed places only."""
        state = self._state
        assert state is not None
        loss, accuracy, gradient = self._gradient(state, batch, self._masks(dropped, state.randoms))
        with torch.no_grad():
            norm = gradient.norm(dim=1)
            is_new = ~(loss.isfinite() & norm.isfinite()) & (state.diverged_at < 0)
            state.diverged_at.copy_(torch.where(is_new, state.first + state.place[0], state.diverged_at))
            rates, corrections = (table.index_select(0, state.place)[0] for table in (state.rates, state.corrections))
            state.optimiser.step(gradient, norm, rates, corrections, state.diverged_at < 0)
            state.values.index_copy_(2, state.place, torch.stack([loss, accuracy])[:, :, None])
            state.place.add_(1)

    def _rates(self, first: int, steps: int, rates: np.ndarray) -> np.ndarray:
        """Returns the learning rate of every step and member."""
        learning_rates = np.array([member.learning_rate for member in self.members]) * rates
        numbers = map(self.recipe.step_of_schedule, range(first, first + steps))
        return np.array([[learning_rate_factor(self.recipe.schedule, number)] for number in numbers]) * learning_rates

    def _examples(self, batch: Batch) -> Examples:
        arrays = (getattr(batch, name) for name in Examples._fields)
        if self.training.problem.has_own_examples:
            arrays = (array[self.numbers] for array in arrays)
        return Examples(*map(self.caller.tensor, arrays))

    def _gradient(self, state: "_State", batch: Examples, masks: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Returns loss and accuracy of every member, and the gradients as a matrix. Updates buffers."""
        rows, is_alive = state.rows, state.diverged_at < 0
        before = {name: x.clone() for name, x in rows.constants.items()}  # modules change buffers in place
        loss, accuracy, constants = self._losses(rows, batch, masks)
        gradients = torch.autograd.grad(loss.sum(), rows.views, allow_unused=True)
        missing = [name for name, gradient in zip(rows.names, gradients, strict=True) if gradient is None]
        if missing:
            raise CannotStack(f"{missing[0]} has no gradient")
        for name, x in constants.items():
            kept = torch.where(is_alive.view(-1, *[1] * (x.ndim - 1)), x.detach(), before[name])
            rows.constants[name].copy_(kept)
        gradient = torch.cat([x.reshape(len(x), -1) for x in gradients], 1)
        if self._is_penalised:
            gradient = gradient + self._l1 * rows.matrix.sign() + 2 * self._l2 * rows.matrix
        return loss.detach(), accuracy.detach(), gradient

    def _losses(self, rows: Rows, batch: Examples, masks: list[Tensor]) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Returns loss, accuracy and buffers of every member after a call of all modules."""

        def of_member(
            weights: list[Tensor], constants: dict[str, Tensor], batch: Examples, masks: list[Tensor]
        ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
            module: Any = Functional(self.module, {**dict(zip(rows.names, weights, strict=True)), **constants})
            with PlainLayers(masks, is_static=self.recorder.is_static):
                loss, accuracy = loss_of(self.caller, module, self.recipe, batch)
            return loss, accuracy, {name: module.tensors[name] for name in constants}

        of_batch = 0 if self.training.problem.has_own_examples else None
        each = vmap(of_member, in_dims=(0, 0, of_batch, 0), randomness="error")
        return each(rows.views, rows.constants, batch, masks)

    def _observed(self, batch: Examples) -> list[Dropped]:
        """Returns the calls of dropout of one member for a batch. It is called by itself, so that inputs have the same
        layout in memory as in a plain step, and drawn masks are the same."""
        examples = Examples(*(x[0] for x in batch)) if self.training.problem.has_own_examples else batch
        with torch.no_grad(), Observed() as observed:
            loss_of(self.caller, self._tried, self.recipe, examples)
        return observed.dropped

    def _masks(self, dropped: Sequence[Dropped], randoms: Sequence[MemberRandom]) -> list[Tensor]:
        """Returns the masks of all calls of dropout, drawn for each member as its own module would draw them."""
        if not dropped:
            return []
        drawn = []
        for random in randoms:
            with random.active():
                drawn.append([call.mask(self.caller.device) for call in dropped])
        return [torch.stack(masks) for masks in zip(*drawn, strict=True)]

    def _take_over(self, learner: Learner, number: int, state: "_State", steps: int) -> None:
        """Copies one row back to its learner."""
        rows, optimiser = state.rows, state.optimiser
        own, buffers = dict(learner.module.named_parameters()), dict(learner.module.named_buffers())
        parameters: list[Tensor] = [own[name] for name in rows.names]
        moments = {kind: rows.parts(matrix[number].clone()) for kind, matrix in optimiser.moments.items()}
        with torch.no_grad():
            torch._foreach_copy_(parameters, rows.parts(rows.matrix[number]))  # pyright: ignore[reportPrivateImportUsage]
            for place, parameter in enumerate(parameters if moments else ()):
                kept = {kind: parts[place] for kind, parts in moments.items()}
                counted = {} if self.recipe.optimiser == "sgd" else {"step": optimiser.count(number, steps)}
                learner.optimiser.state[parameter] = {**counted, **kept}
            for name, x in rows.constants.items():
                if name in buffers:
                    buffers[name].copy_(x[number])


def recorder_of(device: torch.device) -> Recorder:
    """Returns the recorder of steps on a device."""
    return CudaRecorder(device) if device.type == "cuda" else Direct()


class _State:
    """Everything that a step reads and changes, at fixed places on the device."""

    def __init__(self, recipe: Recipe, learners: Sequence[Learner], device: torch.device) -> None:
        count = len(learners)
        self.rows = Rows([learner.module for learner in learners])
        self.optimiser = StackedOptimiser(recipe, self.rows, learners)
        self.randoms = [MemberRandom(device) for _ in learners]
        self.diverged_at = torch.full((count,), -1, dtype=torch.int64, device=device)
        self.place = torch.zeros(1, dtype=torch.int64, device=device)  # of the next step in a call
        self.first = torch.zeros((), dtype=torch.int64, device=device)  # number of the first step of the call
        self.rates = torch.zeros(MOST_STEPS, count, device=device)
        self.corrections = torch.ones(MOST_STEPS, 2, device=device)
        self.values = torch.zeros(2, count, MOST_STEPS, device=device)  # losses and accuracies of a call

    def tensors(self) -> list[Tensor]:
        """Returns the tensors that a step changes."""
        kept = [self.rows.matrix, *self.rows.constants.values(), *self.optimiser.moments.values()]
        return [*kept, self.diverged_at, self.place, self.values]

    def load(self, learners: Sequence[Learner], first: int, rates: np.ndarray) -> None:
        """Reads the state of all learners. `rates` has the learning rate of every step and member."""
        self.rows.load([learner.module for learner in learners])
        self.optimiser.load(learners)
        for random, learner in zip(self.randoms, learners, strict=True):
            random.load(learner.random)
        steps = len(rates)
        self.diverged_at.copy_(torch.tensor([learner.diverged_at for learner in learners]))
        self.place.zero_()
        self.first.fill_(first)
        self.rates[:steps].copy_(torch.from_numpy(rates.astype(np.float32)))
        self.corrections[:steps].copy_(torch.from_numpy(self.optimiser.corrections(steps).astype(np.float32)))


class StackedOptimiser:
    """PyTorch's Adam, AdamW or SGD for all rows of a matrix, each with its own learning rate."""

    def __init__(self, recipe: Recipe, rows: Rows, learners: Sequence[Learner]) -> None:
        self.recipe, self.matrix = recipe, rows.matrix
        kinds = () if recipe.optimiser == "sgd" and not recipe.momentum else MOMENTS[recipe.optimiser]
        self.moments = {kind: torch.stack([_moment(learner, kind) for learner in learners]) for kind in kinds}
        self._counts: list[int] = []

    def load(self, learners: Sequence[Learner]) -> None:
        """Reads the moments and numbers of steps of all learners."""
        for kind, matrix in self.moments.items():
            matrix.copy_(torch.stack([_moment(learner, kind) for learner in learners]))
        self._counts = [_count(learner) for learner in learners]
        alive = {count for count, x in zip(self._counts, learners, strict=True) if x.diverged_at < 0}
        if len(alive) > 1:
            raise CannotStack("members have done different numbers of steps")
        self._done = max(alive, default=0)

    def corrections(self, steps: int) -> np.ndarray:
        """Returns the divisors of both moments of Adam in the next steps, shape `(steps, 2)`."""
        counts = np.arange(self._done + 1, self._done + steps + 1)[:, None]
        return 1 - np.array(self.recipe.betas)[None] ** counts

    def count(self, member: int, steps: int) -> Tensor:
        """Returns the number of steps of a member, as PyTorch's optimisers count them."""
        return torch.tensor(float(self._counts[member] + steps))

    def step(self, gradient: Tensor, norm: Tensor, rates: Tensor, corrections: Tensor, is_alive: Tensor) -> None:
        """Does one step of the rows that are alive; `norm` is that of each row of `gradient`. The weights of the others
        stay as they are: their gradient and rate are 0."""
        recipe, matrix, clip = self.recipe, self.matrix, self.recipe.gradient_clip
        if clip is not None and clip > 0:
            gradient = gradient * torch.where(norm >= clip, clip / norm, 1.0)[:, None]
        gradient = torch.where(is_alive[:, None], gradient, 0.0)
        rate = torch.where(is_alive, rates, 0.0)[:, None]
        if recipe.optimiser == "sgd":
            matrix.sub_(rate * self._with_momentum(gradient))
            return
        if recipe.optimiser == "adamw":
            matrix.mul_(1 - rate * recipe.weight_decay)
        mean, square = self.moments["exp_avg"], self.moments["exp_avg_sq"]
        mean.lerp_(gradient, 1 - recipe.betas[0])
        square.mul_(recipe.betas[1]).addcmul_(gradient, gradient, value=1 - recipe.betas[1])
        divisor = (square.sqrt() / corrections[1].sqrt()).add_(EPSILON)
        matrix.sub_(rate / corrections[0] * (mean / divisor))

    def _with_momentum(self, gradient: Tensor) -> Tensor:
        if not self.recipe.momentum:
            return gradient
        buffer = self.moments["momentum_buffer"].mul_(self.recipe.momentum).add_(gradient)
        return gradient + self.recipe.momentum * buffer if self.recipe.nesterov else buffer


def _parameters(learner: Learner) -> list[Tensor]:
    return [parameter for group in learner.optimiser.param_groups for parameter in group["params"]]


def _moment(learner: Learner, kind: str) -> Tensor:
    """Returns one moment of all parameters of a learner as a vector; zeros before the first step."""
    state = learner.optimiser.state
    return flat(state[x][kind] if state.get(x) else torch.zeros_like(x) for x in _parameters(learner))


def _count(learner: Learner) -> int:
    """Returns the number of steps of a learner."""
    counts = {int(learner.optimiser.state.get(x, {}).get("step", 0)) for x in _parameters(learner)}
    if len(counts) > 1:
        raise CannotStack("its parameters have been trained for different numbers of steps")
    return counts.pop()
