"""The bench: names, sizes, plans, and answers found by identity. Nothing is trained here."""

import dataclasses
import gzip
import re
from pathlib import Path

import pytest

import humboldt
from humboldt import cli, references
from humboldt.commands.bench import references as references_
from humboldt.commands.merge import merge_
from humboldt.commands.run import beside_references
from humboldt.core.results import Result, ScoredMember, Scores, State, TrainedMember
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.running import bench
from humboldt.running.budgets import size_for, size_of
from humboldt.running.references import add_references, check_size
from humboldt.storage.exports import as_lines, exported, scores_of
from humboldt.suites import benched, catalogue, profile, suites
from humboldt.suites.answers import Progress
from humboldt.suites.bench import BUDGETS, FAMILIES, QUICK, RECIPE, STANDARD
from humboldt.suites.reading import upgrade
from humboldt.suites.resolving import is_current, resolved

ALL = {"bias", "bliss", "chomsky", "pcfg_set", "recognition", "syntax", "tracking"}


def test_every_suite_of_the_papers_answers():
    assert set(benched.benched_suites()) >= ALL


def test_suites_are_in_the_order_that_they_declare(monkeypatch: pytest.MonkeyPatch):
    of_papers = [name for name in benched.benched_suites() if name in ALL]
    assert of_papers == ["bias", "syntax", "tracking", "recognition", "pcfg_set", "bliss", "chomsky"]
    monkeypatch.setattr(type(suites.get("chomsky")), "bench_position", 0)
    assert benched.benched_suites()[0] == "chomsky"


def test_the_recipe_is_the_same_in_all_suites():
    for name in ALL:
        suite = suites.get(name)
        experiment = humboldt.plan(name, models=["family/lstm"], preset=QUICK).experiments[0]
        recipe = suite.job(resolved(experiment), experiment.members[:1]).recipe
        assert (recipe.optimiser, recipe.gradient_clip, recipe.betas[0]) == ("adamw", 1.0, 0.9), name
        assert recipe.schedule is not None and recipe.schedule.decay == "none", name
        for key, value in RECIPE.items():
            assert catalogue.preset(suite, STANDARD).changes[key] == value


def test_budgets_are_those_of_lstms():
    assert size_of("family/lstm", {"hidden_size": 64}).body == BUDGETS[QUICK]
    assert size_of("family/lstm", {"hidden_size": 128}).body == BUDGETS[STANDARD]


@pytest.mark.extras
@pytest.mark.parametrize("budget", BUDGETS.values())
def test_all_families_are_within_a_tenth_of_the_budget(budget: int):
    for family in benched.families():
        changes = size_for(f"family/{family}", budget)
        assert abs(size_of(f"family/{family}", changes).body - budget) <= 0.1 * budget, family


