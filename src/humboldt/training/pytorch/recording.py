"""Records steps of training as CUDA graphs, so that a GPU does not wait for Python. One step is recorded for each shape
of batch.

What is recorded reads and changes tensors at fixed places, and is repeated without its Python. Before it is recorded,
the same work is done a few times (libraries allocate their memory in the first calls), the last time with an error for
everything that waits for the device: that would spoil a recording, and with it all later ones of the process.

Random numbers: every member has its own generator, which is registered with its graphs. Graphs of one generator share
the place of its seed on the device, so that members on several streams would draw each other's numbers.
"""

import contextlib
import gc
import warnings
from collections.abc import Callable, Iterator, Sequence
from inspect import ismodule
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

OF_PYTORCH = {*vars(nn.Module()), "training", "_flat_weights", "_flat_weight_refs"}  # attributes that PyTorch manages
WARM_UP_STEPS = 3  # before the first shape is recorded, as PyTorch's documentation asks for; once before others
MOST_STEPS = 1_024  # of a call
MOST_GRAPHS = 64  # shapes of batches whose steps are recorded; others are done without a record


class CannotRecord(Exception):
    """Steps cannot be recorded as a graph. The message is the reason."""


def attributes(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yields what a module and its parts keep outside their `state_dict`, by name: numbers, texts, arrays and tensors,
    also those inside lists, dictionaries and objects."""
    for prefix, part in module.named_modules():
        own = {name: value for name, value in vars(part).items() if name not in OF_PYTORCH}
        own |= {name: part._buffers[name] for name in part._non_persistent_buffers_set}
        for name, value in own.items():
            seen = set[int]()
            yield from ((f"{prefix}.{name}".lstrip("."), leaf) for leaf in _leaves(value, seen))


def _leaves(value: Any, seen: set[int]) -> Iterator[Any]:
    for leaf in pytree.tree_leaves(value):
        if isinstance(leaf, bool | int | float | str | Tensor | np.ndarray):
            yield leaf
        elif id(leaf) not in seen and hasattr(leaf, "__dict__") and not (callable(leaf) or ismodule(leaf)):
            seen.add(id(leaf))
            yield from _leaves(list(vars(leaf).values()), seen)


def tensors_of(module: nn.Module) -> list[Tensor]:
    """Returns the tensors among the attributes of a module. A record reads them even after the module has replaced
    them, so they must be kept as long as it."""
    return [x for _, x in attributes(module) if isinstance(x, Tensor)]


class MemberRandom:
    """The random numbers of one member. While it is active, PyTorch's functions draw them."""

    def __init__(self, device: torch.device) -> None:
        self._cpu, self._device = torch.get_rng_state(), device
        self.generator = torch.Generator(device) if device.type == "cuda" else None

    def load(self, state: dict[str, Tensor]) -> None:
        """Continues from a result of `state`, or of `learner.random_state`."""
        self._cpu = state["cpu"]
        if self.generator is not None:
            self.generator.set_state(state["cuda"])

    def state(self) -> dict[str, Tensor]:
        """Returns the state, for each kind of device."""
        states = {"cpu": self._cpu}
        return states if self.generator is None else {**states, "cuda": self.generator.get_state()}

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Lets PyTorch draw from it. May be used while a graph is recorded, if the generator is registered with it."""
        before = torch.get_rng_state()
        torch.set_rng_state(self._cpu)
        try:
            with _default_generator(self._device, self.generator):
                yield
        finally:
            self._cpu = torch.get_rng_state()
            torch.set_rng_state(before)


@contextlib.contextmanager
def _default_generator(device: torch.device, generator: torch.Generator | None) -> Iterator[None]:
    if generator is None:
        yield
        return
    index = torch.cuda.current_device() if device.index is None else device.index
    default: Any = torch.cuda.default_generators[index]
    before = default.graphsafe_get_state()
    default.graphsafe_set_state(generator)
    try:
        yield
    finally:
        default.graphsafe_set_state(before)


class Recorder(Protocol):
    """Runs and records work, in an order of its own."""

    is_static: bool  # whether work is recorded, and thus must not read numbers from the device
    refuses_cpu_random: bool  # whether random numbers of the CPU would be the same in every repetition

    def running(self) -> contextlib.AbstractContextManager[Any]:
        """Returns a context in which work is done after work of the default stream so far."""
        ...

    def strict(self) -> contextlib.AbstractContextManager[Any]:
        """Returns a context in which work that cannot be recorded raises an exception."""
        ...

    def record(self, work: Callable[[], None], randoms: Sequence[MemberRandom]) -> Callable[[], None]:
        """Returns a function that repeats the work. Recording does not do it. `randoms` are those that it uses."""
        ...

    def wait(self) -> None:
        """Waits until all work is done."""
        ...


class Direct:
    """Does the work again, instead of recording it."""

    is_static = refuses_cpu_random = False

    def running(self) -> contextlib.AbstractContextManager[Any]:
        """Returns an empty context."""
        return contextlib.nullcontext()

    def strict(self) -> contextlib.AbstractContextManager[Any]:
        """Returns an empty context."""
        return contextlib.nullcontext()

    def record(self, work: Callable[[], None], randoms: Sequence[MemberRandom]) -> Callable[[], None]:
        """Returns the work itself."""
        del randoms
        return work

    def wait(self) -> None:
        """Does nothing: reading a result waits for the device."""


class CudaRecorder:
    """A stream, and graphs that share their memory, because they are never replayed at the same time."""

    is_static = refuses_cpu_random = True

    def __init__(self, device: torch.device) -> None:
        if device.type != "cuda":
            raise CannotRecord(f"graphs need a CUDA device, and this is {device.type}")
        self._device = device
        self._stream, self._pool = torch.cuda.Stream(device), torch.cuda.graph_pool_handle()

    def running(self) -> contextlib.AbstractContextManager[Any]:
        """Returns the stream as a context."""
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        return torch.cuda.stream(self._stream)

    @contextlib.contextmanager
    def strict(self) -> Iterator[None]:
        """Returns a context in which PyTorch raises an error where it would wait for the device."""
        before = torch.cuda.get_sync_debug_mode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is said to be a prototype
            torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode(before)

    def record(self, work: Callable[[], None], randoms: Sequence[MemberRandom]) -> Callable[[], None]:
        """Returns the replay of a CUDA graph.

        The generator of the process is never registered: after a failed recording, PyTorch would refuse to draw from
        it. Nothing is freed by Python's collector meanwhile, which may be an error while a stream is recorded.
        """
        graph: Any = torch.cuda.CUDAGraph()
        for random in randoms:
            graph.register_generator_state(random.generator)
        collects = gc.isenabled()
        gc.disable()
        torch.cuda.synchronize(self._device)
        try:
            with torch.cuda.stream(self._stream), MemberRandom(self._device).active():
                graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
                try:
                    work()
                except BaseException:
                    with contextlib.suppress(Exception):  # of a recording that is spoilt
                        graph.capture_end()
                    raise
                graph.capture_end()
        finally:
            if collects:
                gc.enable()
        return graph.replay

    def wait(self) -> None:
        """Waits for the stream."""
        self._stream.synchronize()


def recorded(
    recorder: Recorder,
    work: Callable[[], None],
    state: Sequence[Tensor],
    randoms: Sequence[MemberRandom],
    *,
    warm_up: int,
) -> Callable[[], None]:
    """Returns a function that does some work, from a record of it.

    The work is done `warm_up` times before, and its changes of `state` and of random numbers are undone.
    """
    if not recorder.is_static:
        return recorder.record(work, randoms)
    before, drawn = [x.detach().clone() for x in state], [random.state() for random in randoms]
    for number in range(warm_up):
        with recorder.strict() if number == warm_up - 1 else contextlib.nullcontext():
            work()
    draws_on_cpu = any(not random.state()["cpu"].equal(old["cpu"]) for random, old in zip(randoms, drawn, strict=True))
    if draws_on_cpu and recorder.refuses_cpu_random:
        raise CannotRecord("it draws random numbers on the CPU")
    with torch.no_grad():
        for x, old in zip(state, before, strict=True):
            x.copy_(old)
    for random, old in zip(randoms, drawn, strict=True):
        random.load(old)
    return recorder.record(work, randoms)
