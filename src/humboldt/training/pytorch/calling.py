"""Calls a user's module and checks its results; docs/pytorch.md has a table of arguments.

- **Transduction, next symbol, classification**: `forward(tokens)` with token ids of shape `(batch, time)`. It returns
  logits of shape `(batch, time, out)`; a classifier may return `(batch, out)`. If `forward` has parameters of these
  names, it also gets `mask`, shape `(batch, time)`, true where a token is real, and `lengths`, shape `(batch,)`.
- **Sequence to sequence**: `forward(source, told)`: the source, and the target shifted right by one, after a start
  mark. It returns logits of shape `(batch, target time, out)`. By name: `mask` and `lengths` of the source,
  `target_mask`.
- **Sequence to sequence, concatenated**: a `forward(tokens)` that has neither reads both as one string. The target
  tokens so far come directly after the last one of the source, with ids of their own: `input_size` of the problem and
  larger. Its logits at these steps are the answers.

Padding is at the end of a row.
"""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from humboldt.errors import RunError, contained
from humboldt.languages import Batch, ProblemKind
from humboldt.training.base import AbstractProblem
from humboldt.training.pytorch.arithmetic import own_products, own_threads

BY_NAME = ("mask", "lengths", "target_mask")
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Examples(NamedTuple):
    """A batch on the device; see `humboldt.languages.Batch`."""

    tokens: Tensor
    mask: Tensor
    targets: Tensor
    target_mask: Tensor
    weight: Tensor


class Caller:
    """Calls modules of one class on the batches of one problem.

    `name` is the name of the module in messages. `concatenates`: whether source and target are read as one string.
    `exact_products`: whether products on a GPU are in full single precision; see `Recipe`.
    """

    def __init__(
        self,
        name: str,
        problem: AbstractProblem,
        device: torch.device,
        *,
        concatenates: bool = False,
        exact_products: bool = False,
    ) -> None:
        self.name, self.problem, self.device, self.concatenates = name, problem, device, concatenates
        self.exact_products = exact_products

    @contextlib.contextmanager
    def computing(self, threads: int = 1, *, exact: bool = False) -> Iterator[None]:
        """Returns a context in which modules compute as this training asks for. `exact`: with products in full single
        precision in any case, to compare logits that should be equal."""
        with own_threads(self.device, threads), own_products(self.device, exact=exact or self.exact_products):
            yield

    @contextlib.contextmanager
    def exactly(self) -> Iterator[None]:
        """Returns a context in which all modules compute with products in full single precision."""
        before, self.exact_products = self.exact_products, True
        try:
            yield
        finally:
            self.exact_products = before

    def tensor(self, array: np.ndarray) -> Tensor:
        """Returns an array as a tensor on the device; 32-bit integers become 64-bit."""
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        if self.device.type == "cuda":  # from pinned memory, the device does not wait for it
            tensor = tensor.pin_memory()
        tensor = tensor.to(self.device, non_blocking=self.device.type == "cuda")
        return tensor.long() if tensor.dtype == torch.int32 else tensor

    def told(self, targets: Tensor) -> Tensor | None:
        """Returns decoder inputs: the targets shifted right by one, after the start; `None` for other problems."""
        if self.problem.start is None:
            return None
        start = torch.full_like(targets[:, :1], self.problem.start)
        return torch.cat([start, targets[:, :-1]], 1)

    def logits(
        self, module: nn.Module, tokens: Tensor, mask: Tensor, told: Tensor | None, target_mask: Tensor | None = None
    ) -> Tensor:
        """Returns logits of shape `(batch, time, out)`, with the time axis of the targets."""
        if told is not None and self.concatenates:
            return self._concatenated(module, tokens, mask, told, target_mask)
        given: dict[str, Any] = {"mask": mask, "lengths": mask.sum(1)}
        if told is not None:
            given["target_mask"] = torch.ones_like(told, dtype=torch.bool) if target_mask is None else target_mask
        leading = (tokens,) if told is None else (tokens, told)
        return self._call(module, leading, given)

    def joined(self, tokens: Tensor, mask: Tensor, told: Tensor) -> Tensor:
        """Returns source and told tokens as one string, shape `(batch, source time + told time)`; padding is 0."""
        lengths, size = mask.sum(1, keepdim=True), self.problem.input_size
        place = torch.arange(tokens.shape[1] + told.shape[1], device=tokens.device)[None]
        parts = torch.cat([tokens, told + size, torch.zeros_like(tokens)], 1)
        return parts.gather(1, torch.where(place < lengths, place, place - lengths + tokens.shape[1]))

    def _concatenated(
        self, module: nn.Module, tokens: Tensor, mask: Tensor, told: Tensor, target_mask: Tensor | None
    ) -> Tensor:
        lengths = mask.sum(1)
        ends = lengths + (told.shape[1] if target_mask is None else target_mask.sum(1))
        joined = self.joined(tokens, mask, told)
        is_real = torch.arange(joined.shape[1], device=tokens.device)[None] < ends[:, None]
        logits = self._call(module, (joined,), {"mask": is_real, "lengths": ends})
        places = lengths[:, None] + torch.arange(told.shape[1], device=tokens.device)[None]
        return logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1]))

    def _call(self, module: nn.Module, leading: tuple[Tensor, ...], given: dict[str, Any]) -> Tensor:
        wanted = _parameters(module)
        named = given if wanted is None else {key: value for key, value in given.items() if key in wanted}
        try:
            with contained():
                returned = module(*leading, **named)
        except Exception as error:
            shapes = ", ".join(str(tuple(x.shape)) for x in leading)
            raise RunError(
                f"{self.name}: forward raised {type(error).__name__}: {error} "
                f"(called with token ids of shape {shapes}{_and(named)}). Fix `forward`; its arguments are listed "
                "in docs/pytorch.md."
            ) from error
        return self._checked(returned, tuple(leading[-1].shape))

    def _checked(self, logits: Any, shape: tuple[int, ...]) -> Tensor:
        out = self.problem.output_size
        if not isinstance(logits, Tensor):
            raise RunError(
                f"{self.name}: forward returned a {type(logits).__name__}. Return one tensor of logits of shape "
                f"(batch, time, {out}); nn.LSTM and nn.GRU return a pair, use its first part."
            )
        if self.problem.kind is ProblemKind.CLASSIFICATION and tuple(logits.shape) == (shape[0], out):
            logits = logits[:, None].expand(*shape, out)
        if tuple(logits.shape) != (*shape, out):
            raise RunError(
                f"{self.name}: forward returned logits of shape {tuple(logits.shape)}, and for a batch of {shape[0]} "
                f"strings of {shape[1]} steps with {out} symbols to choose from they need the shape {(*shape, out)}: "
                f"batch, time, symbols. {_guess(tuple(logits.shape), shape, out)}"
            )
        if not logits.is_floating_point():
            raise RunError(f"{self.name}: forward returned {logits.dtype}. Return logits, which are floating point.")
        return logits.float()

    def of_examples(self, module: nn.Module, batch: Examples) -> Tensor:
        """Returns the logits of a module for a batch on the device."""
        return self.logits(module, batch.tokens, batch.mask, self.told(batch.targets), batch.target_mask)

    def of_batch(self, module: nn.Module, batch: Batch) -> Tensor:
        """Returns the logits of a module for a batch."""
        return self.of_examples(module, Examples(*(self.tensor(getattr(batch, name)) for name in Examples._fields)))


