"""Checks a network on a few rows before it is trained. NumPy only; engines compute the logits."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from humboldt.core.events import AbstractSink, Warned
from humboldt.core.findings import Finding
from humboldt.errors import RunError
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
    """Returns a few rows of the first training batch: the shortest, the longest, and some between them."""
    batch = problem.batch(0)
    arrays: list[Any] = [getattr(batch, name) for name in type(batch).__dataclass_fields__]
    batch = Batch(*(array[0] if problem.has_own_examples else array for array in arrays))
    ordered = np.argsort(batch.mask.sum(1) + batch.target_mask.sum(1), kind="stable")
    ordered = ordered[np.any(batch.mask, 1)[ordered]]  # rows that are only padding have nothing to answer
    return batch.take(ordered[np.unique(np.linspace(0, len(ordered) - 1, ROWS).round().astype(int))])


def answers(trial: AbstractTrial) -> Iterator[Finding]:
    """Checks that logits are finite and have a gradient, and depend neither on padding nor on later symbols."""
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
    rows, steps, out = logits.shape
    text = f"a number for each of {out} symbols at every step; tried on strings: {rows}, steps: {steps}"
    yield Finding("finite answers", True, text)
    yield gradient(trial, batch)
    yield padding(trial, batch)
    if problem.start is not None or problem.kind is ProblemKind.NEXT_SYMBOL:
        yield causality(trial, batch, logits)


def gradient(trial: AbstractTrial, batch: Batch) -> Finding:
    """Checks that the loss has a gradient that is not zero: otherwise no step changes a weight."""
    norm = trial.gradient_norm(batch)
    return Finding(
        "gradient",
        norm != 0,  # not finite: `long_strings` reports it, and so does training
        f"a norm of {norm:.3g} on rows of training"
        if norm
        else "no parameter gets a gradient: nothing would be learned",
        "Return logits that are computed from the parameters, without `detach`, `torch.no_grad`, `.data` or "
        "`stop_gradient`, and leave `requires_grad` on.",
    )


def padding(trial: AbstractTrial, batch: Batch) -> Finding:
    """Checks that the answers to a row are the same alone and with padding, as beside longer rows."""
    has_two_axes = trial.problem.start is not None
    row = batch.take([0])  # the shortest: in a batch it has the most padding
    length, target_length = int(row.mask.sum()), int(np.flatnonzero(row.target_mask[0]).max()) + 1
    time, target_time = (length, target_length) if has_two_axes else (length, length)
    alone = Batch(
        row.tokens[:, :time],
        row.mask[:, :time],
        row.targets[:, :target_time],
        row.target_mask[:, :target_time],
        row.weight,
    )
    steps = batch.time + STEPS_ADDED - time
    padded = alone.padded(time + steps, target_time if has_two_axes else target_time + steps)
    first, second = trial.logits(alone), trial.logits(padded)
    change = _largest((second[:, : first.shape[1]] - first)[alone.target_mask])
    return Finding(
        "padding",
        change <= TOLERANCE,
        f"{steps} steps of padding after a row of length {length} "
        + (f"change its answers by up to {change:.2g}" if change > TOLERANCE else "do not change its answers"),
        "Results then depend on the other rows of a batch. Use the mask, or the lengths of rows.",
    )


def causality(trial: AbstractTrial, batch: Batch, logits: np.ndarray) -> Finding:
    """Checks that no answer depends on later symbols, or on the target at its own step."""
    problem = trial.problem
    name, size = ("targets", problem.output_size) if problem.start is not None else ("tokens", problem.input_size)
    mask = batch.target_mask if name == "targets" else batch.mask
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(1)  # of each row: padding after it says nothing
    place = last - 1 if name == "targets" else last  # the decoder reads targets one step late
    is_tried = (place >= 0) & (last >= 1) & mask.any(1) & (size > 1)
    change = 0.0
    if is_tried.any():
        rows = np.flatnonzero(is_tried)
        changed = getattr(batch, name).copy()
        changed[rows, place[rows]] = (changed[rows, place[rows]] + 1) % size
        again = trial.logits(replace(batch, **{name: changed}))
        is_before = (np.arange(logits.shape[1]) < last[:, None]) & is_tried[:, None]
        change = _largest((again - logits)[is_before])
    return Finding(
        "causality",
        change <= TOLERANCE,
        f"a later symbol changes answers by up to {change:.2g}",
        "It reads the answers that it should predict. Each step may use only the steps up to itself: no layers that "
        "read backwards, and a causal mask in attention.",
    )


def try_out(name: str, trial: AbstractTrial, sink: AbstractSink) -> None:
    """Checks a network from outside before its first step: warns if padding changes answers, and raises a `RunError` if
    any other check fails."""
    for finding in answers(trial):
        if not finding.passed:
            message = f"{name}: {finding.text}. {finding.advice}"
            if finding.check != "padding":
                raise RunError(message)
            sink.send(Warned(message))


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
        if finding.check in ("finite answers", "gradient") and not finding.passed:
            return
    yield long_strings(trial)
    yield Finding("parameters", True, f"{trial.parameters():,}")
    yield Finding("speed", True, f"{1000 * trial.seconds_per_step():.1f} ms for a step of training of one member")


def _largest(differences: np.ndarray) -> float:
    return float(np.abs(differences).max()) if differences.size else 0.0
