import dataclasses
import shlex

import pytest
from page_support import results

import humboldt
from humboldt.core.identity import canonical
from humboldt.page import commands
from humboldt.settings import parse_assignments
from humboldt.suites import suites
from humboldt.suites.cells import Cell, SettingGroup, sort_results


def all_cells() -> list[Cell]:
    found, everything = [], results()
    for name in suites.names():
        own = [scores for scores in everything if scores.training.suite == name]
        found += [cell for cells in sort_results(suites.get(name), own).cells.values() for cell in cells]
    return found


CELLS = all_cells()


def planned(command: str) -> humboldt.Study:
    """What a command means, read as the command line reads it."""
    words = shlex.split(command)
    assert words[:2] == ["humboldt", "run"]
    options: dict[str, list[str]] = {}
    for option, value in zip(words[3::2], words[4::2], strict=True):
        options.setdefault(option, []).append(value)
    return humboldt.plan(
        words[2],
        tasks=options["--task"],
        models=options["--model"],
        preset=options["--preset"][0],
        seeds=int(options["--seeds"][0]) if "--seeds" in options else None,
        settings=parse_assignments(options.get("--set", [])),
        out=options["--out"][0],
    )


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.suite}-{cell.task}-{cell.model}-{cell.key}")
def test_the_command_of_a_cell_makes_exactly_its_members(cell: Cell):
    command = commands.of_cell(suites.get(cell.suite), cell, "a folder")
    study = planned(command.text)
    assert str(study.out) == "a folder"
    if command.is_exact:
        assert {e.training.key for e in study.experiments} == {s.training.key for s in cell.scores}
        wanted = {canonical(member) for member in cell.members()}
        assert {canonical(member) for e in study.experiments for member in e.members} == wanted
        keys = {e.key_for(one.training) for one in study.experiments for e in one.evaluations}
        assert {s.evaluation.key_for(s.training) for s in cell.scores} <= keys


def test_most_commands_are_exact_and_say_where_they_are_not():
    found = {cell.key: commands.of_cell(suites.get(cell.suite), cell, "out").is_exact for cell in CELLS}
    inexact = [cell for cell in CELLS if not found[cell.key]]
    half_finished, part_of_a_sweep = ("chomsky", "transformer_encoder"), ("bliss", "lstm")
    assert {(cell.suite, cell.model) for cell in inexact} == {half_finished, part_of_a_sweep}


def test_a_member_that_is_missing_makes_a_command_inexact():
    cell = next(cell for cell in CELLS if cell.suite == "chomsky" and len(cell.members()) == 3)
    (scores,) = cell.scores
    half = dataclasses.replace(cell, scores=(dataclasses.replace(scores, results=scores.results[1:]),))
    assert not commands.of_cell(suites.get("chomsky"), half, "out").is_exact


def test_the_command_of_a_missing_place_has_the_headings_settings():
    values = {"steps": 1000, "train_lengths": [1, 20], "no_such_setting": 1}
    heading = SettingGroup("quick", tuple((key, str(value)) for key, value in values.items()), values)
    text = commands.of_missing(suites.get("chomsky"), heading, ["parity_check"], "rnn", "out")
    study = planned(text)
    assert {e.training.setting["steps"] for e in study.experiments} == {1000}
    assert {tuple(e.training.setting["train_lengths"]) for e in study.experiments} == {(1, 20)}
    assert commands.num_members(suites.get("chomsky"), heading, "parity_check", "rnn") == 2
