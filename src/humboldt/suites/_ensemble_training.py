"""What every suite does with an ensemble that is trained by gradients: it needs JAX."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.store import Result, State
from humboldt.suites._base import Watcher
from humboldt.training import Ensemble, Trained, environment
from humboldt.training import Watcher as TrainingWatcher

CURVE_POINTS = 200  # a million steps need not be a million numbers


def train(ensemble: Ensemble, checkpoints: Path, watcher: Watcher) -> Trained:
    """Trains all members to the end, and tells the watcher of it."""

    def progress(step: int, steps: int, loss: float, correct: float) -> None:
        watcher.progress("training", step, steps, f"loss {loss:.3f}, accuracy {100 * correct:.1f}%")

    return ensemble.train(
        checkpoints, TrainingWatcher(progress, watcher.warn, watcher.should_stop, watcher.save_seconds)
    )


def results_of(
    trained: Trained,
    members: Sequence[Mapping[str, Any]],
    score: Callable[[int], tuple[dict[str, float], dict[str, Any]]],
    *,
    seconds: float,
    shared: Mapping[str, Any] | None = None,
) -> list[Result]:
    """One result for each member.

    **Arguments:**

    - `score`: measures and detail of member `i`. A member that diverged is not scored.
    - `seconds`: of all members together.
    - `shared`: detail that all members have.
    """
    results = []
    for i, member in enumerate(members):
        diverged_at = int(trained.diverged_at[i])
        measures, found = score(i) if diverged_at < 0 else ({}, {"diverged_at": diverged_at})
        detail = {"training": curve(trained, i), **(shared or {}), **found}
        state = State.FINISHED if diverged_at < 0 else State.DIVERGED
        results.append(Result(member, state, measures, seconds / len(members), detail, environment()))
    return results


def curve(trained: Trained, member: int) -> dict[str, list[float | None]]:
    """Loss and accuracy of one member over the steps of training: at most so many points, the last one among them."""
    size = len(trained.steps)
    keep = sorted({round(x) for x in np.linspace(0, size - 1, min(size, CURVE_POINTS))})

    def rounded(values: np.ndarray) -> list[float | None]:
        return [round(x, 6) if np.isfinite(x) else None for x in values[keep].tolist()]

    loss, accuracy = rounded(trained.loss[member]), rounded(trained.accuracy[member])
    return {"steps": trained.steps[keep].tolist(), "loss": loss, "accuracy": accuracy}
