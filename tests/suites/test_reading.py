"""What stores hold becomes records and tables, whoever wrote it and when. Rows of version 0.1 are literal."""

import json
import shutil
from pathlib import Path

import pytest
from suite_support import TINY, result, scores_of, write_schema_1

import humboldt
from humboldt.identity import Evaluation, Training
from humboldt.results import ScoredMember, State, TrainedMember
from humboldt.store import Store
from humboldt.suites import suites
from humboldt.suites.experiments import Request
from humboldt.suites.reading import records, tables, unknown_suite_tables, upgrade

VERSIONS = '{"measure":1,"model":1,"task":1}'
TODAY = '{"measure":1,"model":2,"task":1}'  # of LSTMs, whose first version is superseded
CHOMSKY = (
    *("3baf3758166d7e7d", "chomsky", "parity_check", "rnn", "paper, steps=20, batch_size=4"),
    '{"autoregressive":false,"batch_size":4,"computation_tokens":0,"data_seed":0,"gradient_clip":1.0,"loss":"mean",'
    '"model":{"activation":"relu","hidden_size":8},"num_test_lengths":460,"precision":"float32","steps":20,'
    '"strings_per_length":3,"task":{},"test_lengths":[7,9],"test_seed":1,"train_lengths":[1,6]}',
    VERSIONS,
)
ODDS_FIRST = (
    *("faf4606ff3b03141", "chomsky", "odds_first", "rnn", "paper"),
    '{"autoregressive":false,"batch_size":128,"computation_tokens":0,"data_seed":0,"gradient_clip":1.0,"loss":"mean",'
    '"model":{"activation":"relu","hidden_size":256},"num_test_lengths":460,"precision":"float32","steps":1000000,'
    '"strings_per_length":512,"task":{"order":"paper"},"test_lengths":[41,500],"test_seed":1,"train_lengths":[1,40]}',
    VERSIONS,
)
BLISS = (
    *("3401ada432365d63", "bliss", "an_bn", "lstm", "paper, order=1, epochs=3, hidden_size=4"),
    '{"batch_size":null,"corpus_seed":100,"epochs":3,"evaluate":"needed","factor":1,"learning_rate":0.001,'
    '"model":{"hidden_size":4},"order":1,"p":0.3,"string_order":"shuffled","test_memory":2050}',
    TODAY,
)
SYNTAX = (
    *("0e6b5e94aa71736e", "syntax", "adj_n_np", "lstm", "paper, train=32, terminals=2, zipf"),
    '{"batch_size":24,"data_seed":0,"disjoint":true,"distribution":"zipf","epochs":2,"gradient_clip":null,'
    '"lengths":[4,30],"long":10,"long_lengths":[31,100],"model":{"embedding_size":4,"hidden_size":4,"num_layers":1},'
    '"precision":"float32","sizes":"stated","terminals":2,"test":12,"train":32,"validation":8,"zipf_exponent":1.0}',
    TODAY,
)
TRANSFORMER = (
    *("68935df88f845cb5", "syntax", "adj_n_np", "transformer_encoder", "paper, train=32, terminals=2, zipf"),
    '{"batch_size":24,"data_seed":0,"disjoint":true,"distribution":"zipf","epochs":2,"gradient_clip":null,'
    '"lengths":[4,30],"long":10,"long_lengths":[31,100],"model":{"dropout":0.0,"feed_forward_size":4,"num_heads":2,'
    '"num_layers":3,"width":4},"precision":"float32","sizes":"stated","terminals":2,"test":12,"train":32,'
    '"validation":8,"zipf_exponent":1.0}',
    VERSIONS,
)
OF_SYNTAX = {"terminals": 2, "train": 32, "validation": 8, "test": 12, "long": 10, "epochs": 2, "batch_size": 24}
BLISS_DETAIL = json.dumps({"scores": [{"measure": "M_det", "epsilon": 0.0, "first_failure": "aaabbb"}]})
SYNTAX_DETAIL = json.dumps({"shortcuts": {"in_dist": {"bag": 0.5}, "out_of_dist": {"bag": 0.5}}})
SYNTAX_MEASURES = '{"in_dist":0.75,"out_of_dist":0.5,"validation":0.7}'
STORED = {
    "chomsky": (CHOMSKY, '{"learning_rate":0.001,"seed":0}', '{"score":0.75}', "{}", TINY),
    "a task with options": (ODDS_FIRST, '{"learning_rate":0.0001,"seed":0}', '{"score":0.75}', "{}", {}),
    "bliss": (
        *(BLISS, '{"penalty":"none","seed":100,"strength":0.0}', '{"met_0":0.0,"met_0.005":1.0,"largest_n":7}'),
        BLISS_DETAIL,
        {"order": 1, "factors": 1, "epochs": 3, "hidden_size": 4, "penalties": "none"},
    ),
    "syntax": (
        *(SYNTAX, '{"learning_rate":0.1,"seed":0}', SYNTAX_MEASURES, SYNTAX_DETAIL),
        {**OF_SYNTAX, "embedding_size": 4, "hidden_size": 4, "lstm_learning_rates": 0.1},
    ),
    "a Transformer, whose optimiser was no setting then": (
        *(TRANSFORMER, '{"learning_rate":0.001,"seed":0}', SYNTAX_MEASURES, SYNTAX_DETAIL),
        {**OF_SYNTAX, "width": 4, "num_heads": 2, "feed_forward_size": 4, "transformer_learning_rates": 1e-3},
    ),
}