def test_a_family_is_meant_before_a_papers_model_of_the_same_name():
    assert bench.model_name("lstm") == "family/lstm"
    assert "lstm" in catalogue.models(suites.get("bliss"))  # the paper's


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ([], {}, "No model was named"),
        (["lsmt"], {}, "lstm"),
        (["lstm"], {"suites": ["chomski"]}, "chomsky"),
        (["lstm"], {"preset": "paper"}, "quick"),
    ],
)
def test_wrong_names_are_named(models: list[str], options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        bench.plan_bench(models, **options)


@pytest.mark.parametrize("suite", sorted(ALL))
def test_a_family_is_known_in_every_suite_that_fits_it(suite: str):
    kind = suites.get(suite).kind
    fitting = {name for name in models.names("family/") if kind in models.get(name).problems}
    assert fitting <= set(catalogue.models(suites.get(suite)))


def test_what_a_plan_refuses_is_left_out_with_its_reason():
    planned = bench.plan_bench(["ndstack_rnn", "transformer_random_rope"], suites=["bliss", "syntax"], seeds=1)
    assert planned.suite_names == ("syntax",)
    reasons = planned.left_out
    assert "its memory takes" in reasons["bliss, family/ndstack_rnn"]
    assert reasons["bliss, family/transformer_random_rope"] == "the model does not accept problems of this kind"


def test_seeds_for_the_choice_of_a_rate_are_added():
    planned = bench.plan_bench("lstm", preset="standard", suites=["syntax"], seeds=5)
    seeds = {member["seed"] for member in planned.studies[0].experiments[0].members}
    assert len(seeds) == 7
    quick = bench.plan_bench("lstm", preset="quick", suites=["syntax"], seeds=5)
    assert {member["seed"] for member in quick.studies[0].experiments[0].members} == set(range(5))


def made(planned: bench.Bench, score: float) -> list[Scores]:
    """Returns results as a study would store them."""
    results = []
    for experiment in planned.studies[0].experiments:
        curve = {"steps": [1], "loss": [0.1], "accuracy": [1.0]}
        members = [
            Result(
                member, State.FINISHED, {"score": score}, 1.0, {"training": curve, "outputs": {"a": "b"}}, {"jax": "1"}
            )
            for member in experiment.members
        ]
        results.append(Scores(experiment.training, experiment.evaluations[0], tuple(members)))
    return results


def test_answers_are_found_by_identity():
    planned = bench.plan_bench("rnn", suites=["chomsky"])
    results = made(planned, 0.97)
    (answers,) = benched.answers_of(results, QUICK)
    assert (answers.model, len(answers.tasks)) == ("family/rnn", len(planned.studies[0].experiments))
    assert {task.progress for task in answers.tasks} == {Progress.EXTENDED}
    assert benched.answers_of(results, STANDARD) == []
    changed = bench.plan_bench("rnn", suites=["chomsky"], settings={"chomsky": {"steps": 10}})
    assert benched.answers_of(made(changed, 0.97), QUICK) == []


def test_references_are_written_and_read_again(tmp_path: Path):
    planned = bench.plan_bench("rnn", suites=["chomsky"], seeds=2)
    (path,) = add_references(made(planned, 0.5), tmp_path)
    before = path.read_bytes()
    assert add_references(made(planned, 0.5), tmp_path) == [path] and path.read_bytes() == before
    more = bench.plan_bench("rnn", suites=["chomsky"], seeds=3)
    add_references(made(more, 0.5), tmp_path)
    again = [scores_of(entry, upgrade, where) for where, entry in references.entries(tmp_path)]
    (answers,) = benched.answers_of(again, QUICK)
    assert {len(task.values) for task in answers.tasks} == {3}
    assert all("outputs" not in result.detail for scores in again for result in scores.results)


def test_only_whole_suites_become_references(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    results = made(bench.plan_bench("rnn", suites=["chomsky"], seeds=2), 0.5)
    others = made(bench.plan_bench("gru", suites=["chomsky"], seeds=2), 0.5)
    lines = as_lines([exported(scores, format=1, headline="score") for scores in [*results, *others[1:]]])
    (tmp_path / "made.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    to = tmp_path / "references"
    to.mkdir()
    references_(tmp_path / "made.jsonl.gz", to)
    assert "Left out: chomsky, family/gru, bench_quick: no results of even_pairs." in capsys.readouterr().err
    again = [scores_of(entry, upgrade, where) for where, entry in references.entries(to)]
    (answers,) = benched.answers_of(again, QUICK)
    assert answers.model == "family/rnn"
    assert all(task.learnt == (True, True) for task in answers.tasks), "the end of each curve is exported"
    with pytest.raises(UsageError, match="no whole suite of a bench preset"):
        (tmp_path / "part.jsonl").write_text(lines.splitlines(keepends=True)[-1])
        references_(tmp_path / "part.jsonl", to)


def test_references_have_the_size_of_the_budget():
    (sized, *_), (other, *_) = (
        made(bench.plan_bench("rnn", suites=["chomsky"], seeds=2, parameters=count), 0.5) for count in (None, 9000)
    )
    check_size(sized, QUICK)
    with pytest.raises(
        UsageError, match=r"family/rnn has [0-9,]+ parameters .* 33,280, within 10%.*`humboldt bench rnn"
    ):
        check_size(other, QUICK)


def test_references_that_ship_are_of_current_versions():
    shipped = benched.reference_scores()
    for answers in (each for preset in (QUICK, STANDARD) for each in benched.answers_of(shipped, preset)):
        check_size(answers.scores[0], answers.preset)
        assert min(len(task.values) for task in answers.tasks) >= 5
    stale = [s for s in shipped if not is_current(suites.get(s.training.suite), s.training, s.evaluation)]
    assert not [f"{s.training.suite}/{s.training.task} {s.training.model}" for s in stale]


def test_a_run_shows_the_references_of_its_tasks(tmp_path: Path):
    """As if the references of one family were this study's results."""
    study = humboldt.plan("tracking", tasks=["s3"], models=["family/gru"], preset=QUICK, out=tmp_path)
    (theirs,) = benched.answers_of(benched.reference_scores(), QUICK, models=["family/gru"], suite_names=["tracking"])
    (own,) = [scores for scores in theirs.scores if scores.training.task == "s3"]
    scored = [(own.evaluation, [ScoredMember(r.member, r.state, r.measures, detail=r.detail) for r in own.results])]
    members = [TrainedMember(r.member, r.state) for r in own.results]
    study.store.add(study.experiments[0].training, members, scored, format=study.suite.format)
    printed = beside_references(study)
    rows = re.findall(r"^(\S+)  +(this bench|reference) ", printed, re.MULTILINE)
    assert rows[0] == ("GRU", "this bench") and ("LSTM", "reference") in rows
    assert "solvable 1/1" in printed and "s5" not in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--preset", "quick"], "--preset bench_quick"), (["--preset", QUICK, "--set", "steps=3"], "steps=3")],
)
def test_references_are_of_bench_presets(options: list[str], message: str, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["humboldt", "run", "tracking", "--references", "--dry-run", *options])
    with pytest.raises(SystemExit):
        cli.main()
    assert message in " ".join(capsys.readouterr().err.split())


def test_models_that_no_test_distinguishes_are_not_ranked():
    planned = bench.plan_bench("rnn", suites=["tracking"], seeds=2)
    one = [scores for scores in made_tracking(planned) if scores.training.task == "s3"]
    own = benched.answers_of(one, QUICK)
    theirs = benched.answers_of(benched.reference_scores(), QUICK, suite_names=["tracking"])
    table = profile.comparison_table(own, theirs, str)
    assert table is not None and [row[2] for row in table.texts] == ["not ranked: distinguishable from none"]


def made_tracking(planned: bench.Bench) -> list[Scores]:
    """Returns bad results of two members: too few for a test at the 5% level against several references."""
    detail = {"training": {"steps": [1], "loss": [0.1], "accuracy": [1.0]}}
    return [
        Scores(
            each.training,
            each.evaluations[0],
            tuple(Result(member, State.FINISHED, {"symbols": 0.2}, 1.0, detail, {}) for member in each.members),
        )
        for each in planned.studies[0].experiments
    ]


def test_default_families_exist():
    assert {name.removeprefix("family/") for name in FAMILIES} <= set(benched.families())


def test_reported_results_are_a_row_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    planned = bench.plan_bench("rnn", suites=["chomsky"], seeds=2)
    theirs = bench.plan_bench("gru", suites=["chomsky"], seeds=2, out=tmp_path / "mine")
    lines = [exported(scores, format=1, headline="score") for scores in made(theirs, 0.97)]
    (tmp_path / "gru.jsonl").write_text(as_lines(lines))
    merge_([tmp_path / "gru.jsonl"], out=tmp_path / "mine")
    assert "14 reported members" in capsys.readouterr().err
    mine = dataclasses.replace(planned, out=tmp_path / "mine")
    (answers,) = (each for each in mine.references() if each.source)
    assert (answers.model, answers.source) == ("family/gru", "reported, not re-run")
    table = profile.overview(benched.answers_of(made(planned, 0.5), QUICK), [answers], str)
    assert [row[:2] for row in table.texts] == [("family/rnn", "this bench"), ("family/gru", "reported, not re-run")]
    (tmp_path / "broken.jsonl").write_text('{"training": {}}\n')
    with pytest.raises(UsageError, match=r"line 1 is not an exported training"):
        merge_([tmp_path / "broken.jsonl"], out=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_answers_are_in_the_order_of_the_preset():
    of_suite = [scores for scores in benched.reference_scores() if scores.training.suite == "chomsky"]
    forwards, backwards = (
        benched.answers_of(some, QUICK, models=["family/rnn"]) for some in (of_suite, of_suite[::-1])
    )
    names = [task.task for task in forwards[0].tasks]
    assert (
        names
        == [task.task for task in backwards[0].tasks]
        == list(catalogue.preset(suites.get("chomsky"), QUICK).tasks or ())
    )
    assert list(forwards[0].solved) == ["regular", "dcf", "cs"]
