"""Results as rows for programs: one for each member, or one for each point of a curve."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from humboldt.core.results import Result, Scores

AXES = ("steps", "lengths", "epochs")  # names of the x values of a curve


def member_rows(results: Iterable[Scores]) -> list[dict[str, Any]]:
    """Returns one row for each member and evaluation: identity, final state, and all measures. All rows have the same
    columns; values that a member does not have are `None`."""
    rows = []
    for scores in results:
        for result in scores.results:
            ended = {"state": result.state.value, "seconds": result.seconds}
            rows.append({**_about(scores), **result.member, **ended, **result.measures})
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def curve_rows(results: Iterable[Scores]) -> list[dict[str, Any]]:
    """Returns one row for each point of each curve of each member: accuracy by length, training by step."""
    return [
        {**_about(scores), "member": json.dumps(dict(result.member), sort_keys=True), **point}
        for scores in results
        for result in scores.results
        for point in _points(result)
    ]


def _about(scores: Scores) -> dict[str, Any]:
    training = scores.training
    names = {"suite": training.suite, "task": training.task, "model": training.model}
    return names | {"training": training.key, "evaluation": scores.evaluation.name}


def _points(result: Result) -> Iterator[dict[str, Any]]:
    for name, curve in result.detail.items():
        if isinstance(curve, Mapping):
            yield from _points_of(name, curve)


def _points_of(name: str, curve: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    axis = next((axis for axis in AXES if isinstance(curve.get(axis), Sequence)), None)
    if axis is None:
        return
    for what, values in curve.items():
        if what == axis:
            continue
        several = values.items() if isinstance(values, Mapping) else [("", values)]
        for part, numbers in several:
            if isinstance(numbers, Sequence) and not isinstance(numbers, str) and len(numbers) == len(curve[axis]):
                title = ".".join(filter(None, [name, what, part]))
                for x, y in zip(curve[axis], numbers, strict=True):
                    yield {"curve": title, "axis": axis, "x": x, "y": y}
