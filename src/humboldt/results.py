"""What becomes of members: how their training ended, and what an evaluation says of them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from humboldt.identity import Evaluation, Member, Training


class State(enum.Enum):
    """How a member ended."""

    FINISHED = "finished"
    DIVERGED = "diverged"  # its loss or gradient stopped being finite
    FAILED = "failed"


@dataclass(frozen=True)
class TrainedMember:
    """What the store keeps of one member's training."""

    member: Member
    state: State
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoredMember:
    """What the store keeps of one member under one evaluation."""

    member: Member
    state: State
    measures: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state is not State.FINISHED and self.measures:
            raise ValueError(f"A {self.state.value} member has no scores, but {dict(self.measures)} was given.")


@dataclass(frozen=True)
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
    """All members of one training under one evaluation. Members that diverged or failed are among them."""

    training: Training
    evaluation: Evaluation
    results: tuple[Result, ...]
