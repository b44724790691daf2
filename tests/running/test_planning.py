"""What a study is going to do, as text, JSON and a script for Slurm."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from engine_support import Clockwork
from merging_support import rows
from suite_support import TINY, Recording

import humboldt
from humboldt.errors import UsageError
from humboldt.running import planning
from humboldt.running.planning import announce, command, slurm_script
from humboldt.running.study import Study
from humboldt.settings import fields, plain
from humboldt.suites import catalogue, origins, resolving
from humboldt.training.base import AbstractPredictor, Job

PLUGIN = Path(__file__).parents[1] / "fault_plugin.py"
HUMBOLDT = [sys.executable, "-m", "humboldt"]


def plan(out: Path, tasks=("parity_check", "even_pairs"), seeds: int = 2, **options) -> Study:
    changes = {**TINY, "strings_per_length": 10}
    return humboldt.plan(
        "chomsky", tasks=tasks, models="rnn", preset="paper", seeds=seeds, settings=changes, out=out, **options
    )


def test_a_plan_says_how_much_is_missing(clockwork: Clockwork, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plan(tmp_path, tasks="even_pairs", seeds=1).run(lambda experiment: Recording())
    study = plan(tmp_path)
    found = [one.record() for one in announce(study, with_ids=True)]
    assert [(one["task"], one["members"], one["missing"]) for one in found] == [
        ("even_pairs", 2, 1),
        ("parity_check", 2, 2),
    ]
    assert all(one["seconds"] >= 1.0 and one["work"] and one["engine"] == "jax" for one in found)
    said = capsys.readouterr().err
    assert all(f"  {one['id']}  {one['name']}: " in said for one in found)
    assert [one.record()["seconds"] for one in announce(study, estimate="none")] == [None, None]


def test_diverged_members_are_neither_missing_nor_called_finished(
    clockwork: Clockwork, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    clockwork.diverging = {1}
    study = plan(tmp_path, tasks="even_pairs", seeds=2)
    study.run(lambda experiment: Recording(), keep="all")
    assert len(list(tmp_path.rglob("*.weights"))) == 1  # a diverged member is not kept
    announce(study)
    assert "1 member diverged before. They are not trained again: change a setting." in capsys.readouterr().err


def test_a_measurement_that_takes_long_is_not_silent(
    clockwork: Clockwork, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    sample = clockwork.sample

    def slow(job: Job) -> tuple[AbstractPredictor, float]:
        time.sleep(0.5)
        return sample(job)

    monkeypatch.setattr(planning, "QUIET_SECONDS", 0.02)
    monkeypatch.setattr(clockwork, "sample", slow)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    announce(plan(tmp_path, tasks="parity_check"))
    assert re.search(r"strings, measuring \.{3,}, about \d+ s\n", capsys.readouterr().err)


def test_every_setting_is_shown_with_what_decided_it(tmp_path: Path):
    study = humboldt.plan("chomsky", tasks="parity_check", models="rnn", settings={"steps": 7}, seeds=3, out=tmp_path)
    records = {record["name"]: record for record in planning.setting_records(study)}
    assert (records["steps"]["value"], records["steps"]["layer"]) == (7, "command")
    assert (records["seeds"]["value"], records["seeds"]["layer"]) == (3, "command")
    assert records["batch_size"]["layer"] == "preset quick" and records["batch_size"]["of"] == "protocol"
    assert records["test_lengths"]["layer"] == "default" and records["test_lengths"]["source"]
    assert records["hidden_size"]["of"] == "model"
    everything = {
        field.name for cls in catalogue.settings_classes(study.suite, "parity_check", "rnn") for field in fields(cls)
    }
    assert set(records) == everything
    text = planning.settings_text(study)
    assert re.search(r"^  steps +7 +protocol +command$", text, re.M)


@pytest.mark.parametrize("suite", ["bias", "bliss", "chomsky", "pcfg_set", "syntax"])
def test_the_layer_that_is_named_has_the_value(suite: str, tmp_path: Path):
    study = humboldt.plan(suite, out=tmp_path)
    for experiment in study.experiments[:6]:
        objects = resolving.resolved(experiment)
        layers = origins.layers(study.suite, objects, study.request)
        for origin in origins.origins(study.suite, objects, study.request):
            if origin.layer in ("default", "sweep"):
                continue
            changed = plain(layers[origin.layer][origin.name])
            values = origin.value if isinstance(origin.value, list) else [origin.value]
            # A training has one value of a setting that has a training for each.
            assert origin.value == changed or set(values) <= set(changed if isinstance(changed, list) else [])


def test_ids_do_not_depend_on_what_is_finished_or_on_the_command(clockwork: Clockwork, tmp_path: Path):
    before = [experiment.id for experiment in plan(tmp_path).experiments]
    plan(tmp_path, tasks="even_pairs").run(lambda experiment: Recording())
    assert [experiment.id for experiment in plan(tmp_path).experiments] == before
    assert [experiment.id for experiment in plan(tmp_path, tasks="parity_check").experiments] == before[1:]
    assert not {experiment.id for experiment in plan(tmp_path, seeds=3).experiments} & set(before)


def test_one_experiment_by_its_id(clockwork: Clockwork, tmp_path: Path):
    first, second = plan(tmp_path).experiments
    study = plan(tmp_path, experiments=[second.id])
    assert study.experiments == (second,)
    study.run(lambda experiment: Recording())
    assert [experiment.id for experiment in plan(tmp_path).pending()] == [first.id]
    with pytest.raises(UsageError, match=f"No experiment named '{second.id[:-1]}'. Did you mean '{second.id}'"):
        plan(tmp_path, experiments=second.id[:-1])


def test_the_command_means_the_same_study(tmp_path: Path):
    asked = {"tasks": ["parity_check"], "seeds": 3, "settings": {"steps": "20", "train_lengths": "1,6"}}
    study = humboldt.plan("chomsky", models=["rnn", "lstm"], out=tmp_path, **asked)
    assert command(study, [PLUGIN]) == [
        *("humboldt", "run", "chomsky", "--task", "parity_check", "--model", "rnn", "--model", "lstm"),
        *("--preset", "quick", "--seeds", "3", "--set", "steps=20", "--set", "train_lengths=1,6"),
        *("--plugin", str(PLUGIN)),
    ]


def humboldt_says(*arguments: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [*HUMBOLDT, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_tasks_of_a_slurm_array_make_the_study(tmp_path: Path):
    """The script, run by bash as Slurm runs it, with a `humboldt` on the path."""
    study = ["faults", "--plugin", PLUGIN, "--seeds", "2"]
    humboldt_says("run", *study, "--out", "whole", folder=tmp_path)
    script = humboldt_says("plan", *study, "--out", "a folder", "--slurm", folder=tmp_path)
    assert "#SBATCH --array=0-1\n" in script and "#SBATCH --time=10\n" in script
    (tmp_path / "study.sbatch").write_text(script)
    (tmp_path / "humboldt").write_text(f'#!/bin/sh\nexec {sys.executable} -m humboldt "$@"\n')
    (tmp_path / "humboldt").chmod(0o755)
    (tmp_path / "elsewhere").mkdir()
    for task in range(2):
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": str(task)}
        subprocess.run(
            ["bash", tmp_path / "study.sbatch"],
            cwd=tmp_path / "elsewhere",
            env=environment,
            check=True,
            capture_output=True,
            timeout=120,
        )
    merging = next(line for line in script.splitlines() if line.startswith("#   humboldt merge"))
    command = merging.removeprefix("#   humboldt").replace("/*", "/0") + f" '{tmp_path}/a folder/parts/1'"
    subprocess.run(f"{' '.join(HUMBOLDT)} {command}", shell=True, check=True, cwd=tmp_path, capture_output=True)
    assert rows(tmp_path / "a folder") == rows(tmp_path / "whole")
    planned = json.loads(humboldt_says("plan", *study, "--out", "a folder", "--json", folder=tmp_path))
    assert [one["missing"] for one in planned] == [0, 0]
    assert humboldt_says("plan", *study, "--out", "a folder", "--slurm", folder=tmp_path) == ""


def test_more_experiments_than_slurm_has_tasks_share_them(
    clockwork: Clockwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(planning, "MOST_TASKS", 2)
    study = plan(tmp_path, tasks=("parity_check", "even_pairs", "cycle_navigation"))
    script = slurm_script(study, announce(study, estimate="none"))
    assert "--array=0-1\n" in script and "was not estimated" in script
    chosen = script.replace("exec humboldt", "echo")
    found = [
        subprocess.run(
            ["bash", "-c", chosen], env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}, capture_output=True, text=True
        ).stdout
        for task in range(2)
    ]
    ids = [experiment.id for experiment in study.experiments]
    assert [[one for one in ids if one in line] for line in found] == [[ids[0], ids[2]], [ids[1]]]


@pytest.mark.parametrize(
    ("suite", "recipe"),
    [
        ("syntax", "family/gru is trained with optimiser adamw, learning_rates 0.001."),
        ("chomsky", "family/gru is trained with optimiser adam, learning_rates 0.0001, 0.0003, 0.0005."),
    ],
)
def test_the_recipe_of_a_model_that_the_paper_does_not_have_is_named(
    suite: str, recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    announce(humboldt.plan(suite, models="family/gru", preset="paper", out=tmp_path), estimate="none")
    assert recipe in " ".join(capsys.readouterr().err.split())
    announce(humboldt.plan(suite, models="lstm", preset="paper", out=tmp_path), estimate="none")
    assert "is trained with" not in capsys.readouterr().err


@pytest.mark.parametrize(("column", "shown"), [(60, ", 12 d"), (76, ",\n    12 d"), (80, "\n    12 d")])
def test_what_does_not_fit_a_line_goes_on_in_the_next(column: int, shown: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    assert planning._continued(", 12 d", column) == shown
