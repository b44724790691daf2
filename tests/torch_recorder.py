"""A recorder on the CPU that repeats what it recorded as a CUDA graph would: the same operations on the same tensors,
without their Python. It raises an error where a recording of a GPU would: where a number is read from the device."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from humboldt.training.pytorch.recording import MemberRandom

READING = {
    getattr(torch.Tensor, name)
    for name in ("item", "tolist", "numpy", "__bool__", "__int__", "__float__", "__index__", "nonzero")
}


class ReadsDevice(RuntimeError):
    """Work that is recorded reads a number from the device."""


class Strict(TorchFunctionMode):
    """Raises an error where a number is read from a tensor that depends on tensors from before."""

    def __init__(self, operations: "Operations") -> None:
        super().__init__()
        self.operations = operations

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if func in READING and not self.operations.is_constant(args[0]):
            raise ReadsDevice("operation not permitted when stream is capturing")
        return func(*args, **(kwargs or {}))


class Operations(TorchDispatchMode):
    """Collects all operations, with the tensors that they read and write, and the random numbers that are active."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[tuple[Any, Any, Any, Any, MemberRandom | None]] = []
        self.active: MemberRandom | None = None
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # what was given, as it was
        self.made: set[int] = set()
        self.constant: set[int] = set()  # what depends on no other tensor; on a GPU, it would be on the CPU

    def is_constant(self, x: torch.Tensor) -> bool:
        return x.untyped_storage().data_ptr() in self.constant

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        named = kwargs or {}
        given = [x for x in pytree.tree_leaves((args, named)) if isinstance(x, torch.Tensor)]
        is_constant = all(map(self.is_constant, given)) and torch.Tag.nondeterministic_seeded not in func.tags
        if func is torch.ops.aten._local_scalar_dense.default and not is_constant:
            raise ReadsDevice("operation not permitted when stream is capturing")
        for x in given:  # schemas do not tell all changes: batch normalisation has none
            place = x.untyped_storage().data_ptr()
            if place not in self.made and place not in self.before:
                whole = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
                self.before[place] = whole, whole.clone()
        results = func(*args, **named)
        for x in pytree.tree_leaves(results):
            if isinstance(x, torch.Tensor):
                place = x.untyped_storage().data_ptr()
                if place not in self.before:
                    self.made.add(place)
                    (self.constant.add if is_constant else self.constant.discard)(place)
        same = [pytree.tree_map_only(torch.Tensor, torch.ops.aten.alias.default, x) for x in (args, named, results)]
        self.done.append((func, *same, self.active))  # aliases, whose shapes no later operation changes
        return results

    def undo(self) -> None:
        """Restores what was changed in place: recording does nothing."""
        for whole, old in self.before.values():
            whole.copy_(old)

    def repeat(self) -> None:
        """Does all operations again, into the same tensors."""
        for func, args, named, results, random in self.done:
            if func.is_view:
                continue
            with random.active() if random else contextlib.nullcontext():
                again = func(*args, **named)
            for new, old in zip(pytree.tree_leaves(again), pytree.tree_leaves(results), strict=True):
                if (
                    isinstance(new, torch.Tensor)
                    and new.untyped_storage().data_ptr() != old.untyped_storage().data_ptr()
                ):
                    old.copy_(new)


class Recorder:
    """Records operations."""

    is_static, refuses_cpu_random = True, False

    def __init__(self, device: torch.device) -> None:
        del device
        self.repetitions = 0

    def running(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def strict(self) -> Iterator[None]:
        operations = Operations()
        with Strict(operations), operations:
            yield

    def record(self, work: Callable[[], None], randoms: Sequence[MemberRandom]) -> Callable[[], None]:
        operations, states = Operations(), [random.state() for random in randoms]
        active = MemberRandom.active

        @contextlib.contextmanager
        def noted(random: MemberRandom) -> Iterator[None]:
            assert random in randoms, "its generator is not registered with the graph"
            with active(random):
                operations.active = random
                yield
            operations.active = None

        MemberRandom.active = noted  # pyright: ignore[reportAttributeAccessIssue]
        try:
            with Strict(operations), operations:
                work()
        finally:
            MemberRandom.active = active
        operations.undo()
        for random, state in zip(randoms, states, strict=True):
            random.load(state)

        def replay() -> None:
            self.repetitions += 1
            with torch.no_grad():
                operations.repeat()

        return replay

    def wait(self) -> None:
        pass
