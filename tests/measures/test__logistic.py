"""Logistic regression against what can be worked out otherwise."""

import numpy as np
import pytest

from humboldt.measures._logistic import Counts, _fit, _softmax_loss, classify, starts_of


def random_counts(rng: np.random.Generator, count: int, width: int) -> Counts:
    per_row = rng.integers(0, 6, count)
    return Counts(starts_of(per_row), rng.integers(0, width, per_row.sum()), width)


def test_dense_and_sparse_are_the_same_problem():
    rng = np.random.default_rng(0)
    counts = random_counts(rng, 300, 7)
    truth = rng.integers(0, 3, 300)
    np.testing.assert_allclose(_fit(counts, truth, 0.01), _fit(counts.dense(), truth, 0.01), atol=1e-9)


def test_dense_counts():
    counts = Counts(np.array([0, 3, 3, 4]), np.array([1, 1, 0, 2]), 3)
    assert counts.dense().tolist() == [[1, 2, 0], [0, 0, 0], [0, 0, 1]]


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(1)
    scores, truth = rng.normal(size=(5, 2)) * 4, rng.integers(0, 3, 5)
    _, gradient = _softmax_loss(scores, truth)
    for place in np.ndindex(scores.shape):
        nudge = np.zeros_like(scores)
        nudge[place] = 1e-6
        slope = (_softmax_loss(scores + nudge, truth)[0] - _softmax_loss(scores - nudge, truth)[0]) / 2e-6
        assert gradient[place] == pytest.approx(slope, abs=1e-8)


def test_the_loss_is_the_negative_log_probability():
    scores = np.array([[1.0, 2.0], [-800.0, 900.0]])
    value, _ = _softmax_loss(scores, np.array([1, 0]))
    first = np.log(1 + np.e + np.e**2) - 1
    assert value == pytest.approx((first + 900) / 2)


def test_a_constant_feature_gives_the_share_of_the_labels():
    truth = np.repeat([0, 1, 2], [50, 30, 20])
    bias = _fit(np.zeros((100, 0)), truth, 0.0)[-1]
    np.testing.assert_allclose(bias, np.log([30 / 50, 20 / 50]), atol=1e-6)


def test_the_fit_is_that_of_newtons_method():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(200, 4))
    truth = (features @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=200) > 0.3).astype(np.int64)
    ridge = 0.01
    extended, penalty = np.c_[features, np.ones(200)], ridge * np.diag([1.0, 1, 1, 1, 0])
    weights = np.zeros(5)
    for _ in range(30):
        chance = 1 / (1 + np.exp(-extended @ weights))
        slope = extended.T @ (chance - truth) / 200 + penalty @ weights
        curvature = (extended * (chance * (1 - chance))[:, None]).T @ extended / 200 + penalty
        weights -= np.linalg.solve(curvature, slope)
    np.testing.assert_allclose(_fit(features, truth, ridge)[:, 0], weights, atol=1e-5)


def test_three_labels_are_told_apart():
    truth = np.tile([0, 1, 2], 40)
    dense = np.eye(3)[truth] + np.random.default_rng(0).normal(size=(120, 3)) * 0.1
    (predicted,) = classify([dense, dense], truth)
    np.testing.assert_array_equal(predicted, truth)


def test_one_label_is_always_predicted():
    rng = np.random.default_rng(0)
    for features in (rng.normal(size=(20, 4)), random_counts(rng, 20, 9)):
        (predicted,) = classify([features, features], np.zeros(20, np.int64))
        assert not predicted.any()
