"""Identities of trainings and evaluations, which depend only on settings and versions."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Member = Mapping[str, Any]
"""The values that distinguish a member of a training from the others: `{"seed": 0, "learning_rate": 0.001}`."""

Version = int | str
"""A declared number, or the hash of a source file."""


def canonical(value: Any) -> str:
    """Returns JSON with sorted keys and no spaces. Raises on NaN, so that it can never be stored as a score."""
    return _encode(value)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode  # made once


def short_hash(value: Any, length: int = 16) -> str:
    """Returns the first `length` hexadecimal digits of the hash of a JSON value."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:length]


@dataclass(frozen=True)
class Training:
    """Everything that can change a weight, as plain data. Members are not part of it.

    - `task`, `model`: their names in the suite.
    - `setting`: the suite's training settings, and under `model` and `task` those of the model and the task.
    - `versions`: of `task` and `model`.
    """

    suite: str
    task: str
    model: str
    engine: str
    setting: Mapping[str, Any]
    versions: Mapping[str, Version]

    @cached_property
    def key(self) -> str:
        """The identity of this training: equal keys mean the same training."""
        return short_hash([self.suite, self.task, self.model, self.engine, self.setting, self.versions])

    @property
    def flat(self) -> dict[str, Any]:
        """All settings by name, including those of model and task."""
        inner = {key: value for part in ("model", "task") for key, value in self.setting.get(part, {}).items()}
        return {**{key: value for key, value in self.setting.items() if key not in ("model", "task")}, **inner}


@dataclass(frozen=True)
class Evaluation:
    """Test data and measure, applied to the members of a training."""

    name: str
    setting: Mapping[str, Any] = field(default_factory=dict)
    version: Version = 1

    def key_for(self, training: Training) -> str:
        """Returns the identity of this evaluation of a training."""
        return short_hash([training.key, self.name, self.setting, self.version])
