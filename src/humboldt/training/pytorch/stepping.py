"""Modules that read one symbol in every row at a time, as the measures of BLISS read them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from humboldt.errors import RunError, contained
from humboldt.training.pytorch.calling import Caller


class ModuleStepper:
    """Uses `module.step(tokens, state) -> (logits, state)`: one token of each row, shape `(batch,)`, and logits of
    shape `(batch, out)`. The first state is `None`. A state is a tensor, or tuples, lists or dictionaries of tensors.

    Rows of states are selected and repeated. The axis of rows of each tensor is determined by a trial call: in layers
    of PyTorch it is the second.
    """

    def __init__(self, module: nn.Module, caller: Caller) -> None:
        self.module, self.caller = module, caller
        shapes = [self._shapes(rows) for rows in (2, 3)]
        self._axes = [_differing(*pair) for pair in zip(*shapes, strict=True)]

    def _shapes(self, rows: int) -> list[tuple[int, ...]]:
        state, _ = self.logits(None, torch.zeros(rows, dtype=torch.int64, device=self.caller.device))
        return [tuple(leaf.shape) for leaf in pytree.tree_leaves(state)]

    def init(self, count: int) -> None:
        """Returns the state before the first symbol."""
        del count

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        """Reads one symbol in each row; returns the state and the distributions."""
        state, logits = self.logits(state, self.caller.tensor(symbols))
        return state, torch.softmax(logits.double(), -1).cpu().numpy()

    @torch.no_grad()
    def logits(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """Reads one token in each row; returns the state and logits, shape `(rows, out)`."""
        name, out = self.caller.name, self.caller.problem.output_size
        try:
            with contained(), self.caller.computing():
                logits, state = self.module.step(tokens, state)  # pyright: ignore[reportCallIssue]
        except Exception as error:
            raise RunError(
                f"{name}: step raised {type(error).__name__}: {error}. It is given one token of each row and a state "
                "(`None` at first), and returns logits and the next state; see docs/pytorch.md."
            ) from error
        if tuple(logits.shape) != (len(tokens), out):
            raise RunError(
                f"{name}: step returned logits of shape {tuple(logits.shape)} for {len(tokens)} rows. Return shape "
                f"{(len(tokens), out)}."
            )
        return state, logits

    def take(self, state: Any, rows: np.ndarray) -> Any:
        """Returns the state of the given rows."""
        if state is None:
            return None
        index = self.caller.tensor(rows).long()
        leaves, structure = pytree.tree_flatten(state)
        taken = [x if axis is None else x.index_select(axis, index) for x, axis in zip(leaves, self._axes, strict=True)]
        return pytree.tree_unflatten(taken, structure)


def _differing(two: tuple[int, ...], three: tuple[int, ...]) -> int | None:
    """Returns the axis that has size 2 for two rows and 3 for three."""
    return next((axis for axis, sizes in enumerate(zip(two, three, strict=True)) if sizes == (2, 3)), None)