def takes_told(module: nn.Module) -> bool:
    """Returns whether `forward` has a parameter for the target: `told`, `source`, or a second one without a default,
    whatever its name."""
    parameters = inspect.signature(module.forward).parameters.values()
    if any(parameter.name in ("told", "source") for parameter in parameters):
        return True
    needed = [p for p in parameters if p.default is p.empty and p.name not in BY_NAME and p.kind in POSITIONAL]
    return len(needed) > 1 or any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)


def _parameters(module: nn.Module) -> set[str] | None:
    """Returns the names of the parameters of `forward`; `None` if it takes any."""
    forward = getattr(module, "_orig_mod", module).forward  # the original of a module compiled by `torch.compile`
    parameters = inspect.signature(forward).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {parameter.name for parameter in parameters}


def _guess(given: tuple[int, ...], shape: tuple[int, ...], out: int) -> str:
    """Returns the likely reason for a wrong shape of logits, with the fix."""
    if given == (shape[1], shape[0], out):
        return "Batch and time are swapped: use batch_first=True."
    if len(given) == 3 and given[:2] == shape:
        return f"The last layer has {given[2]} outputs: give it `output_size`."
    if given == (shape[0], out):
        return "It answers once for each string, and here an answer is needed at every step: return those of all steps."
    if len(given) == 3 and given[0] == 1 and shape[0] > 1:
        return "It answers for one string of the batch only."
    if len(given) == 3 and given[0] == shape[0] and given[2] == out:
        return f"It answers at {given[1]} steps: return an answer at every step of the input."
    return "Return them in this order."


def _and(named: dict[str, Any]) -> str:
    return f", and {', '.join(named)}" if named else ""
