"""From stored results to records and tables."""

import shutil
from pathlib import Path

from suite_support import result, scores_of

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.storage.store import Store
from humboldt.suites import plans, suites
from humboldt.suites.experiments import Request
from humboldt.suites.reading import records, tables, unknown_suite_tables, upgrade


def test_results_of_earlier_versions_stand_apart_and_never_compete():
    suite = suites.get("chomsky")
    (experiment,) = plans.plan(suite, Request(("parity_check",), ("rnn",), "paper"))
    old = Training(
        **{
            **{name: getattr(experiment.training, name) for name in Training.__dataclass_fields__},
            "versions": {"task": 0, "model": 1},
        }
    )
    member = experiment.members[0]
    found = [
        scores_of(experiment, [result(member, {"score": 0.25})]),
        type(scores_of(experiment, []))(old, experiment.evaluations[0], (result(member, {"score": 1.0}),)),
        scores_of(
            experiment, [result(member, {"score": 0.9})], Evaluation("score", experiment.evaluations[0].setting, 0)
        ),
    ]
    shown = tables(suite, found)
    assert [table.title for table in shown] == [
        "chomsky, paper",
        "chomsky, paper: mean ± deviation",
        "chomsky, paper: seconds of 1,000 steps",
        "chomsky, superseded versions",
    ]
    assert shown[0].texts[0][4] == "25.0 " and len(shown[3].texts) == 2
    by_setting = {
        record.setting.split()[0]: record.value for record in records(suite, found) if record.statistic == "max"
    }
    assert by_setting["paper"] == 25.0 and by_setting["superseded"] in (1.0, 0.9)


def test_a_task_or_model_that_nobody_knows_here_is_shown_plainly():
    suite = suites.get("chomsky")
    (experiment,) = plans.plan(suite, Request(("parity_check",), ("rnn",), "paper"))
    for change in ({"task": "my_task"}, {"model": "my_model"}):
        fields = {name: getattr(experiment.training, name) for name in Training.__dataclass_fields__}
        strange = scores_of(experiment, [result(experiment.members[0], {"score": 0.5})])
        strange = type(strange)(Training(**{**fields, **change}), strange.evaluation, strange.results)
        (table,) = tables(suite, [strange])
        assert table.title == "chomsky, not known here" and "No " in table.notes[0] and "0.5" in table.texts[0]
        assert [record.value for record in records(suite, [strange])] == [0.5]


def test_results_of_a_suite_that_is_not_installed_are_shown_plainly(tmp_path: Path):
    training = Training("mine", "t", "m", "jax", {}, {})
    evaluation, member = Evaluation("score"), {"seed": 0}
    Store(tmp_path).add(
        training,
        [TrainedMember(member, State.FINISHED)],
        [(evaluation, [ScoredMember(member, State.FINISHED, {"score": 0.5})])],
    )
    shutil.copytree(tmp_path, tmp_path / "copy")
    found = Store.open(tmp_path / "copy", upgrade).scores()
    (table,) = unknown_suite_tables("mine", found)
    assert table.texts[0][:2] == ("t", "m") and "No suite named 'mine'" in table.notes[0]
    assert unknown_suite_tables("chomsky", []) == []
