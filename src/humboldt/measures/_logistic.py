"""Logistic regression for any number of labels, on dense features or on sparse counts."""

from dataclasses import dataclass

import numpy as np

from humboldt.compiled import compiled

# For SciPy's L-BFGS-B: limits on steps and calls; the smallest gain of a step; the largest gradient at a minimum. If
# the labels are separable the loss continues to fall for long, and the accuracy on longer strings to change: with a
# gain of 1e-9 it was 0.5 points off in one of 36 cases; with 1e-11 it equals that with 1e-14.
OPTIONS = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-11, "gtol": 1e-8}


@dataclass(frozen=True)
class Counts:
    """Sparse counts: row i has the features `ids[starts[i]:starts[i + 1]]`; a repeated id counts repeatedly.

    `ids` are from 0 to `width` - 1.
    """

    starts: np.ndarray
    ids: np.ndarray
    width: int

    @property
    def rows(self) -> np.ndarray:
        """The row of every id, shape `(ids,)`."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def dense(self) -> np.ndarray:
        """Returns the counts as a matrix, shape `(rows, width)`."""
        shape = (len(self.starts) - 1, self.width)
        cells = self.rows * self.width + self.ids
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


Features = np.ndarray | Counts


def starts_of(per_row: np.ndarray) -> np.ndarray:
    """Returns `Counts.starts`, given the number of ids of each row."""
    return np.concatenate([[0], np.cumsum(per_row)])


def classify(parts: list[Features], truth: np.ndarray) -> list[np.ndarray]:
    """Fits on the first part, whose labels are `truth` (from 0, shape `(count,)`); predicts labels of the other parts.

    Weights of sparse features have a prior of precision one against the sum of the losses, the usual default; a few
    dense features need only enough regularisation to keep the minimum finite.
    """
    ridge = 1 / len(truth)
    if isinstance(parts[0], np.ndarray):
        ridge *= 1e-3
        parts = _whiten(parts)
    weights = _fit(parts[0], truth, ridge)
    return [np.pad(_scores(part, weights), ((0, 0), (1, 0))).argmax(1) for part in parts[1:]]


def _whiten(parts: list[Features]) -> list[Features]:
    """Returns uncorrelated features of variance one.

    Counts and their products are so strongly correlated that the optimiser would need thousands of steps.
    """
    dense = [part for part in parts if isinstance(part, np.ndarray)]
    mean = dense[0].mean(0)
    centred = dense[0] - mean
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = variances > 1e-10 * variances.max(initial=1.0)
    axes = axes[:, kept] / np.sqrt(variances[kept])
    return [(part - mean) @ axes for part in dense]


def _fit(features: Features, truth: np.ndarray, ridge: float) -> np.ndarray:
    """Returns weights, shape `(features + 1, labels - 1)`; the last row is the bias, and label 0 scores 0."""
    from scipy.optimize import minimize  # imported here because it doubles the import time of this module

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

    return minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options=OPTIONS).x.reshape(shape)


def _scores(features: Features, weights: np.ndarray) -> np.ndarray:
    """Returns scores of all labels but 0, shape `(count, labels - 1)`."""
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
    """Returns the mean negative log-probability of the truth, and its gradient by the scores (label 0 scores 0)."""
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
