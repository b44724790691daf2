"""What there is, as records and as text."""

import os
import sys
from pathlib import Path

import pytest

from humboldt import settings
from humboldt.commands import listing
from humboldt.errors import UsageError
from humboldt.running.study import plan
from humboldt.suites import catalogue, suites


def test_every_task_and_model_says_in_a_line_what_it_is():
    tasks, models = listing.list_tasks(), listing.list_models()
    assert {one["suite"] for one in tasks} == {one["suite"] for one in models} == set(suites.names())
    for one in (*tasks, *models):
        assert len(one["about"]) > 10 and "\n" not in one["about"], one


def test_names_are_those_that_task_and_model_take():
    for one in listing.list_tasks():
        assert one["name"] in catalogue.tasks(suites.get(one["suite"])) and "/" not in one["name"]
    for one in listing.list_models():
        catalogue.contender(suites.get(one["suite"]), one["name"])


@pytest.mark.parametrize("name", suites.names())
def test_defaults_are_text_that_set_takes(name: str):
    """Every default that is listed, given with `--set`, is accepted, and changes nothing."""
    suite = suites.get(name)
    protocol = {field.name: field for field in settings.fields(suite.protocol)}
    found = listing.list_settings(name)
    assert {one["of"] for one in found} >= {"suite", *(f"model {model}" for model in suite.contenders)}
    for one in found:
        assert one["rule"] and one["about"] and one["name"]
        if one["of"] == "suite":
            field = protocol[one["name"]]
            assert settings.from_text(field, one["default"]) == field.default


def test_settings_of_one_task_and_model():
    found = listing.list_settings("pcfg_set", "overgeneralisation", "lstm_s2s")
    assert {one["of"] for one in found} == {"suite", "task overgeneralisation", "model lstm_s2s"}
    with pytest.raises(UsageError, match="Did you mean 'lstm_s2s'"):
        listing.list_settings("pcfg_set", model="lstms2s")


def test_lines_fit_the_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((72, 24)))
    records = {"suites": listing.list_suites(), "tasks": listing.list_tasks(), "models": listing.list_models()}
    for what, found in {**records, "settings": listing.list_settings("chomsky")}.items():
        assert max(map(len, listing.as_text(what, found).splitlines())) <= 72, what


@pytest.mark.parametrize("name", suites.names())
def test_values_are_those_that_a_model_is_trained_with(name: str, tmp_path: Path):
    """Of each model of the paper, but for what the paper tries several values of."""
    suite = suites.get(name)
    for model, contender in suite.contenders.items():
        listed = [one for one in listing.list_settings(name, suite.printed_tasks[0], model) if "task" not in one["of"]]
        assert len({one["name"] for one in listed}) == len(listed)
        values = {one["name"]: one["default"] for one in listed if one["role"] != "each"}
        experiment = plan(
            name, tasks=suite.printed_tasks[:1], models=[model], preset="paper", out=tmp_path
        ).experiments[0]
        setting = experiment.training.setting
        for key, value in {**setting, **setting["model"]}.items():
            follows = any(key in changes for changes in contender.follows.values())
            if key in ("model", "task") or key in contender.sweep or follows or key not in values:
                continue
            assert values[key] == listing._typed(value), (model, key)


def test_a_suite_lists_its_tasks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    from humboldt import cli

    def listed(*arguments: str) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["humboldt", "list", *arguments])
        with pytest.raises(SystemExit):
            cli.main()
        captured = capsys.readouterr()
        return captured.out, captured.err

    assert listed("chomsky") == listed("tasks", "chomsky") != ("", "")
    assert "No list named 'chomski'. Did you mean 'chomsky'?" in listed("chomski")[1]
    assert "No list named 'task'. Did you mean 'tasks'" in listed("task")[1]
