"""What every engine that trains step by step does alike: the order of the work, and what is told of it. NumPy only."""

import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from humboldt.training.base import Outcome

CURVE_POINTS = 200  # a million steps need not be a million numbers


def spans(steps: int, most: int, milestones: Sequence[int] = ()) -> list[tuple[int, int]]:
    """First and last step (excluded) of each point of a training's curve; none goes across a milestone.

    >>> spans(250, 100, (120,))
    [(0, 100), (100, 120), (120, 220), (220, 250)]
    """
    ends = sorted({step for step in milestones if 0 < step < steps} | {steps})
    found, first = [], 0
    for end in ends:
        while first < end:
            last = min(first + most, end)
            found.append((first, last))
            first = last
    return found


class Call(NamedTuple):
    """Steps `first` to `last` (excluded) of span number `span`, which are done together."""

    span: int
    first: int
    last: int


def calls(spans: Sequence[tuple[int, int]], most: int, done: int = 0) -> list[Call]:
    """What is left of the spans after step `done`, in pieces of at most so many steps: between two there is a moment
    to stop and to save.

    >>> calls([(0, 100), (100, 120)], 50, done=70)
    [Call(span=0, first=70, last=100), Call(span=1, first=100, last=120)]
    """
    return [
        Call(index, first, min(first + most, last))
        for index, (begin, last) in enumerate(spans)
        for first in range(max(begin, done), last, most)
    ]


class Trained(Protocol):
    """What is known of members after training. Curves have shape `(member, span)`; `steps` says where each span ended,
    `diverged_at` is -1 where all went well."""

    @property
    def diverged_at(self) -> np.ndarray: ...
    @property
    def loss(self) -> np.ndarray: ...
    @property
    def accuracy(self) -> np.ndarray: ...
    @property
    def steps(self) -> np.ndarray: ...
    @property
    def milestones(self) -> tuple[Any, ...]: ...


def outcome(trained: Trained, member: int) -> Outcome:
    """How one member's training ended: its curve, and what the milestones say of it."""
    diverged_at = int(trained.diverged_at[member])
    detail: dict[str, Any] = {"training": curve(trained, member)}
    if own := [record[member] for record in trained.milestones if isinstance(record, list)]:
        detail["milestones"] = own
    if diverged_at >= 0:
        return Outcome(diverged_at, {**detail, "diverged_at": diverged_at})
    return Outcome(None, detail)


def curve(trained: Trained, member: int) -> dict[str, list[float | None]]:
    """Loss and accuracy of one member over the steps of training: at most so many points, the last one among them."""
    size = len(trained.steps)
    keep = sorted({round(x) for x in np.linspace(0, size - 1, min(size, CURVE_POINTS))})

    def rounded(values: np.ndarray) -> list[float | None]:
        return [round(x, 6) if np.isfinite(x) else None for x in values[keep].tolist()]

    loss, accuracy = rounded(trained.loss[member]), rounded(trained.accuracy[member])
    return {"steps": trained.steps[keep].tolist(), "loss": loss, "accuracy": accuracy}


def remark(loss: np.ndarray, accuracy: np.ndarray, diverged_at: np.ndarray) -> str:
    """How the members that have not diverged are doing, for the progress line."""
    alive = np.asarray(diverged_at) < 0
    means = [float(np.asarray(values)[alive].mean()) if alive.any() else float("nan") for values in (loss, accuracy)]
    return f"loss {means[0]:.3f}, accuracy {100 * means[1]:.1f}%"


def prefetch(items: Iterator[Any], *, depth: int = 2) -> Generator[Any, None, None]:
    """The same items, made ahead of time on a thread. An exception there is raised here."""
    ready: queue.Queue[tuple[bool, Any]] = queue.Queue(depth)
    stop = threading.Event()

    def put(item: tuple[bool, Any]) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def produce() -> None:
        try:
            for item in items:
                if not put((True, item)):
                    return
            put((False, None))
        except BaseException as error:
            put((False, error))

    thread = threading.Thread(target=produce, daemon=True, name="humboldt-prefetch")
    thread.start()
    try:
        while True:
            is_item, item = ready.get()
            if is_item:
                yield item
            elif item is None:
                return
            else:
                raise item
    finally:
        stop.set()
        thread.join()
