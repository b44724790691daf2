"""The presets of the bias suite."""

from collections.abc import Sequence

import numpy as np
import pytest
from suite_support import Recording, result, scores_of, scoring_input

from humboldt import published
from humboldt.languages import Batch
from humboldt.suites import plans, resolving, suites
from humboldt.suites.agreement_rules import RULES
from humboldt.suites.bias.problem import RuleLearning
from humboldt.suites.bias.protocol import LEARNERS
from humboldt.suites.cells import sort_results
from humboldt.suites.departures import departures
from humboldt.suites.experiments import Request
from humboldt.suites.reading import records, tables
from humboldt.training.abilities import GivesProbabilities
from humboldt.training.base import AbstractPredictor


@pytest.mark.parametrize(
    ("preset", "name", "values"), [("table_3", "num_layers", (3, 10)), ("table_6", "dropout", (0.0, 0.2))]
)
def test_presets_of_the_appendix_plan_what_one_size_of_the_paper_with_one_change_plans(
    preset: str, name: str, values: tuple[float, ...]
):
    suite = suites.get("bias")
    sizes = {"count_or_memorization": {"l": "40"}, "composition_or_memorization": {"M": "36"}}
    for task, size in sizes.items():
        by_preset = plans.plan(suite, Request((task,), ("cnn_s2s",), preset))
        by_settings = [
            experiment
            for value in values
            for experiment in plans.plan(suite, Request((task,), ("cnn_s2s",), "paper", 20, {**size, name: value}))
        ]
        assert [experiment.id for experiment in by_preset] == [experiment.id for experiment in by_settings]
    assert len(plans.pairs(suite, Request(preset=preset))) == 16


def test_the_values_of_an_appendix_are_rows_of_one_table_and_can_be_chosen():
    suite = suites.get("bias")
    task = "hierarchical_or_linear"
    planned = plans.plan(suite, Request((task,), ("cnn_s2s",), "table_4"))
    found = [
        scores_of(e, [result(m, {"fits": 1.0, "agrees_hierar": 0.0, "agrees_linear": 1.0}) for m in e.members])
        for e in planned
        if not e.members[0]["block"]
    ]
    (table,) = tables(suite, found)
    assert table.title == f"bias, table_4: {task}"
    assert [row[1] for row in table.texts] == ["CNN-s2s, hidden_size 128", "CNN-s2s, hidden_size 1024"]
    own = {r.setting for r in records(suite, found)}
    assert own == {f"table_4, d=4, hidden_size={size}" for size in (128, 1024)}
    only = plans.plan(suite, Request((task,), ("cnn_s2s",), "table_4", settings={"hidden_size": 128}))
    assert {e.training.flat["hidden_size"] for e in only} == {128}
    parts = [(e.training, e.evaluations[0], e.members) for e in planned]
    assert departures(suite, parts) == []  # it is the paper's setting


def test_figure_3_trains_the_papers_sets_and_is_no_departure():
    suite = suites.get("bias")
    planned = plans.plan(suite, Request(preset="figure_3"))
    assert [e.training.model for e in planned[::2]] == [*LEARNERS]
    assert {len(e.members) for e in planned} == {20, 20 * 98}
    assert {e.training.flat["num_layers"] for e in planned if e.training.model == "transformer"} == {2}
    parts = [(e.training, e.evaluations[0], e.members) for e in planned]
    assert departures(suite, parts) == []


