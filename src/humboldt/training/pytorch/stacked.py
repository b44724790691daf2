"""Trains all members as one module whose weights have a leading axis of members (`torch.func`).

The weights of a member are one row of a matrix, so that an optimiser is a few operations for all members: each has its
own learning rate, penalties and clipping. Nothing is read from the device before the last step of a call. A member
whose loss or gradient is not finite is frozen; no operation mixes rows, so no member's result depends on the others.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from humboldt.languages import Batch
from humboldt.training.base import Recipe
from humboldt.training.pytorch.calling import Examples, own_threads
from humboldt.training.pytorch.learner import Learner, own_random, random_state, set_random_state
from humboldt.training.pytorch.plain_layers import Dropped, Observed, PlainLayers
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
        return functional_call(self.module, self.tensors, args, named)


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

    def row(self, matrix: Tensor, member: int) -> list[Tensor]:
        """Returns one row of a matrix, in the shapes of the parameters."""
        return self._split(matrix[member], ())

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
    """All members of one training. Learners keep the state between two calls of `advance`."""

    def __init__(self, training: "Training") -> None:
        if training.compiled:
            raise CannotStack("modules are compiled one by one (`compile=true`)")
        self.training, self.caller, self.recipe = training, training.caller, training.recipe
        self.module, self._tried = (training.fresh(training.members[0]).module.train() for _ in range(2))
        self._dropped: dict[Any, list[Dropped]] = {}  # the calls of dropout for batches of some shapes
        members, device = training.members, training.caller.device
        self._l1, self._l2 = (
            torch.tensor([getattr(member, name) for member in members], dtype=torch.float32, device=device)[:, None]
            for name in ("l1", "l2")
        )
        self._is_penalised = any(member.l1 or member.l2 for member in members)

    def advance(self, learners: Sequence[Learner], first: int, data: Sequence[Batch], rates: np.ndarray) -> np.ndarray:
        """Does consecutive steps of all learners; returns losses and accuracies, shape `(2, member, step)`.

        `rates` are factors on the learning rates. Values of members after they diverged are not a number. If it
        raises an exception, the learners are unchanged.
        """
        device = self.caller.device
        if all(learner.diverged_at >= 0 for learner in learners):
            return np.empty((2, len(learners), 0))
        with own_random(device), own_threads(device), batched():
            rows = Rows([learner.module for learner in learners])
            optimiser = StackedOptimiser(self.recipe, rows, learners)
            random = [learner.random for learner in learners]
            diverged_at = torch.tensor([learner.diverged_at for learner in learners], device=device)
            table = torch.from_numpy(self._rates(first, len(data), rates).astype(np.float32)).to(device)
            ready: dict[int, Examples] = {}  # a batch may be used often
            values = []
            for step, batch in enumerate(data, first):
                if id(batch) not in ready:
                    ready[id(batch)] = self._examples(batch)
                loss, accuracy, gradient = self._gradient(rows, ready[id(batch)], random, diverged_at < 0)
                norm = gradient.norm(dim=1)
                is_new = ~(loss.isfinite() & norm.isfinite()) & (diverged_at < 0)
                diverged_at = torch.where(is_new, step, diverged_at)
                optimiser.step(gradient, norm, table[step - first], diverged_at < 0)
                values.append(torch.stack([loss, accuracy]))
            losses = torch.stack(values, -1).cpu().double().numpy()  # waits for the device, once
        done = diverged_at.tolist()
        for number, (learner, end) in enumerate(zip(learners, done, strict=True)):
            if learner.diverged_at >= 0:
                losses[:, number] = np.nan
                continue
            if end >= 0:
                losses[:, number, end - first + 1 :] = np.nan
            steps = len(data) if end < 0 else end - first
            self._take_over(learner, number, rows, optimiser, steps)
            learner.random, learner.diverged_at = random[number], end
        return losses

    def _rates(self, first: int, steps: int, rates: np.ndarray) -> np.ndarray:
        """Returns the learning rate of every step and member."""
        own = np.array([member.learning_rate for member in self.training.members]) * rates
        numbers = map(self.recipe.step_of_schedule, range(first, first + steps))
        return np.array([[learning_rate_factor(self.recipe.schedule, number)] for number in numbers]) * own

    def _examples(self, batch: Batch) -> Examples:
        return Examples(*(self.caller.tensor(getattr(batch, name)) for name in Examples._fields))

    def _gradient(
        self, rows: Rows, batch: Examples, random: list[dict[str, Tensor]], is_alive: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns loss and accuracy of every member, and the gradients as a matrix. Updates buffers and `random`."""
        key = batch.tokens.shape, batch.targets.shape
        if key not in self._dropped:
            self._dropped[key] = self._observed(batch)
        before = {name: x.clone() for name, x in rows.constants.items()}  # modules change buffers in place
        loss, accuracy, constants = self._losses(rows, batch, self._masks(self._dropped[key], random))
        found = torch.autograd.grad(loss.sum(), rows.views, allow_unused=True)
        missing = [name for name, gradient in zip(rows.names, found, strict=True) if gradient is None]
        if missing:
            raise CannotStack(f"{missing[0]} has no gradient")
        rows.constants = {
            name: torch.where(is_alive.view(-1, *[1] * (x.ndim - 1)), x.detach(), before[name])
            for name, x in constants.items()
        }
        gradient = torch.cat([x.reshape(len(x), -1) for x in found], 1)
        if self._is_penalised:
            gradient = gradient + self._l1 * rows.matrix.sign() + 2 * self._l2 * rows.matrix
        return loss.detach(), accuracy.detach(), gradient

    def _losses(self, rows: Rows, batch: Examples, masks: list[Tensor]) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Returns loss, accuracy and buffers of every member after a call of all modules."""

        def of_member(
            weights: list[Tensor], constants: dict[str, Tensor], batch: Examples, masks: list[Tensor]
        ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
            module: Any = Functional(self.module, {**dict(zip(rows.names, weights, strict=True)), **constants})
            with PlainLayers(masks):
                loss, accuracy = loss_of(self.caller, module, self.recipe, batch)
            return loss, accuracy, {name: module.tensors[name] for name in constants}

        of_batch = 0 if self.training.problem.has_own_examples else None
        each = vmap(of_member, in_dims=(0, 0, of_batch, 0), randomness="error")
        return each(rows.views, rows.constants, batch, masks)

    def _observed(self, batch: Examples) -> list[Dropped]:
        """Returns the calls of dropout of one member for a batch. It is called by itself, so that inputs have the same
        layout in memory as in a plain step, and drawn masks are the same."""
        own = Examples(*(x[0] for x in batch)) if self.training.problem.has_own_examples else batch
        with torch.no_grad(), Observed() as observed:
            loss_of(self.caller, self._tried, self.recipe, own)
        return observed.dropped

    def _masks(self, dropped: Sequence[Dropped], random: list[dict[str, Tensor]]) -> list[Tensor]:
        """Returns the masks of all calls of dropout, drawn for each member as its own module would draw them."""
        if not dropped:
            return []
        drawn = []
        for number, state in enumerate(random):
            set_random_state(state)
            drawn.append([call.mask(self.caller.device) for call in dropped])
            random[number] = random_state(self.caller.device)
        return [torch.stack(masks) for masks in zip(*drawn, strict=True)]

    def _take_over(self, learner: Learner, number: int, rows: Rows, optimiser: "StackedOptimiser", steps: int) -> None:
        """Copies one row back to its learner."""
        own = dict(learner.module.named_parameters())
        moments = {name: rows.row(matrix, number) for name, matrix in optimiser.moments.items()}
        with torch.no_grad():
            for place, (name, x) in enumerate(zip(rows.names, rows.row(rows.matrix, number), strict=True)):
                own[name].copy_(x)
                if moments:
                    state = {kind: parts[place].clone() for kind, parts in moments.items()}
                    counted = {} if self.recipe.optimiser == "sgd" else {"step": optimiser.count(number, steps)}
                    learner.optimiser.state[own[name]] = {**counted, **state}
            buffers = dict(learner.module.named_buffers())
            for name, x in rows.constants.items():
                if name in buffers:
                    buffers[name].copy_(x[number])


class StackedOptimiser:
    """PyTorch's Adam, AdamW or SGD for all rows of a matrix, each with its own learning rate."""

    def __init__(self, recipe: Recipe, rows: Rows, learners: Sequence[Learner]) -> None:
        self.recipe, self.matrix = recipe, rows.matrix
        kinds = () if recipe.optimiser == "sgd" and not recipe.momentum else MOMENTS[recipe.optimiser]
        self.moments = {kind: torch.stack([_moment(learner, kind) for learner in learners]) for kind in kinds}
        self._counts = [_count(learner) for learner in learners]
        alive = {count for count, x in zip(self._counts, learners, strict=True) if x.diverged_at < 0}
        if len(alive) > 1:
            raise CannotStack("members have done different numbers of steps")
        self.done = max(alive, default=0)

    def count(self, member: int, steps: int) -> Tensor:
        """Returns the number of steps of a member, as PyTorch's optimisers count them."""
        return torch.tensor(float(self._counts[member] + steps))

    def step(self, gradient: Tensor, norm: Tensor, rates: Tensor, is_alive: Tensor) -> None:
        """Does one step of the rows that are alive; `norm` is that of each row of `gradient`. The weights of the others
        stay as they are: their gradient and rate are 0."""
        recipe, matrix, clip = self.recipe, self.matrix, self.recipe.gradient_clip
        if clip is not None and clip > 0:
            gradient = gradient * torch.where(norm >= clip, clip / norm, 1.0)[:, None]
        gradient = torch.where(is_alive[:, None], gradient, 0.0)
        rate = torch.where(is_alive, rates, 0.0)[:, None]
        self.done += 1
        if recipe.optimiser == "sgd":
            matrix.sub_(rate * self._with_momentum(gradient))
            return
        if recipe.optimiser == "adamw":
            matrix.mul_(1 - rate * recipe.weight_decay)
        mean, square = self.moments["exp_avg"], self.moments["exp_avg_sq"]
        mean.lerp_(gradient, 1 - recipe.betas[0])
        square.mul_(recipe.betas[1]).addcmul_(gradient, gradient, value=1 - recipe.betas[1])
        corrections = [1 - beta**self.done for beta in recipe.betas]
        divisor = (square.sqrt() / corrections[1] ** 0.5).add_(EPSILON)
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
