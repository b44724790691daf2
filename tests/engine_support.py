"""An engine without a network: it trains at once, can be made to fail, and counts what it is asked for."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from humboldt.core.events import AbstractSink, Progress
from humboldt.languages import Batch
from humboldt.models import models
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import catalogue
from humboldt.training.abilities import CountsRight
from humboldt.training.base import AbstractEngine, AbstractPredictor, AbstractTrained, Arrays, Job, TrainingEnd


class Clockwork(AbstractEngine):
    """Member `seed` gets about `seed` of ten strings right; seeds in `diverging` diverge."""

    models = models
    abilities = frozenset({CountsRight})

    def __init__(self) -> None:
        self.trained: list[int] = []  # how many members were trained, call by call; nothing for what was on disk
        self.restored: list[int] = []
        self.scored: list[int] = []
        self.diverging: set[int] = set()
        self.on_train: Callable[[Job], None] = lambda job: None
        self.on_score: Callable[[int], None] = lambda members: None

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> "ClockworkTrained":
        seeds = np.array([member.seed for member in job.members])
        latest = checkpoints.latest()
        if not latest.done:
            self.trained.append(len(seeds))
            self.on_train(job)
            checkpoints.save(1, {"seeds": seeds})
        sink.send(Progress("training", 1, 1))
        return ClockworkTrained(self, seeds)

    def restore(self, job: Job, weights: Sequence[Arrays]) -> "ClockworkPredictor":
        del job
        self.restored.append(len(weights))
        return ClockworkPredictor(self, np.concatenate([arrays["seed"] for arrays in weights]))

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        return ClockworkPredictor(self, np.zeros(len(job.members), int)), 1.0

    def environment(self) -> dict[str, str]:
        return {"device": "clockwork"}


class ClockworkTrained(AbstractTrained):
    def __init__(self, engine: Clockwork, seeds: np.ndarray) -> None:
        self.predictor = ClockworkPredictor(engine, seeds)
        self.outcomes = tuple(
            TrainingEnd(7 if seed in engine.diverging else None, {"seed": int(seed)}) for seed in seeds
        )
        self._seeds = seeds

    def weights(self, member: int) -> dict[str, np.ndarray]:
        return {"seed": self._seeds[member : member + 1]}


class ClockworkPredictor(AbstractPredictor, CountsRight):
    def __init__(self, engine: Clockwork, seeds: np.ndarray) -> None:
        self.engine, self.seeds, self.num_members = engine, seeds, len(seeds)

    def take(self, members: Sequence[int]) -> "ClockworkPredictor":
        if not len(members):
            raise TypeError("Indexer must have integer or boolean type")  # as JAX says of an empty list
        return ClockworkPredictor(self.engine, self.seeds[list(members)])

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        del number
        self.engine.on_score(self.num_members)
        self.engine.scored.append(self.num_members)
        rows = np.arange(len(batch.tokens)) % 10
        return (rows < self.seeds[:, None]) * batch.target_mask.sum(1)


@pytest.fixture
def clockwork(monkeypatch: pytest.MonkeyPatch) -> Clockwork:
    """Takes the place of every engine."""
    engine = Clockwork()
    monkeypatch.setattr(catalogue, "engine_of", lambda contender: engine)
    return engine


def out_of_memory(most: int) -> Callable[[Any], None]:
    """Fails as JAX does where more members than these are asked for."""

    def check(asked: Any) -> None:
        if (len(asked.members) if isinstance(asked, Job) else asked) > most:
            raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 281474976710656 bytes.")

    return check
