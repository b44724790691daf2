"""Logistic regression for any number of labels, on dense features or on sparse counts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humboldt._compiled import compiled

ITERATIONS = 300
TOLERANCE = 1e-6  # of the loss, gained in one step: less is not worth another
MEMORY = 10  # steps that the optimiser remembers


@dataclass(frozen=True)
class Counts:
    """Sparse counts: row i has the features `ids[starts[i]:starts[i + 1]]`, each as often as it occurs.

    `ids` lie in 0 to `width` - 1.
    """

    starts: np.ndarray
    ids: np.ndarray
    width: int

    @property
    def rows(self) -> np.ndarray:
        """The row of every id."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def dense(self) -> np.ndarray:
        """The same as a matrix, shape `(rows, width)`."""
        shape = (len(self.starts) - 1, self.width)
        cells = self.rows * self.width + self.ids
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


Features = np.ndarray | Counts


def starts_of(per_row: np.ndarray) -> np.ndarray:
    """`Counts.starts` from how many ids each row has."""
    return np.concatenate([[0], np.cumsum(per_row)])


def classify(parts: list[Features], truth: np.ndarray) -> list[np.ndarray]:
    """Fits on the first part, whose labels are `truth` (0 up, shape `(count,)`); predicts those of the other parts.

    Weights of sparse features are held back by one unit of prior precision against the sum of the losses, the usual
    default; a few dense features need no more than keeps the minimum finite.
    """
    ridge = 1 / len(truth)
    if isinstance(parts[0], np.ndarray):
        ridge *= 1e-3
        parts = _whiten(parts)
    weights = _fit(parts[0], truth, ridge)
    return [np.pad(_scores(part, weights), ((0, 0), (1, 0))).argmax(1) for part in parts[1:]]


def _whiten(parts: list[Features]) -> list[Features]:
    """Uncorrelated features of variance one.

    Counts and their products depend on each other so nearly that the optimiser would need thousands of steps.
    """
    dense = [part for part in parts if isinstance(part, np.ndarray)]
    mean = dense[0].mean(0)
    centred = dense[0] - mean
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = variances > 1e-10 * variances.max(initial=1.0)
    axes = axes[:, kept] / np.sqrt(variances[kept])
    return [(part - mean) @ axes for part in dense]


def _fit(features: Features, truth: np.ndarray, ridge: float) -> np.ndarray:
    """Weights, shape `(features + 1, labels - 1)`: the bias is the last row, and label 0 always scores 0."""
    width = features.shape[1] if isinstance(features, np.ndarray) else features.width
    shape = (width + 1, int(truth.max()))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        value, errors = _softmax_loss(_scores(features, weights), truth)
        if isinstance(features, np.ndarray):
            slopes = features.T @ errors
        else:
            slopes = _scatter(features.starts, features.ids, errors, features.width)
        gradient = np.concatenate([slopes + ridge * weights[:-1], errors.sum(0, keepdims=True)])
        return value + ridge / 2 * float(np.sum(weights[:-1] ** 2)), gradient.ravel()

    return _minimise(loss, np.zeros(shape).ravel()).reshape(shape)


def _scores(features: Features, weights: np.ndarray) -> np.ndarray:
    """Scores of all labels but 0, shape `(count, labels - 1)`."""
    if isinstance(features, np.ndarray):
        return features @ weights[:-1] + weights[-1]
    return _gather(features.starts, features.ids, weights) + weights[-1]


@compiled
def _gather(starts: np.ndarray, ids: np.ndarray, weights: np.ndarray) -> np.ndarray:
    sums = np.zeros((len(starts) - 1, weights.shape[1]))
    for row in range(len(sums)):
        for place in range(starts[row], starts[row + 1]):
            for column in range(weights.shape[1]):
                sums[row, column] += weights[ids[place], column]
    return sums


@compiled
def _scatter(starts: np.ndarray, ids: np.ndarray, errors: np.ndarray, width: int) -> np.ndarray:
    sums = np.zeros((width, errors.shape[1]))
    for row in range(len(errors)):
        for place in range(starts[row], starts[row + 1]):
            for column in range(errors.shape[1]):
                sums[ids[place], column] += errors[row, column]
    return sums


@compiled
def _softmax_loss(scores: np.ndarray, truth: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean negative log-probability of the truth, and its gradient by the scores (those of label 0 are 0)."""
    errors = np.empty_like(scores)
    value = 0.0
    for row in range(len(scores)):
        highest = 0.0
        for column in range(scores.shape[1]):
            highest = max(highest, scores[row, column])
        total = np.exp(-highest)
        for column in range(scores.shape[1]):
            errors[row, column] = np.exp(scores[row, column] - highest)
            total += errors[row, column]
        value += np.log(total) + highest
        for column in range(scores.shape[1]):
            errors[row, column] /= total * len(scores)
        if truth[row] > 0:
            value -= scores[row, truth[row] - 1]
            errors[row, truth[row] - 1] -= 1 / len(scores)
    return value / len(scores), errors


def _minimise(loss: Callable[[np.ndarray], tuple[float, np.ndarray]], point: np.ndarray) -> np.ndarray:
    """The minimum of a smooth convex function (value and gradient), by L-BFGS with a halving line search."""
    value, gradient = loss(point)
    steps: list[tuple[np.ndarray, np.ndarray, float]] = []  # step, change of the gradient, their product
    for _ in range(ITERATIONS):
        direction = -gradient
        factors = []
        for step, change, product in reversed(steps):
            factors.append(step @ direction / product)
            direction = direction - factors[-1] * change
        if steps:
            _, change, product = steps[-1]
            direction = direction * (product / (change @ change))
        for (step, change, product), factor in zip(steps, reversed(factors), strict=True):
            direction = direction + step * (factor - change @ direction / product)
        size = 1.0
        while True:
            step = size * direction
            new_value, new_gradient = loss(point + step)
            if new_value <= value + 1e-4 * (gradient @ step):
                break
            size /= 2
            if size < 1e-9:
                return point
        change = new_gradient - gradient
        if step @ change > 0:
            steps = [*steps, (step, change, float(step @ change))][-MEMORY:]
        gained = value - new_value
        point, value, gradient = point + step, new_value, new_gradient
        if gained < TOLERANCE * max(value, 1e-3):
            break
    return point
