"""Results of members: the end of their training, and their scores under evaluations."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from humboldt.core.identity import Evaluation, Member, Training

LAST_POINTS = 5  # of a training curve, whose mean is the result of training


class State(enum.Enum):
    """The final state of a member."""

    FINISHED = "finished"
    DIVERGED = "diverged"  # its loss or gradient stopped being finite
    FAILED = "failed"


@dataclass(frozen=True)
class TrainedMember:
    """A stored row about one member's training."""

    member: Member
    state: State
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoredMember:
    """A stored row about one member under one evaluation."""

    member: Member
    state: State
    measures: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state is not State.FINISHED and self.measures:
            raise ValueError(f"A {self.state.value} member has no scores, but {dict(self.measures)} was given.")


@dataclass(frozen=True, slots=True)  # there may be 100,000
class Result:
    """One member under one evaluation, as tables read it: its training and its scores together."""

    member: Member
    state: State
    measures: Mapping[str, float]
    seconds: float
    detail: Mapping[str, Any]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Scores:
    """All members of one training under one evaluation. Includes members that diverged or failed."""

    training: Training
    evaluation: Evaluation
    results: tuple[Result, ...]


def end_of_training(result: Result) -> dict[str, float]:
    """Returns loss and accuracy at the end of training: the mean of the last points of the curve."""
    if "end" in result.detail:  # of an exported member without a curve
        return dict(result.detail["end"])
    curve: Mapping[str, Any] = result.detail.get("training", {})
    ends = {}
    for name, worst in (("loss", float("inf")), ("accuracy", 0.0)):
        values = [value for value in curve.get(name, ())[-LAST_POINTS:] if value is not None]
        ends[name] = sum(values) / len(values) if values else worst
    return ends
