"""Trains each member as CUDA graphs, which are replayed on a stream of its own.

A graph is one complete step for batches of one shape: loss, gradient, clipping and optimiser. Its inputs and results
are tensors at fixed places, and nothing is read from the device before the last step of a call. A member whose loss or
gradient is not finite is frozen on the device (`found_inf` of PyTorch's fused optimisers).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from humboldt.errors import is_out_of_memory
from humboldt.languages import Batch
from humboldt.training.base import MemberRecipe, Recipe
from humboldt.training.pytorch.calling import Examples
from humboldt.training.pytorch.learner import Learner, own_random
from humboldt.training.pytorch.recording import (
    MOST_GRAPHS,
    MOST_STEPS,
    WARM_UP_STEPS,
    CannotRecord,
    CudaRecorder,
    MemberRandom,
    Recorder,
    recorded,
    tensors_of,
)
from humboldt.training.pytorch.steps import learning_rate_factor, loss_of

if TYPE_CHECKING:
    from humboldt.training.pytorch.train import Training


def fused_optimiser(recipe: Recipe, parameters: list[nn.Parameter], rate: Tensor) -> torch.optim.Optimizer:
    """Returns an optimiser that neither reads the device nor allocates its state in a step."""
    if recipe.optimiser == "sgd":
        nesterov = recipe.nesterov and recipe.momentum > 0
        made: Any = torch.optim.SGD(parameters, rate, momentum=recipe.momentum, nesterov=nesterov, fused=True)
    else:
        more: dict[str, Any] = {"fused": True, "capturable": rate.device.type == "cuda"}
        if recipe.optimiser == "adam":
            made = torch.optim.Adam(parameters, rate, recipe.betas, **more)
        else:
            made = torch.optim.AdamW(parameters, rate, recipe.betas, weight_decay=recipe.weight_decay, **more)
        made._warned_capturable_if_run_uncaptured = True  # the steps before a recording are not captured on purpose
    for parameter in parameters:
        zeros = [torch.zeros_like(parameter) for _ in range(2)]
        if recipe.optimiser != "sgd":
            step = torch.zeros((), device=parameter.device)
            made.state[parameter] = {"step": step, "exp_avg": zeros[0], "exp_avg_sq": zeros[1]}
        elif recipe.momentum:
            made.state[parameter] = {"momentum_buffer": zeros[0]}
    return made


class Graphed:
    """One member: its module and optimiser at fixed places, and a recorded step for each shape of batch."""

    def __init__(self, training: "Training", member: MemberRecipe, recorder: Recorder) -> None:
        self.training, self.member, self.recorder = training, member, recorder
        device = training.caller.device
        self.module = training.fresh(member).module.train()
        self.parameters = [x for x in self.module.parameters() if x.requires_grad]
        self.rate = torch.zeros((), device=device)
        self.optimiser = fused_optimiser(training.recipe, self.parameters, self.rate)
        self.random = MemberRandom(device)
        self.place = torch.zeros(1, dtype=torch.int64, device=device)  # of the next step in a call
        self.first = torch.zeros((), dtype=torch.int64, device=device)  # number of the first step of the call
        self.rates = torch.zeros(MOST_STEPS, device=device)
        self.values = torch.zeros(2, MOST_STEPS, device=device)  # losses and accuracies of a call
        self.diverged_at = torch.full((), -1, dtype=torch.int64, device=device)
        self._steps: dict[Any, tuple[Examples, Callable[[], None], list[Tensor]]] = {}

    def load(self, learner: Learner, first: int, rates: np.ndarray) -> None:
        """Copies the state of a learner to the fixed places."""
        self.module.load_state_dict(learner.module.state_dict())
        theirs = [x for group in learner.optimiser.param_groups for x in group["params"]]
        for parameter, other in zip(self.parameters, theirs, strict=True):
            state = learner.optimiser.state.get(other) or {}
            for kind, tensor in self.optimiser.state[parameter].items():
                tensor.copy_(state[kind]) if kind in state else tensor.zero_()
        self.rates[: len(rates)].copy_(torch.from_numpy(rates.astype(np.float32)))
        self.place.zero_()
        self.first.fill_(first)
        self.diverged_at.fill_(learner.diverged_at)
        self.random.load(learner.random)

    def save(self, learner: Learner) -> None:
        """Copies the state back to the learner."""
        learner.module.load_state_dict(self.module.state_dict())
        theirs = [x for group in learner.optimiser.param_groups for x in group["params"]]
        for parameter, other in zip(self.parameters, theirs, strict=True):
            state = {kind: tensor.clone() for kind, tensor in self.optimiser.state[parameter].items()}
            if "step" in state:
                state["step"] = state["step"].cpu()  # where PyTorch's plain optimisers have it
            if state:
                learner.optimiser.state[other] = state
        learner.random, learner.diverged_at = self.random.state(), int(self.diverged_at)

    def step(self, batch: Examples) -> None:
        """Does the next step of the call."""
        key = tuple(x.shape for x in batch)
        if key not in self._steps:
            if len(self._steps) == MOST_GRAPHS:
                return self._step(batch)
            inputs = Examples(*(x.clone() for x in batch))
            self._steps[key] = inputs, self._recorded(inputs), tensors_of(self.module)
        inputs, replay, _ = self._steps[key]
        for mine, given in zip(inputs, batch, strict=True):
            mine.copy_(given)
        replay()

    def _recorded(self, inputs: Examples) -> Callable[[], None]:
        of_optimiser = [x for state in self.optimiser.state.values() for x in state.values()]
        changed = [
            self.place,
            self.diverged_at,
            self.values,
            self.rate,
            *self.module.parameters(),
            *self.module.buffers(),
        ]
        buffers = dict(self.module.named_buffers())
        try:
            replay = recorded(
                self.recorder,
                lambda: self._step(inputs),
                [*changed, *of_optimiser],
                [self.random],
                warm_up=1 if self._steps else WARM_UP_STEPS,
            )
        except Exception as error:
            if isinstance(error, CannotRecord) or is_out_of_memory(error):
                raise
            raise CannotRecord(str(error)) from error
        for name, x in self.module.named_buffers():
            if self.recorder.is_static and buffers.get(name) is not x:  # every repetition would begin with the old one
                raise CannotRecord(f"it assigns a new tensor to its buffer `{name}`")
        return replay

    def _step(self, batch: Examples) -> None:
        recipe, member, clip = self.training.recipe, self.member, self.training.recipe.gradient_clip
        with self.random.active():
            loss, accuracy = loss_of(self.training.caller, self.module, recipe, batch)
            whole = loss
            if member.l1:
                whole = whole + member.l1 * torch.stack([x.abs().sum() for x in self.parameters]).sum()
            if member.l2:
                whole = whole + member.l2 * torch.stack([(x**2).sum() for x in self.parameters]).sum()
            gradients = torch.autograd.grad(whole, self.parameters, allow_unused=True)
        if any(gradient is None for gradient in gradients):
            raise CannotRecord("some parameters have no gradient")
        with torch.no_grad():
            norm = nn.utils.get_total_norm(gradients)
            is_new = ~(loss.isfinite() & norm.isfinite()) & (self.diverged_at < 0)
            self.diverged_at.copy_(torch.where(is_new, self.first + self.place[0], self.diverged_at))
            scale = 1.0 if clip is None or clip <= 0 else torch.where(norm >= clip, clip / norm, 1.0)
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.grad = gradient * scale
            self.rate.copy_(self.rates.index_select(0, self.place)[0])
            optimiser: Any = self.optimiser
            optimiser.found_inf = (self.diverged_at >= 0).float()
            optimiser.step()
            self.values.index_copy_(1, self.place, torch.stack([loss, accuracy])[:, None])
            self.place.add_(1)


class Graphs:
    """All members of one training. Learners keep the state between two calls of `advance`."""

    def __init__(self, training: "Training", recorder: Callable[[torch.device], Recorder] = CudaRecorder) -> None:
        if training.compiled:
            raise CannotRecord("modules are compiled (`compile=true`)")
        self.training = training
        device = training.caller.device
        self.members = [Graphed(training, member, recorder(device)) for member in training.members]

    def advance(self, learners: Sequence[Learner], first: int, data: Sequence[Batch], rates: np.ndarray) -> np.ndarray:
        """Does consecutive steps of all learners; returns losses and accuracies, shape `(2, member, step)`.

        `rates` are factors on the learning rates. Values of members after they diverged are not a number. If it
        raises an exception, the learners are unchanged.
        """
        training, device = self.training, self.training.caller.device
        if all(learner.diverged_at >= 0 for learner in learners):
            return np.empty((2, len(learners), 0))
        if len(data) > MOST_STEPS:
            raise CannotRecord(f"a call has more than {MOST_STEPS} steps")
        numbers = map(training.recipe.step_of_schedule, range(first, first + len(data)))
        factors = np.array([learning_rate_factor(training.recipe.schedule, number) for number in numbers])
        alive = [number for number, learner in enumerate(learners) if learner.diverged_at < 0]
        losses = np.full((2, len(learners), len(data)), np.nan)
        with own_random(device), training.caller.computing():
            for number in alive:
                rate = training.members[number].learning_rate * rates[number]
                self.members[number].load(learners[number], first, factors * rate)
            ready: dict[tuple[int, int], Examples] = {}  # streams read them until the end of the call
            for batch in data:
                for number in alive:
                    key = id(batch), number if training.problem.has_own_examples else 0
                    if key not in ready:
                        ready[key] = training._examples(batch, number)
                    with self.members[number].recorder.running():
                        self.members[number].step(ready[key])
            for number in alive:
                self.members[number].recorder.wait()
        for number in alive:
            member, learner = self.members[number], learners[number]
            losses[:, number] = member.values[:, : len(data)].double().cpu().numpy()
            member.save(learner)
            if learner.diverged_at >= 0:
                losses[:, number, learner.diverged_at - first + 1 :] = np.nan
        return losses
