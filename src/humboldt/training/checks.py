"""Checks a network on a few rows before it is trained. NumPy only; engines compute the logits."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from humboldt.core.findings import Finding
from humboldt.languages import Batch, ProblemKind
from humboldt.training.base import AbstractProblem

ROWS, STEPS_ADDED = 4, 3
LONG = 500  # symbols of the strings of the gradient check
TOLERANCE = 1e-4  # between logits that should be equal


class AbstractTrial(ABC):
    """An untrained network of a job, for the checks."""

    problem: AbstractProblem

    @abstractmethod
    def logits(self, batch: Batch) -> np.ndarray:
        """Returns logits for a batch, without dropout, shape `(batch, target time, out)`."""

    @abstractmethod
    def gradient_norm(self, batch: Batch) -> float:
        """Returns the norm of the gradient of the mean loss."""

    @abstractmethod
    def parameters(self) -> int:
        """Returns the number of trained parameters."""

    @abstractmethod
    def seconds_per_step(self) -> float:
        """Returns the seconds of one training step of one member."""


def few_rows(problem: AbstractProblem) -> Batch:
    """Returns the first rows of the first training batch."""
    batch = problem.batch(0)
    arrays: list[Any] = [getattr(batch, name) for name in type(batch).__dataclass_fields__]
    return Batch(*(array[0][:ROWS] if problem.has_own_examples else array[:ROWS] for array in arrays))


def answers(trial: AbstractTrial) -> Iterator[Finding]:
    """Checks that logits are finite, and depend neither on other rows of the batch nor on later symbols."""
    problem, batch = trial.problem, few_rows(trial.problem)
    logits, counts = trial.logits(batch), batch.target_mask
    if not np.isfinite(logits[counts]).all():
        yield Finding(
            "finite answers",
            False,
            "an untrained network returned logits that are not finite numbers",
            "Look for divisions by zero, logarithms of zero, and attention masks that exclude every position.",
        )
        return
    yield Finding("finite answers", True, f"logits of shape {logits.shape} for {ROWS} rows of training")
    has_two_axes = problem.start is not None
    longer = batch.padded(batch.time + STEPS_ADDED, batch.target_time + (0 if has_two_axes else STEPS_ADDED))
    change = _largest((trial.logits(longer)[:, : logits.shape[1]] - logits)[counts])
    yield Finding(
        "padding",
        change <= TOLERANCE,
        f"{STEPS_ADDED} more steps of padding change answers by up to {change:.2g}",
        "Results then depend on the other rows of a batch. Use the mask, or the lengths of rows.",
    )
    if has_two_axes or problem.kind is ProblemKind.NEXT_SYMBOL:
        yield causality(trial, batch, logits)


def causality(trial: AbstractTrial, batch: Batch, logits: np.ndarray) -> Finding:
    """Checks that no answer depends on later symbols, or on the target at its own step."""
    problem, last = trial.problem, logits.shape[1] - 1
    name, size = ("targets", problem.output_size) if problem.start is not None else ("tokens", problem.input_size)
    place = last - 1 if name == "targets" else last  # the decoder reads targets one step late
    change = 0.0
    if place >= 0 and last >= 1 and size > 1:
        changed = getattr(batch, name).copy()
        changed[:, place] = (changed[:, place] + 1) % size
        again = trial.logits(replace(batch, **{name: changed}))
        change = _largest((again - logits)[:, :last])
    return Finding(
        "causality",
        change <= TOLERANCE,
        f"a later symbol changes answers by up to {change:.2g}",
        "It reads the answers that it should predict. Each step may use only the steps up to itself: no layers that "
        "read backwards, and a causal mask in attention.",
    )


def long_strings(trial: AbstractTrial) -> Finding:
    """Checks that the gradient is finite on long strings."""
    problem, batch = trial.problem, few_rows(trial.problem)
    rng = np.random.default_rng(0)
    tokens = rng.integers(problem.num_symbols, size=(ROWS, LONG)).astype(np.int32)
    is_last = np.arange(LONG)[None] == LONG - 1
    targets = rng.integers(problem.output_size, size=(ROWS, LONG)).astype(np.int32)
    counts = np.ones((ROWS, LONG), bool) if problem.kind is ProblemKind.NEXT_SYMBOL else np.repeat(is_last, ROWS, 0)
    if problem.start is not None:  # a long source with a target of training
        rows = np.resize(np.arange(len(batch.targets)), ROWS)
        targets, counts = batch.targets[rows], batch.target_mask[rows]
    norm = trial.gradient_norm(Batch(tokens, np.ones((ROWS, LONG), bool), targets, counts, np.ones(ROWS, np.float32)))
    return Finding(
        "gradient of long strings",
        bool(np.isfinite(norm)),
        f"a norm of {norm:.3g} on {LONG} symbols",
        "Training may diverge. Look for values that grow with every step.",
    )


def all_findings(trial: AbstractTrial) -> Iterator[Finding]:
    """Yields the findings of all checks, then size and speed."""
    for finding in answers(trial):
        yield finding
        if finding.check == "finite answers" and not finding.passed:
            return
    yield long_strings(trial)
    yield Finding("parameters", True, f"{trial.parameters():,}")
    yield Finding("speed", True, f"{1000 * trial.seconds_per_step():.1f} ms for a step of training of one member")


def _largest(differences: np.ndarray) -> float:
    return float(np.abs(differences).max()) if differences.size else 0.0
