"""The predictor of trained modules, evaluated all at once or one after the other."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import vmap

from humboldt.core.stepping import FromStrings
from humboldt.languages import Batch
from humboldt.training.abilities import CountsRight, GivesProbabilities, HasNetwork, ReadsSymbols, WritesOutputs, lacks
from humboldt.training.base import AbstractPredictor
from humboldt.training.pytorch.calling import Caller, Examples
from humboldt.training.pytorch.learner import own_random
from humboldt.training.pytorch.plain_layers import PlainLayers
from humboldt.training.pytorch.stacked import Functional, batched
from humboldt.training.pytorch.stepping import ModuleStepper
from humboldt.training.pytorch.steps import nats_per_symbol

PAIRS_AT_ONCE = 2**24  # pairs of steps that attend to each other, in all rows together
ROWS_AT_ONCE = 16_384  # of a module with a method `step`
STRINGS_AT_ONCE, NUMBERS_AT_ONCE = 4_096, 2**24  # of one without: strings, and probabilities of all of them


ROWS_TRIED = 4  # of a batch, before it is read in another way than one module at a time, or one symbol
CAUSAL_TOLERANCE = 1e-4  # between logits that should be equal


class ModulePredictor(AbstractPredictor, CountsRight, GivesProbabilities, WritesOutputs, ReadsSymbols, HasNetwork):
    """Some modules of one class. `stacked`: whether all are evaluated at once, if a trial allows it."""

    def __init__(self, modules: Sequence[nn.Module], caller: Caller, *, stacked: bool = False) -> None:
        self.modules, self.caller, self.problem = list(modules), caller, caller.problem
        self.num_members, self.stacked = len(self.modules), stacked and len(self.modules) > 1
        self._stack: StackedModules | None = None
        for module in self.modules:
            module.eval()

    def take(self, members: Sequence[int]) -> "ModulePredictor":
        return ModulePredictor([self.modules[i] for i in members], self.caller, stacked=self.stacked)

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        seed, reads_own = self.problem.test_dropout_seed, self.problem.answers_from is not None
        ask = self._correct_own if reads_own else self._correct
        if seed is None:
            return self._for_each(ask, batch, stacks=not reads_own)
        with own_random(self.caller.device):
            for module in self.modules:
                module.train()
            torch.manual_seed(seed * 1_000_003 + number)
            counts = self._for_each(ask, batch, stacks=False)
            for module in self.modules:
                module.eval()
        return counts

    def nats(self, batch: Batch) -> np.ndarray:
        return self._for_each(self._nats, batch)

    def _correct(self, module: nn.Module, batch: Examples) -> Tensor:
        said = self.caller.of_examples(module, batch).argmax(-1)
        return (batch.target_mask & (said == batch.targets)).sum(1)

    def _correct_own(self, module: nn.Module, batch: Examples) -> Tensor:
        return (batch.target_mask & (self._own_answers(module, batch) == batch.targets)).sum(1)

    def _own_answers(self, module: nn.Module, batch: Examples) -> Tensor:
        """Returns the answers of an autoregressive module, which reads its previous answers in place of marks."""
        begin = (batch.tokens == self.problem.answers_from).int().argmax(1)
        if not module.training:  # with dropout, every reading would have other answers
            if hasattr(module, "step"):
                return self._answers_by_step(module, batch, begin)
            if self._is_causal(module, batch):
                return self._answers_by_guess(module, batch, begin)
        tokens, said = batch.tokens.clone(), torch.zeros_like(batch.tokens)
        for step in range(int(begin.min()), tokens.shape[1]):
            told = (step > begin) & batch.mask[:, step]
            tokens[:, step] = torch.where(told, said[:, step - 1], tokens[:, step])
            said[:, step] = self.caller.logits(module, tokens, batch.mask, None)[:, step].argmax(-1)
        return said

    def _answers_by_step(self, module: nn.Module, batch: Examples, begin: Tensor) -> Tensor:
        """Reads one token of every row at a time."""
        stepper, state, said = ModuleStepper(module, self.caller), None, []
        for step, tokens in enumerate(batch.tokens.unbind(1)):
            read = torch.where((step > begin) & batch.mask[:, step], said[-1], tokens) if said else tokens
            state, logits = stepper.logits(state, read)
            said.append(logits.argmax(-1))
        return torch.stack(said, 1)

    def _answers_by_guess(self, module: nn.Module, batch: Examples, begin: Tensor) -> Tensor:
        """Reads whole rows, with the right answers as the first guess of its own ones, and rows with other answers
        again, with these as the next guess. At least one more answer of such a row is final after each reading, so
        that the last answers are those of reading after every symbol."""
        places = torch.arange(batch.tokens.shape[1], device=batch.tokens.device)[None]
        told = (places > begin[:, None]) & batch.mask
        said, left = batch.targets.clone(), torch.arange(len(batch.tokens), device=batch.tokens.device)
        for _ in range(1 + batch.tokens.shape[1]):
            is_answer, before = told[left], said[left].roll(1, 1)  # each place reads the answer of the one before it
            tokens = torch.where(is_answer, before, batch.tokens[left])
            said[left] = self.caller.logits(module, tokens, batch.mask[left], None).argmax(-1)
            left = left[(is_answer & (said[left].roll(1, 1) != before)).any(1)]
            if not len(left):
                break
        return said

    def _is_causal(self, module: nn.Module, batch: Examples) -> bool:
        """Returns whether answers in the first half of a row do not depend on the other half."""
        tokens, middle = batch.tokens[:ROWS_TRIED], batch.tokens.shape[1] // 2
        later = tokens.clone()
        later[:, middle:] = (later[:, middle:] + 1) % self.problem.input_size
        mask = torch.ones_like(tokens, dtype=torch.bool)
        with self.caller.computing(exact=True):
            pair = [self.caller.logits(module, x, mask, None)[:, :middle] for x in (tokens, later)]
        return torch.allclose(*pair, rtol=0, atol=CAUSAL_TOLERANCE)

    def _nats(self, module: nn.Module, batch: Examples) -> Tensor:
        nats = nats_per_symbol(self.caller.of_examples(module, batch).double(), batch.targets)
        return torch.where(batch.target_mask, nats, 0.0).sum(1)

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        if self.problem.end is None:
            raise lacks("a module that does not map sequences to sequences", WritesOutputs)
        has_step = self.caller.concatenates and hasattr(self.modules[0], "step")
        if not has_step and (stack := self._stacked(batch)) is not None:
            with self.caller.computing():
                said = self._greedy_stacked(stack, batch, longest)
            if said is not None:
                return said
        return self._for_each(lambda module, rows: self._greedy(module, rows, longest), batch, stacks=False)

    @torch.no_grad()
    def _greedy_stacked(self, stack: "StackedModules", batch: Batch, longest: int) -> np.ndarray | None:
        """Decodes greedily with all members at once; returns `None` if the modules do not allow it."""
        start, end = self.problem.start, self.problem.end
        assert start is not None and end is not None

        def logits(module: nn.Module, rows: Examples, told: Tensor) -> Tensor:
            return self.caller.logits(module, rows.tokens, rows.mask, told)[:, -1]

        results = []
        for rows in _rows(batch, self.num_members):
            given = _examples(self.caller, rows)
            told = given.tokens.new_full((self.num_members, len(rows.weight), longest + 1), start)
            said = told.new_full((self.num_members, len(rows.weight), longest), end)
            left = torch.arange(len(rows.weight), device=told.device)
            is_open = torch.ones_like(said[:, :, 0], dtype=torch.bool)
            for step in range(longest):
                some = Examples(*(x[left] for x in given))
                try:
                    answers = stack(logits, some, told[:, left, : step + 1])
                except Exception:
                    self.stacked = False
                    return None
                symbols = torch.where(is_open[:, left], answers.argmax(-1), end)
                said[:, left, step] = told[:, left, step + 1] = symbols
                is_open[:, left] &= symbols != end
                left = left[is_open[:, left].any(0)]
                if not len(left):
                    break
            results.append(said.cpu().numpy())
        return np.concatenate(results, 1)

    def _greedy(self, module: nn.Module, batch: Examples, longest: int) -> Tensor:
        """Decodes greedily. At every step the module reads all its previous outputs, unless it has a method `step` and
        reads source and target as one string."""
        assert self.problem.start is not None and self.problem.end is not None
        if self.caller.concatenates and hasattr(module, "step"):
            return self._stepwise(module, batch, longest)
        tokens, mask = batch.tokens, batch.mask
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

    def _stepwise(self, module: nn.Module, batch: Examples, longest: int) -> Tensor:
        """Decodes greedily, one token of every row at a time: first the source, then the previous outputs."""
        start, end, device = self.problem.start, self.problem.end, self.caller.device
        assert start is not None and end is not None
        tokens, mask = batch.tokens, batch.mask
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
    def _for_each(
        self, ask: Callable[[nn.Module, Examples], Tensor], batch: Batch, *, stacks: bool = True
    ) -> np.ndarray:
        """Applies `ask` to every module and row, some rows at a time; to all modules at once if possible."""
        with self.caller.computing():
            if stacks and (stack := self._stacked(batch)) is not None:
                try:
                    parts = [stack(ask, _examples(self.caller, rows)) for rows in _rows(batch, self.num_members)]
                    return torch.cat(parts, 1).cpu().numpy()
                except Exception:  # of batches unlike those of the trial
                    self.stacked = False
            results = []
            for member, module in enumerate(self.modules):
                parts = [ask(module, _examples(self.caller, rows)) for rows in _rows(_of_member(batch, member))]
                results.append(torch.cat(parts).cpu().numpy())
        return np.stack(results)

    @torch.no_grad()
    def _stacked(self, batch: Batch) -> "StackedModules | None":
        """Returns all modules as one, if logits for a few rows are then the same up to rounding."""
        if not self.stacked:
            return None
        if self._stack is None:
            try:
                stack = StackedModules(self.modules, self.caller)
                few = _examples(self.caller, next(_rows(batch, self.num_members, most=ROWS_TRIED)))
                with self.caller.computing(exact=True):
                    logits = stack(self.caller.of_examples, few)
                    for member in (0, self.num_members - 1):
                        of_member = Examples(*(x[member] for x in few)) if few.tokens.ndim == 3 else few
                        expected = self.caller.of_examples(self.modules[member], of_member)
                        torch.testing.assert_close(logits[member], expected, rtol=1e-3, atol=1e-3)
                self._stack = stack
            except Exception:  # whatever the reason, modules can be called one by one
                self.stacked = False
        return self._stack

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Any, int]:
        """Returns a stepper. A module with a method `step` reads one symbol at a time; others read whole strings."""
        del most_memory
        module = self.modules[member]
        if hasattr(module, "step"):
            return ModuleStepper(module, self.caller), ROWS_AT_ONCE

        @torch.no_grad()
        def read(strings: np.ndarray, first: int) -> np.ndarray:
            parts, size = [], max(1, PAIRS_AT_ONCE // strings.shape[1] ** 2)
            with self.caller.computing():
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
        with self.caller.computing():
            return self.caller.logits(self.module, tensor(tokens[None]), tensor(mask[None]), *extra)[0].cpu().numpy()


class StackedModules:
    """Modules with the same parameters, called at once."""

    def __init__(self, modules: Sequence[nn.Module], caller: Caller) -> None:
        named = [{**dict(module.named_parameters()), **dict(module.named_buffers())} for module in modules]
        self.tensors = {name: torch.stack([own[name].detach() for own in named]) for name in named[0]}
        self.module, self.caller = modules[0], caller

    def __call__(self, ask: Callable[..., Tensor], batch: Examples, *more: Tensor) -> Tensor:
        """Applies `ask` to every module; the arguments after the batch have an axis of members, as the batch may."""

        def each(tensors: dict[str, Tensor], batch: Examples, more: tuple[Tensor, ...]) -> Tensor:
            module: Any = Functional(self.module, tensors)
            with PlainLayers([]):
                return ask(module, batch, *more)

        of_batch = 0 if batch.tokens.ndim == 3 else None
        with batched():
            return vmap(each, in_dims=(0, of_batch, 0), randomness="error")(self.tensors, batch, more)


def _examples(caller: Caller, batch: Batch) -> Examples:
    return Examples(*(caller.tensor(getattr(batch, name)) for name in Examples._fields))


def _arrays(batch: Batch) -> list[np.ndarray]:
    return [getattr(batch, name) for name in type(batch).__dataclass_fields__]


def _of_member(batch: Batch, member: int) -> Batch:
    """Returns the rows of one member, if members have different rows; otherwise the batch."""
    return Batch(*(array[member] for array in _arrays(batch))) if batch.tokens.ndim == 3 else batch


def _rows(batch: Batch, members: int = 1, *, most: int | None = None) -> Iterator[Batch]:
    """Yields a batch in parts that fit into memory for so many members, of at most `most` rows."""
    size = max(1, PAIRS_AT_ONCE // max(1, members * batch.time * max(batch.time, batch.target_time)))
    size = size if most is None else min(size, most)
    has_members = batch.tokens.ndim == 3
    for first in range(0, batch.tokens.shape[has_members], size):
        part = slice(first, first + size)
        yield Batch(*(array[:, part] if has_members else array[part] for array in _arrays(batch)))
