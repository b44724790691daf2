"""Figures of training, from what a store has of it."""

import dataclasses

import numpy as np
import pytest
from page_support import results

from humboldt.core.results import Scores
from humboldt.suites import suites
from humboldt.suites.cells import sort_results
from humboldt.suites.curves import MOST_POINTS, training_curves


def cells_of(own: list[Scores]):
    (suite_name,) = {scores.training.suite for scores in own}
    suite = suites.get(suite_name)
    return suite, [cell for cells in sort_results(suite, own).cells.values() for cell in cells]


def test_the_line_is_the_median_of_the_members_and_the_band_their_middle_half():
    own = [s for s in results() if (s.training.task, s.training.model) == ("parity_check", "rnn")]
    curves = [r.detail["training"] for s in own for r in s.results if "training" in r.detail]
    loss, accuracy = training_curves(*cells_of(own))
    assert (loss.name, accuracy.name) == ("training-loss", "training-accuracy")
    for figure, measure, scale in ((loss, "loss", 1), (accuracy, "accuracy", 100)):
        for place, row in enumerate(figure.rows):
            values = [scale * curve[measure][place] for curve in curves]
            assert row["x"] == curves[0]["steps"][place] and row["members"] == len(curves)
            assert [row["low"], row["median"], row["high"]] == pytest.approx(
                np.percentile(values, [25, 50, 75]), abs=1e-4
            )


def test_evaluations_of_one_training_have_one_line():
    own = [s for s in results() if s.training.suite == "pcfg_set"]
    suite, cells = cells_of(own)
    (loss, _) = training_curves(suite, cells)
    points = [(row["task"], row["model"], row["x"]) for row in loss.rows]
    assert len({s.training.key for s in own}) < len({(s.training.key, s.evaluation.name) for s in own})
    assert len(points) == len(set(points)) > 0


def test_steps_after_a_divergence_are_left_out_and_long_curves_are_thinned():
    own = [s for s in results() if (s.training.task, s.training.model) == ("parity_check", "rnn")]
    (entry, *_) = own
    steps = list(range(1, 501))
    long = {"steps": steps, "loss": [1 / step for step in steps[:400]] + [None] * 100, "accuracy": [0.5] * 500}
    changed = [dataclasses.replace(r, detail={"training": long}) for r in entry.results[:1]]
    loss, _ = training_curves(*cells_of([Scores(entry.training, entry.evaluation, tuple(changed))]))
    assert len(loss.rows) == MOST_POINTS and loss.rows[0]["x"] == 1 and loss.rows[-1]["x"] == 400


def test_members_without_curves_have_no_figure():
    own = [s for s in results() if s.training.suite == "syntax"]  # one point of each curve
    assert training_curves(*cells_of(own)) == []