def test_a_curve_is_the_mean_over_what_is_left():
    """Ten hold-out examples in blocks of four: ten, six and two are left. They cost a nat more after each block."""
    suite = suites.get("bias")
    changes = {"N": 13, "M": 3, "curve_block": 4, "seeds": 2}
    planned = plans.plan(suite, Request(("composition_or_memorization",), ("cnn_s2s",), "paper", settings=changes))
    assert [len(e.members) for e in planned] == [2, 4]
    found = []
    for e in planned:
        parts = resolving.resolve(suite, e.training, e.evaluations[0])
        problem = suite.problem(parts, e.members)
        assert isinstance(problem, RuleLearning)
        costs = Costs([1.0 + m["block"] for m in e.members])
        scored = suite.score(scoring_input(suite, parts, e.evaluations[0], costs, e.members, Recording()))
        assert [round(s.measures["left_comp"], 6) for s in scored] == [1.0 + m["block"] for m in e.members]
        assert costs.asked == [10 if not m["block"] else 10 - 4 * m["block"] for m in e.members]
        found.append(scores_of(e, [result(m, dict(s.measures)) for m, s in zip(e.members, scored, strict=True)]))
        sizes = [int(weight.sum()) for weight in np.atleast_2d(problem.batch(0).weight)]
        assert set(sizes) <= {13 + 3 + 4 * m["block"] for m in e.members}
    curve = [(r.measure, r.value) for r in records(suite, found) if r.statistic == "mean" and "left" in r.measure]
    assert curve == [(f"nats left-comp, seen={3 + 4 * block}", 1.0 + block) for block in range(3)]
    (table,) = [one for one in tables(suite, found) if "that is left" in one.title]
    assert [row[0] for row in table.texts] == ["3", "7", "11"]
    cells = [cell for cells in sort_results(suite, found).cells.values() for cell in cells]
    (figure,) = [one for one in suite.presentation.figures(suite, cells) if one.name == "speed"]
    assert [(row["x"], row["best"]) for row in figure.rows] == [(3, 1.0), (7, 2.0), (11, 3.0)]  # pyright: ignore[reportAttributeAccessIssue]


class Costs(AbstractPredictor, GivesProbabilities):
    """Members for which every example costs a number of nats of their own."""

    def __init__(self, nats: list[float]) -> None:
        self.each, self.num_members = nats, len(nats)
        self.asked: list[int] = []

    def take(self, members: Sequence[int]) -> "Costs":
        return Costs([self.each[i] for i in members])

    def nats(self, batch: Batch) -> np.ndarray:
        self.asked += [int(weight.sum()) for weight in batch.weight]
        return np.array([[cost] * batch.tokens.shape[1] for cost in self.each])


def test_the_random_split_of_scan_has_one_rule_and_the_papers_accuracies():
    suite = suites.get("bias")
    planned = plans.plan(suite, Request(("scan_simple",), (), "paper"))
    assert [len(e.members) for e in planned if e.training.model != "joint_attention"] == [10] * 6
    found = [
        scores_of(e, [result(m, {"agrees_comp": 0.0, "accuracy_comp": 0.9}) for m in e.members])
        for e in planned
        if e.training.model != "joint_attention"
    ]
    (table,) = tables(suite, found)
    assert [(row[0], row[3], row[4]) for row in table.texts] == [
        ("LSTM-s2s no att.", "0.90", "0.98"),
        ("LSTM-s2s att.", "0.90", "0.98"),
        ("CNN-s2s, width 3", "0.90", ">0.98"),
        ("CNN-s2s, width 5", "0.90", ">0.98"),
        ("CNN-s2s, width 8", "0.90", ">0.98"),
        ("Transformer", "0.90", "0.94"),
    ]


def test_every_table_of_the_paper_can_be_matched_by_a_record():
    """Also Table 8. Rows of Tables 3 to 6 that repeat Table 1 are not counted again."""
    suite, rule = suites.get("bias"), RULES["bias"]
    made = []
    for preset, model in (("paper", "cnn_s2s"), ("table_5", "cnn_s2s"), ("paper", "joint_attention")):
        for e in plans.plan(suite, Request(("hierarchical_or_linear",), (model,), preset)):
            if not e.members[0]["block"]:
                measures = {"fits": 1.0, "agrees_hierar": 0.0, "agrees_linear": 1.0}
                made += records(suite, [scores_of(e, [result(m, measures) for m in e.members])])
    matched = {
        (row["paper_table"], row["parameter_value"])
        for row in published.rows("bias")
        if row["metric"] == "FPA" and any(rule.matches(record, row) for record in made)
    }
    assert matched == {
        ("table_1c", "4"),
        *(("table_5c", size) for size in ("64", "256")),
        ("table_8", "4"),
    }
    repeated = {
        (row["paper_table"], row["parameter_value"])
        for row in published.rows("bias")
        if rule.repeats(row) and row["paper_table"].endswith("c")
    }
    assert repeated == {("table_3c", "1"), ("table_4c", "512"), ("table_5c", "16"), ("table_6c", "0.5")}
