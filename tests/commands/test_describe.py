"""`humboldt describe`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from humboldt import cli
from humboldt.errors import UsageError


def describe(path: Path, *options: str) -> str:
    done = CliRunner().invoke(cli.app, ["describe", str(path), *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_json_is_one_object_with_exact_counts(tmp_path: Path):
    (tmp_path / "dyck.grammar").write_text("S -> a S b S | \n")
    found = json.loads(describe(tmp_path / "dyck.grammar", "--json", "--length", "6"))
    assert found["counts"] == found["derivations"] == [1, 0, 1, 0, 2, 0, 5]
    assert found["alphabet"] == ["a", "b"] and found["kind"] == "grammar"


def test_text_has_the_class_and_each_prediction_with_its_source(tmp_path: Path):
    (tmp_path / "parity.regex").write_text("( 0* 1 0* 1 )* 0*\n")
    text = describe(tmp_path / "parity.regex")
    assert "groups Z2" in text and "Sarrof, Veitsman and Hahn 2024" in text


def test_errors_name_line_and_column(tmp_path: Path):
    (tmp_path / "bad.automaton").write_text("start a\naccept a\na 0\n")
    with pytest.raises(UsageError, match=r"line 4, column 1: found the end of the file"):
        describe(tmp_path / "bad.automaton")
    with pytest.raises(UsageError, match=r"\.regex"):
        describe(tmp_path / "language.txt")
