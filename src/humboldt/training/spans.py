"""Spans and calls of training, learning curves, and prefetching. NumPy only."""

import queue
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from humboldt.training.base import MemberRecipe, Recipe, TrainingEnd

SPAN_STEPS = 100  # training steps of a point of the curve, and at most of a call of a stepper
CURVE_POINTS = 200  # most points of a stored curve
MOST_NAMED = 3  # diverged members in a message


def spans(steps: int, most: int, milestones: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Returns first and last step (excluded) of each point of a training's curve; none goes across a milestone.

    >>> spans(250, 100, (120,))
    [(0, 100), (100, 120), (120, 220), (220, 250)]
    """
    ends = sorted({step for step in milestones if 0 < step < steps} | {steps})
    pairs, first = [], 0
    for end in ends:
        while first < end:
            last = min(first + most, end)
            pairs.append((first, last))
            first = last
    return pairs


class Call(NamedTuple):
    """Steps `first` to `last` (excluded) of span number `span`, which one group of members does without interruption.

    `done` counts the steps of all groups up to the end of this call.
    """

    span: int
    group: int
    first: int
    last: int
    done: int


def calls(spans: Sequence[tuple[int, int]], most: int, *, groups: int = 1, done: int = 0) -> list[Call]:
    """Returns the remaining calls after `done` steps, each of at most `most` steps; training can be stopped and saved
    between two of them.

    Groups of members take turns, a whole span each, so that all can be compared where a span ends.

    >>> [call[:4] for call in calls([(0, 100), (100, 120)], 50, done=70)]
    [(0, 0, 70, 100), (1, 0, 100, 120)]
    >>> [call[:4] for call in calls([(0, 100), (100, 120)], 100, groups=2, done=100)]
    [(0, 1, 0, 100), (1, 0, 100, 120), (1, 1, 100, 120)]
    """
    left = []
    for index, (begin, end) in enumerate(spans):
        for group in range(groups):
            before = groups * begin + group * (end - begin)  # steps of all groups before this group's turn
            for first in range(begin + max(0, done - before), end, most):
                last = min(first + most, end)
                left.append(Call(index, group, first, last, before + last - begin))
    return left


@dataclass(frozen=True, eq=False, kw_only=True)
class History:
    """The record of a finished training.

    - `diverged_at`: for each member the step whose loss or gradient was not finite, or -1.
    - `loss`, `accuracy`: averages over spans of steps, shape `(member, span)`.
    - `steps`: the step at which each span ended.
    - `milestones`: the records of all milestones, in order.
    """

    diverged_at: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    steps: np.ndarray
    milestones: tuple[Any, ...]


def outcome(trained: History, member: int) -> TrainingEnd:
    """Returns how one member's training ended, with its curve and its part of the milestones' records."""
    diverged_at = int(trained.diverged_at[member])
    detail: dict[str, Any] = {"training": curve(trained, member)}
    if records := [record[member] for record in trained.milestones if isinstance(record, list)]:
        detail["milestones"] = records
    if diverged_at >= 0:
        return TrainingEnd(diverged_at, {**detail, "diverged_at": diverged_at})
    return TrainingEnd(None, detail)


def curve(trained: History, member: int) -> dict[str, list[float | None]]:
    """Returns loss and accuracy of one member over training: at most `CURVE_POINTS` points, with the last one."""
    size = len(trained.steps)
    keep = sorted({round(x) for x in np.linspace(0, size - 1, min(size, CURVE_POINTS))})

    def rounded(values: np.ndarray) -> list[float | None]:
        return [round(x, 6) if np.isfinite(x) else None for x in values[keep].tolist()]

    loss, accuracy = rounded(trained.loss[member]), rounded(trained.accuracy[member])
    return {"steps": trained.steps[keep].tolist(), "loss": loss, "accuracy": accuracy}


def remark(loss: np.ndarray, accuracy: np.ndarray, diverged_at: np.ndarray) -> str:
    """Returns mean loss and accuracy of the members that have not diverged, for the progress line."""
    alive = np.asarray(diverged_at) < 0
    means = [float(np.asarray(values)[alive].mean()) if alive.any() else float("nan") for values in (loss, accuracy)]
    return f"loss {means[0]:.3f}, accuracy {100 * means[1]:.1f}%"


def diverged(
    members: Sequence[MemberRecipe], steps: np.ndarray, losses: Mapping[int, float | None], recipe: Recipe
) -> str:
    """Returns a message about members that have just diverged: when, with which loss, and what to try.

    `steps`: the step at which each member diverged. `losses`: the last finite loss of the new ones, if there is one.
    """
    parts = []
    for number, loss in list(losses.items())[:MOST_NAMED]:
        who = f"member {number}"
        if len(members):
            who = f"seed {members[number].seed} with learning rate {members[number].learning_rate:g}"
        was = "" if loss is None else f" (loss {loss:.3g} before)"
        parts.append(f"{who} at step {steps[number]:,}{was}")
    more = f"; and {len(losses) - MOST_NAMED} more" if len(losses) > MOST_NAMED else ""
    rates = [members[number].learning_rate for number in losses] if len(members) else []
    way_out = f"--set learning_rates={min(rates) / 3:.1g}" if rates else "a smaller learning rate"
    clip = " or --set gradient_clip=1" if recipe.gradient_clip is None else ""
    return f"Diverged, with a loss that is not a finite number: {'; '.join(parts)}{more}. Try {way_out}{clip}."


def prefetch(items: Iterator[Any], *, depth: int = 2) -> Generator[Any, None, None]:
    """Yields the same items, made ahead of time on a thread. An exception there is raised here."""
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
