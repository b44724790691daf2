"""Table 2 of the paper with ours beside it."""

from suite_support import departures_of, result, scores_of

from humboldt.core.results import Result, Scores, State
from humboldt.suites import plans, suites
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import records, tables

SUITE = suites.get("syntax")
AUDIT = {"in_dist": {"length": 0.5, "bag": 0.75}, "out_of_dist": {"length": 0.6, "bag": 0.25}}
DETAIL = {"shortcuts": AUDIT, "parameters": {"embedding": 8, "body": 526_336, "readout": 514}}


def one(task: str = "np_n_vp_n", model: str = "lstm", **settings: str) -> Experiment:
    (experiment,) = plans.plan(SUITE, Request((task,), (model,), "paper", None, {"terminals": "2", **settings}))
    return experiment


def finished(experiment: Experiment, *scores: tuple[float, float, float]) -> list[Result]:
    """Results from `(validation, in_dist, out_of_dist)` of each member."""
    names = ("validation", "in_dist", "out_of_dist")
    return [
        result(member, dict(zip(names, values, strict=True)), detail=DETAIL)
        for member, values in zip(experiment.members, scores, strict=False)
    ]


def scored(experiment: Experiment, *scores: tuple[float, float, float]) -> Scores:
    return scores_of(experiment, finished(experiment, *scores))


def test_records_stand_beside_the_published_numbers():
    experiment = one()
    results = finished(experiment, (0.9, 0.8, 0.5), (0.8, 1.0, 0.7))
    results.append(result(experiment.members[2], state=State.DIVERGED))
    shown = records(SUITE, [scores_of(experiment, results)])
    with_score = [record for record in shown if record.statistic != "diverged"]
    assert {record.setting for record in with_score} == {"paper, terminals=2, zipf"}
    found = {(r.measure, r.statistic): (round(float(r.value), 6), r.members, r.published) for r in shown}
    assert found["in_dist", "max"] == (100.0, 2, 99.86)
    assert found["in_dist", "mean"] == (90.0, 2, None)
    assert found["in_dist", "std"] == (10.0, 2, None)
    assert found["in_dist", "selected"] == (80.0, 2, None)  # of the member that is best on validation
    assert found["out_of_dist", "max"] == (70.0, 2, 52.04)
    assert found["in_dist_shortcut", "max"] == (75.0, 2, None)
    assert found["out_of_dist_shortcut", "max"] == (60.0, 2, None)
    assert found["validation", "diverged"] == (1, 3, None)


def test_the_table_is_the_papers_with_ours_beside_it():
    found = [
        scored(one("np_n_vp_n", model, terminals=terminals), scores)
        for terminals in ("100", "2")
        for model, scores in (("lstm", (0.9, 0.905, 0.9)), ("bilstm", (0.9, 1.0, 0.5)))
    ]
    (table,) = tables(SUITE, found)
    assert table.columns[4:] == ("BiLSTM", "paper", "LSTM", "paper", "Shortcut")
    assert table.texts[0] == ("np_n_vp_n", "2", "zipf", "in", "100.00*", "100.00", "90.50*", "99.86", "75.00")
    assert table.texts[1][4:] == ("50.00 ", "100.00", "90.00 ", "52.04", "60.00")  # captured is more than 90
    assert [row[1] for row in table.texts] == ["2", "2", "100", "100"]
    assert "LSTM 526k (paper 1.05M)" in " ".join(table.notes)
    assert table.title == "syntax, paper"


def test_the_uniform_table_of_the_paper_is_not_a_measurement():
    experiment = one(distribution="uniform")
    found = [scored(experiment, (0.9, 0.8, 0.5))]
    assert all(record.published is None for record in records(SUITE, found))
    assert "distribution" not in departures_of(SUITE, [experiment])  # Table 3 is the paper's, too
    (table,) = tables(SUITE, found)
    assert table.texts[0][5] == "–" and any("repeats Table 2" in note for note in table.notes)


def test_diverged_members_have_no_score():
    experiment = one()
    found = [scores_of(experiment, [result(experiment.members[0], state=State.DIVERGED)])]
    assert [(record.statistic, record.value) for record in records(SUITE, found)] == [("diverged", 1)]
    (table,) = tables(SUITE, found)
    assert table.texts[0][4] == "diverged"


def test_several_members_have_a_mean_and_a_deviation():
    best, mean = tables(SUITE, [scored(one(), (0.9, 0.8, 0.5), (0.8, 1.0, 0.7))])
    assert "mean ± deviation" in mean.title and mean.texts[0][4] == "90.00 ± 10.00" and "paper" not in mean.columns
    assert "best of 2 members" in best.notes[0]
