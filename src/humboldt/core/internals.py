"""Internals of a network while it reads a string: named arrays with named axes."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

TIME = "time"
GROUPS = ("layer", "head", "stack", "tape")  # axes whose entries are shown in separate tables
MOST_COLUMNS = 12  # most numbers in a row of text


class Internal(NamedTuple):
    """One internal array of a network, as returned by its `inspect`.

    - `axes`: a name for each axis of `values`. One of them is `time`: the steps at which tokens are read.
    - `labels`: names of the entries along the last axis, if they have names.
    - `first`: the step of the first row. Internals of a decoder begin after the source.
    """

    values: Any
    axes: tuple[str, ...]
    labels: tuple[str, ...] = ()
    first: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON. Numbers that are not finite become `None`."""
        values = np.asarray(self.values)
        finite = np.where(np.isfinite(values), values, 0).astype(object)
        finite[~np.isfinite(values)] = None
        shown: dict[str, Any] = {"axes": list(self.axes), "shape": list(values.shape), "values": finite.tolist()}
        shown |= {"labels": list(self.labels)} if self.labels else {}
        return {**shown, "first": self.first} if self.first else shown


@runtime_checkable
class Inspectable(Protocol):
    """A network that shows its internals while it reads tokens."""

    def inspect(self, *tokens_and_masks: Any) -> dict[str, Internal]:
        """Returns internals by name. Sequence-to-sequence networks also get the target so far, after the mask."""
        ...


class Block(NamedTuple):
    """A part of an internal that fits a table: a row of numbers for each step."""

    title: str  # `attention, layer 0, head 1`
    columns: list[str]
    rows: np.ndarray  # (time, column)
    remark: str  # on omitted columns


def blocks(name: str, internal: Internal, num_steps: int) -> Iterator[Block]:
    """Yields an internal as tables, one for each layer, head, stack or tape."""
    values, axes = np.asarray(internal.values), list(internal.axes)
    if TIME not in axes or values.ndim != len(axes):
        raise ValueError(f"The internal {name!r} has shape {values.shape}, which does not match its axes {axes}.")
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
    """Returns column labels: `0`, `1`, ...; `0,0`, `0,1`, ... for two axes; with the names of the last axis, if any."""
    last = [names] if names else [list(map(str, range(size))) for size in shape[-1:]]
    before = [list(map(str, range(size))) for size in shape[:-1]]
    return [",".join(parts) for parts in itertools.product(*before, *last)] if shape else ["value"]