@pytest.mark.parametrize("name", STORED)
def test_results_of_version_0_1_are_shown_and_count_as_finished(name: str, tmp_path: Path):
    run, member, measures, detail, settings = STORED[name]
    write_schema_1(tmp_path, run, [(member, "finished", measures, detail)])
    before = (tmp_path / "results.db").read_bytes()
    _, suite, task, model, *_ = run
    texts = {key: str(value) if isinstance(value, int | float) else value for key, value in settings.items()}
    study = humboldt.plan(suite, tasks=[task], models=[model], preset="paper", seeds=1, settings=texts, out=tmp_path)
    found = Store.open(tmp_path, upgrade).scores()
    assert [scores.training.key for scores in found] == [study.experiments[0].training.key]
    left = [member for experiment in study.pending() for member in experiment.members]
    assert json.loads(member) not in left and len(left) == sum(len(e.members) for e in study.experiments) - 1
    (value, *_) = [record for record in study.records() if record["statistic"] == "max"]
    assert value["task"] == task and value["members"] == 1
    assert task in study.table() and "not known" not in study.table() and "superseded" not in study.table()
    assert (tmp_path / "results.db").read_bytes() == before
    Store(tmp_path, upgrade)  # from now on it has the new tables, too
    assert len(Store.open(tmp_path, upgrade).scores()) == 1 and len(study.records()) > 0


def test_a_setting_that_changed_the_result_is_not_forgotten(tmp_path: Path):
    """Rows of version 0.1 with a summed loss are another training, which nothing today can make."""
    summed = [text.replace('"loss":"mean"', '"loss":"sum"') for text in CHOMSKY]
    write_schema_1(tmp_path, summed, [('{"learning_rate":0.001,"seed":0}', "finished", '{"score":0.75}', "{}")])
    study = humboldt.plan(
        "chomsky", tasks=["parity_check"], models=["rnn"], preset="paper", seeds=1, settings=TINY, out=tmp_path
    )
    assert len(study.pending()) == 1
    (table,) = tables(suites.get("chomsky"), Store.open(tmp_path, upgrade).scores())
    assert "not known here" in table.title and "loss" in " ".join(table.notes)


def test_results_of_earlier_versions_stand_apart_and_never_compete():
    suite = suites.get("chomsky")
    (experiment,) = suite.plan(Request(("parity_check",), ("rnn",), "paper"))
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
        *("chomsky, paper", "chomsky, paper: mean ± deviation", "chomsky, superseded versions")
    ]
    assert shown[0].rows[0][3] == "25.0 " and len(shown[2].rows) == 2
    by_setting = {
        record.setting.split()[0]: record.value for record in records(suite, found) if record.statistic == "max"
    }
    assert by_setting["paper"] == 25.0 and by_setting["superseded"] in (1.0, 0.9)


def test_a_task_or_model_that_nobody_knows_here_is_shown_plainly():
    suite = suites.get("chomsky")
    (experiment,) = suite.plan(Request(("parity_check",), ("rnn",), "paper"))
    for change in ({"task": "my_task"}, {"model": "my_model"}):
        fields = {name: getattr(experiment.training, name) for name in Training.__dataclass_fields__}
        strange = scores_of(experiment, [result(experiment.members[0], {"score": 0.5})])
        strange = type(strange)(Training(**{**fields, **change}), strange.evaluation, strange.results)
        (table,) = tables(suite, [strange])
        assert table.title == "chomsky, not known here" and "No " in table.notes[0] and "0.5" in table.rows[0]
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
    assert table.rows[0][:2] == ("t", "m") and "No suite named 'mine'" in table.notes[0]
    assert unknown_suite_tables("chomsky", []) == []
