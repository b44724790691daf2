"""What a user's module is given, and what it must give back; docs/pytorch.md has the table.

- **Transduction, next symbol, classification**: `forward(tokens)` with token ids of shape `(batch, time)`. It returns
  logits of shape `(batch, time, out)`; a classifier may return `(batch, out)`. Where `forward` has parameters of these
  names it is also given `mask`, shape `(batch, time)`, true where a token is real, and `lengths`, shape `(batch,)`.
- **Sequence to sequence**: `forward(source, told)`: the source, and the target one step late, after a start mark. It
  returns logits of shape `(batch, target time, out)`. By name: `mask` and `lengths` of the source, `target_mask`.

Padding stands at the end of a row.
"""

import contextlib
import inspect
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from humboldt.errors import RunError
from humboldt.languages import Batch, ProblemKind
from humboldt.training.base import AbstractProblem


@contextlib.contextmanager
def own_threads(device: torch.device) -> Iterator[None]:
    """One thread on a CPU, unless the user has said how many (`OMP_NUM_THREADS`).

    PyTorch takes all cores. If one of them is busy with other work, all threads wait for it at every operation, of
    which small networks have many: steps then take several times as long as with one thread.
    """
    before = torch.get_num_threads()
    if device.type == "cpu" and not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Caller:
    """Calls modules of one class on the batches of one problem.

    `name` is how messages speak of the module.
    """

    def __init__(self, name: str, problem: AbstractProblem, device: torch.device) -> None:
        self.name, self.problem, self.device = name, problem, device

    def tensor(self, array: np.ndarray) -> Tensor:
        """An array on the device; whole numbers as PyTorch likes them best."""
        tensor = torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
        return tensor.long() if tensor.dtype == torch.int32 else tensor

    def told(self, targets: Tensor) -> Tensor | None:
        """What a sequence-to-sequence module is told when it is asked for each target: the one before."""
        if self.problem.start is None:
            return None
        start = torch.full_like(targets[:, :1], self.problem.start)
        return torch.cat([start, targets[:, :-1]], 1)

    def logits(
        self, module: nn.Module, tokens: Tensor, mask: Tensor, told: Tensor | None, target_mask: Tensor | None = None
    ) -> Tensor:
        """Logits of shape `(batch, time, out)`, the time being that of the targets."""
        given: dict[str, Any] = {"mask": mask, "lengths": mask.sum(1)}
        if told is not None:
            given["target_mask"] = torch.ones_like(told, dtype=torch.bool) if target_mask is None else target_mask
        wanted = _parameters(module)
        named = given if wanted is None else {key: value for key, value in given.items() if key in wanted}
        leading = (tokens,) if told is None else (tokens, told)
        try:
            found = module(*leading, **named)
        except Exception as error:
            shapes = ", ".join(str(tuple(x.shape)) for x in leading)
            raise RunError(
                f"{self.name}: forward raised {type(error).__name__}: {error} "
                f"(called with token ids of shape {shapes}{_and(named)}). Mend `forward`; what it is given is in "
                "docs/pytorch.md."
            ) from error
        return self._checked(found, tuple(leading[-1].shape))

    def _checked(self, found: Any, shape: tuple[int, ...]) -> Tensor:
        out = self.problem.output_size
        if not isinstance(found, Tensor):
            raise RunError(
                f"{self.name}: forward returned a {type(found).__name__}. Return one tensor of logits of shape "
                f"(batch, time, {out}); nn.LSTM and nn.GRU return a pair, whose first part that is made from."
            )
        if self.problem.kind is ProblemKind.CLASSIFICATION and tuple(found.shape) == (shape[0], out):
            found = found[:, None].expand(*shape, out)
        if tuple(found.shape) != (*shape, out):
            raise RunError(
                f"{self.name}: forward returned logits of shape {tuple(found.shape)} for a batch of {shape[0]} and "
                f"{shape[1]} steps. Return shape {(*shape, out)}: batch, time, outputs (batch first)."
            )
        if not found.is_floating_point():
            raise RunError(f"{self.name}: forward returned {found.dtype}. Return logits, which are floating point.")
        return found.float()

    def of_batch(self, module: nn.Module, batch: Batch) -> Tensor:
        """What a module says to a batch."""
        tokens, mask = self.tensor(batch.tokens), self.tensor(batch.mask)
        told = self.told(self.tensor(batch.targets))
        return self.logits(module, tokens, mask, told, self.tensor(batch.target_mask))


def _parameters(module: nn.Module) -> set[str] | None:
    """The names that `forward` can be given; `None` where it takes any."""
    forward = getattr(module, "_orig_mod", module).forward  # of what `torch.compile` has wrapped
    parameters = inspect.signature(forward).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {parameter.name for parameter in parameters}


def _and(named: dict[str, Any]) -> str:
    return f", and {', '.join(named)}" if named else ""
