"""The predictor of trained modules, evaluated one after the other."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from humboldt.core.stepping import FromStrings
from humboldt.languages import Batch
from humboldt.training.abilities import CountsRight, GivesProbabilities, HasNetwork, ReadsSymbols, WritesOutputs, lacks
from humboldt.training.base import AbstractPredictor
from humboldt.training.pytorch.calling import Caller, own_threads
from humboldt.training.pytorch.learner import own_random
from humboldt.training.pytorch.stepping import ModuleStepper
from humboldt.training.pytorch.steps import nats_per_symbol

PAIRS_AT_ONCE = 2**24  # pairs of steps that attend to each other, in all rows together
ROWS_AT_ONCE = 16_384  # of a module with a method `step`
STRINGS_AT_ONCE, NUMBERS_AT_ONCE = 4_096, 2**24  # of one without: strings, and probabilities of all of them


class ModulePredictor(AbstractPredictor, CountsRight, GivesProbabilities, WritesOutputs, ReadsSymbols, HasNetwork):
    """Some modules of one class."""

    def __init__(self, modules: Sequence[nn.Module], caller: Caller) -> None:
        self.modules, self.caller, self.problem = list(modules), caller, caller.problem
        self.num_members = len(self.modules)
        for module in self.modules:
            module.eval()

    def take(self, members: Sequence[int]) -> "ModulePredictor":
        return ModulePredictor([self.modules[i] for i in members], self.caller)

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        seed = self.problem.test_dropout_seed
        if seed is None:
            return self._for_each(self._correct, batch)
        with own_random(self.caller.device):
            for module in self.modules:
                module.train()
            torch.manual_seed(seed * 1_000_003 + number)
            counts = self._for_each(self._correct, batch)
            for module in self.modules:
                module.eval()
        return counts

    def nats(self, batch: Batch) -> np.ndarray:
        return self._for_each(self._nats, batch)

    def _correct(self, module: nn.Module, batch: Batch) -> Tensor:
        targets, mask = self.caller.tensor(batch.targets), self.caller.tensor(batch.target_mask)
        if self.problem.answers_from is not None:
            said = self._own_answers(module, batch)
        else:
            said = self.caller.of_batch(module, batch).argmax(-1)
        return (mask & (said == targets)).sum(1)

    def _own_answers(self, module: nn.Module, batch: Batch) -> Tensor:
        """Returns the answers of an autoregressive module, which reads its previous answers in place of marks."""
        tokens, mask = self.caller.tensor(batch.tokens).clone(), self.caller.tensor(batch.mask)
        begin = (tokens == self.problem.answers_from).int().argmax(1)
        said = torch.zeros_like(tokens)
        for step in range(int(begin.min()), tokens.shape[1]):
            told = (step > begin) & mask[:, step]
            tokens[:, step] = torch.where(told, said[:, step - 1], tokens[:, step])
            said[:, step] = self.caller.logits(module, tokens, mask, None)[:, step].argmax(-1)
        return said

    def _nats(self, module: nn.Module, batch: Batch) -> Tensor:
        targets, mask = self.caller.tensor(batch.targets), self.caller.tensor(batch.target_mask)
        nats = nats_per_symbol(self.caller.of_batch(module, batch).double(), targets)
        return torch.where(mask, nats, 0.0).sum(1)

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        if self.problem.end is None:
            raise lacks("a module that does not map sequences to sequences", WritesOutputs)
        return self._for_each(lambda module, rows: self._greedy(module, rows, longest), batch)

    def _greedy(self, module: nn.Module, batch: Batch, longest: int) -> Tensor:
        """Decodes greedily. At every step the module reads all its previous outputs, unless it has a method `step` and
        reads source and target as one string."""
        assert self.problem.start is not None and self.problem.end is not None
        if self.caller.concatenates and hasattr(module, "step"):
            return self._stepwise(module, batch, longest)
        tokens, mask = self.caller.tensor(batch.tokens), self.caller.tensor(batch.mask)
        said = torch.full((len(tokens), longest), self.problem.end, device=self.caller.device)
        told = torch.full((len(tokens), longest + 1), self.problem.start, device=self.caller.device)
        left = torch.arange(len(tokens), device=self.caller.device)
        for step in range(longest):
            logits = self.caller.logits(module, tokens[left], mask[left], told[left, : step + 1])
            symbols = logits[:, step].argmax(-1)
            said[left, step] = told[left, step + 1] = symbols
            left = left[symbols != self.problem.end]
            if not len(left):
                break
        return said

    def _stepwise(self, module: nn.Module, batch: Batch, longest: int) -> Tensor:
        """Decodes greedily, one token of every row at a time: first the source, then the previous outputs."""
        start, end, device = self.problem.start, self.problem.end, self.caller.device
        assert start is not None and end is not None
        tokens, mask = self.caller.tensor(batch.tokens), self.caller.tensor(batch.mask)
        joined = self.caller.joined(tokens, mask, torch.full((len(tokens), longest), start, device=device))
        said = torch.full((len(tokens), longest), end, device=device)
        stepper, state = ModuleStepper(module, self.caller), None
        left, lengths, last = torch.arange(len(tokens), device=device), mask.sum(1), tokens.new_zeros(len(tokens))
        for place in range(joined.shape[1]):
            number = place - lengths[left]  # of the symbol that each row says next; negative in its source
            read = torch.where(number > 0, last[left] + self.problem.input_size, joined[left, place])
            state, logits = stepper.logits(state, read)
            symbols = logits.argmax(-1)
            last[left], says = symbols, number >= 0
            said[left[says], number[says]] = symbols[says]
            goes_on = ~says | ((symbols != end) & (number < longest - 1))
            if not goes_on.all():
                left, state = left[goes_on], stepper.take(state, goes_on.nonzero()[:, 0].cpu().numpy())
            if not len(left):
                break
        return said

    @torch.no_grad()
    def _for_each(self, ask: Callable[[nn.Module, Batch], Tensor], batch: Batch) -> np.ndarray:
        """Applies `ask` to every module and row, some rows at a time."""
        results = []
        for member, module in enumerate(self.modules):
            with own_threads(self.caller.device):
                parts = [ask(module, rows) for rows in _rows(batch, member)]
            results.append(torch.cat(parts).cpu().numpy())
        return np.stack(results)

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Any, int]:
        """Returns a stepper. A module with a method `step` reads one symbol at a time; others read whole strings."""
        del most_memory
        module = self.modules[member]
        if hasattr(module, "step"):
            return ModuleStepper(module, self.caller), ROWS_AT_ONCE

        @torch.no_grad()
        def read(strings: np.ndarray, first: int) -> np.ndarray:
            parts, size = [], max(1, PAIRS_AT_ONCE // strings.shape[1] ** 2)
            with own_threads(self.caller.device):
                for row in range(0, len(strings), size):
                    tokens = self.caller.tensor(strings[row : row + size])
                    logits = self.caller.logits(module, tokens, torch.ones_like(tokens, dtype=torch.bool), None)
                    parts.append(torch.softmax(logits[:, first:].double(), -1).cpu().numpy())
            return np.concatenate(parts)

        rows = NUMBERS_AT_ONCE // ((longest + 1) * self.problem.output_size)
        return FromStrings(read), min(max(rows, 1), STRINGS_AT_ONCE)

    def model(self, member: int) -> "AsNetwork":
        return AsNetwork(self.modules[member], self.caller)

    def parameters(self) -> dict[str, int]:
        module = self.modules[0]
        tables = [part for part in module.modules() if isinstance(part, nn.Embedding | nn.EmbeddingBag)]
        ends = {"embedding": _count(tables), "readout": _count([getattr(module, "readout", nn.Identity())])}
        return {**ends, "body": _count([module]) - sum(ends.values())}


def _count(modules: Sequence[nn.Module]) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


class AsNetwork:
    """A module that is called with arrays for one example, like Humboldt's networks."""

    def __init__(self, module: nn.Module, caller: Caller) -> None:
        self.module, self.caller = module, caller

    @torch.no_grad()
    def __call__(self, tokens: np.ndarray, mask: np.ndarray, *told: np.ndarray) -> np.ndarray:
        tensor = self.caller.tensor
        extra = [tensor(np.asarray(array)[None]) for array in told] or [None]
        return self.caller.logits(self.module, tensor(tokens[None]), tensor(mask[None]), *extra)[0].cpu().numpy()


def _rows(batch: Batch, member: int) -> Iterator[Batch]:
    """Yields a batch in parts that fit into memory; only the rows of this member, if members have different rows."""
    arrays = [getattr(batch, name) for name in type(batch).__dataclass_fields__]
    if batch.tokens.ndim == 3:
        arrays = [array[member] for array in arrays]
    size = max(1, PAIRS_AT_ONCE // max(1, batch.time * max(batch.time, batch.target_time)))
    for first in range(0, len(arrays[0]), size):
        yield Batch(*(array[first : first + size] for array in arrays))
