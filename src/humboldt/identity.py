"""What is the same training, and what is the same evaluation: decided by settings and versions, by nothing else."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Member = Mapping[str, Any]
"""What tells one member of a training from the others: `{"seed": 0, "learning_rate": 0.001}`."""

Version = int | str
"""A number that somebody declared, or the hash of a source file."""


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces; NaN is refused, so it can never be stored as a score."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def short_hash(value: Any, length: int = 16) -> str:
    """A hash of any JSON value."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:length]


@dataclass(frozen=True)
class Training:
    """Everything that can change a weight, as plain data. Which members there are is not part of it.

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
        """Two trainings with the same key are the same training."""
        return short_hash([self.suite, self.task, self.model, self.engine, self.setting, self.versions])

    @property
    def flat(self) -> dict[str, Any]:
        """All settings by name, those of model and task among them."""
        inner = {key: value for part in ("model", "task") for key, value in self.setting.get(part, {}).items()}
        return {**{key: value for key, value in self.setting.items() if key not in ("model", "task")}, **inner}


@dataclass(frozen=True)
class Evaluation:
    """Test data and measure, applied to the members of a training."""

    name: str
    setting: Mapping[str, Any] = field(default_factory=dict)
    version: Version = 1

    def key_for(self, training: Training) -> str:
        """The identity of this evaluation of that training."""
        return short_hash([training.key, self.name, self.setting, self.version])
