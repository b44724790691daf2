"""One step of one module: the same loss, clipping, schedules and optimisers as in the JAX engine."""

import contextlib
import math
from typing import Any

import torch
from torch import Tensor, nn

from humboldt.training.base import MemberRecipe, Recipe, Schedule
from humboldt.training.pytorch.calling import Caller, Examples


def optimiser_for(recipe: Recipe, member: MemberRecipe, module: nn.Module) -> torch.optim.Optimizer:
    """Returns the PyTorch optimiser of a recipe."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    rate = member.learning_rate
    if recipe.optimiser == "adam":
        return torch.optim.Adam(parameters, rate, recipe.betas)
    if recipe.optimiser == "adamw":
        return torch.optim.AdamW(parameters, rate, recipe.betas, weight_decay=recipe.weight_decay)
    nesterov = recipe.nesterov and recipe.momentum > 0
    return torch.optim.SGD(parameters, rate, momentum=recipe.momentum, nesterov=nesterov)


def learning_rate_factor(schedule: Schedule | None, step: int) -> float:
    """Returns the factor on the learning rate in step number `step` (counted from 0)."""
    if schedule is None:
        return 1.0
    done = step + schedule.first
    if done < schedule.warm_up:
        return schedule.start + (1 - schedule.start) * done / schedule.warm_up
    if schedule.decay == "cosine":
        share = (done - schedule.warm_up) / max(1, schedule.last - schedule.warm_up)
        return 0.5 * (1 + math.cos(math.pi * min(max(share, 0.0), 1.0)))
    return (schedule.warm_up / max(done, 1)) ** 0.5 if schedule.decay == "inverse_square_root" else 1.0


def nats_per_symbol(logits: Tensor, targets: Tensor) -> Tensor:
    """Returns minus the log-probability of each target, shape `(batch, time)`."""
    return nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")


def batch_loss(logits: Tensor, batch: Examples, reduction: str) -> tuple[Tensor, Tensor]:
    """Returns loss and share of correct symbols of a batch."""
    mask = batch.target_mask
    nats = torch.where(mask, nats_per_symbol(logits, batch.targets), 0.0).sum(1)
    count = mask.sum(1).clamp(min=1)
    correct = (mask & (logits.argmax(-1) == batch.targets)).sum(1) / count
    share = batch.weight / batch.weight.sum()
    accuracy = (share * correct).sum()
    if reduction == "mean":
        nats = nats / count
    if reduction == "pooled":
        share = batch.weight / (batch.weight * mask.sum(1)).sum()
    return (share * nats).sum(), accuracy


def loss_of(caller: Caller, module: nn.Module, recipe: Recipe, batch: Examples) -> tuple[Tensor, Tensor]:
    """Returns loss and share of correct symbols of a module for a batch, in the precision of the recipe."""
    with _precision(recipe, caller.device):
        logits = caller.of_examples(module, batch)
    return batch_loss(logits, batch, recipe.loss)


def train_step(
    caller: Caller,
    module: nn.Module,
    optimiser: torch.optim.Optimizer,
    recipe: Recipe,
    member: MemberRecipe,
    rate: float,
    batch: Examples,
) -> tuple[float, float, bool]:
    """Does one step; returns loss, accuracy, and whether loss and gradient were finite. If not, nothing has changed."""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    loss, accuracy = loss_of(caller, module, recipe, batch)
    whole = loss
    if member.l1:
        whole = whole + member.l1 * torch.stack([parameter.abs().sum() for parameter in parameters]).sum()
    if member.l2:
        whole = whole + member.l2 * torch.stack([(parameter**2).sum() for parameter in parameters]).sum()
    optimiser.zero_grad(set_to_none=True)
    whole.backward()
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = nn.utils.get_total_norm(gradients)
    value, accuracy_value, size = torch.stack([loss.detach(), accuracy, norm]).tolist()  # waits once for the device
    if not (abs(value) < float("inf") and size < float("inf")):
        return value, accuracy_value, False
    if recipe.gradient_clip is not None and size >= recipe.gradient_clip > 0:
        for gradient in gradients:
            gradient.mul_(recipe.gradient_clip / size)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    return value, accuracy_value, True


def _precision(recipe: Recipe, device: torch.device) -> Any:
    """Returns PyTorch's context for half precision; weights and loss stay in single precision."""
    if recipe.precision == "float32":
        return contextlib.nullcontext()
    return torch.autocast(device.type, torch.bfloat16)
