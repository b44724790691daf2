"""What happens inside a network while it reads a string: named arrays whose axes have names."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

TIME = "time"
GROUPS = ("layer", "head", "stack", "tape")  # axes of which each place is shown by itself
MOST_COLUMNS = 12  # of numbers in a row of text


class Internal(NamedTuple):
    """One thing that can be seen inside a network, as its `inspect` returns it by name.

    - `axes`: a name for each axis of `values`. One of them is `time`: the steps at which tokens are read.
    - `labels`: what the places along the last axis are called, where they have names.
    - `first`: the step of the first row. What happens in a decoder begins after the source.
    """

    values: Any
    axes: tuple[str, ...]
    labels: tuple[str, ...] = ()
    first: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values. What is no finite number is `None`, which JSON can hold."""
        values = np.asarray(self.values)
        finite = np.where(np.isfinite(values), values, 0).astype(object)
        finite[~np.isfinite(values)] = None
        shown: dict[str, Any] = {"axes": list(self.axes), "shape": list(values.shape), "values": finite.tolist()}
        shown |= {"labels": list(self.labels)} if self.labels else {}
        return {**shown, "first": self.first} if self.first else shown


class Block(NamedTuple):
    """A part of an internal that fits a table: a row of numbers for each step."""

    title: str  # `attention, layer 0, head 1`
    columns: list[str]
    rows: np.ndarray  # (time, column)
    remark: str  # about what is left out


def blocks(name: str, internal: Internal, num_steps: int) -> Iterator[Block]:
    """An internal as tables: one for each layer, head, stack or tape that it has."""
    values, axes = np.asarray(internal.values), list(internal.axes)
    if TIME not in axes or values.ndim != len(axes):
        raise ValueError(f"The internal {name!r} has shape {values.shape}, which its axes {axes} do not name.")
    groups = [axis for axis in axes if axis in GROUPS]
    rest = [axis for axis in axes if axis not in GROUPS and axis != TIME]
    order = [axes.index(axis) for axis in [*groups, TIME, *rest]]
    values = values.transpose(order)
    sizes = values.shape[: len(groups)]
    labels = _labels(values.shape[len(groups) + 1 :], internal.labels)
    for places in itertools.product(*map(range, sizes)):
        where = [f"{group} {place}" for group, place in zip(groups, places, strict=True)]
        rows = values[places][:num_steps].reshape(min(num_steps, values.shape[len(groups)]), -1)
        left_out = len(labels) - MOST_COLUMNS
        remark = f"The first {MOST_COLUMNS} of {len(labels)} numbers; --json prints all." if left_out > 0 else ""
        yield Block(", ".join([name, *where]), labels[:MOST_COLUMNS], rows[:, :MOST_COLUMNS], remark)


def _labels(shape: Sequence[int], names: Sequence[str]) -> list[str]:
    """`0`, `1`, ...; `0,0`, `0,1`, ... for two axes; the names of the last axis where there are any."""
    last = [names] if names else [list(map(str, range(size))) for size in shape[-1:]]
    before = [list(map(str, range(size))) for size in shape[:-1]]
    return [",".join(parts) for parts in itertools.product(*before, *last)] if shape else ["value"]
