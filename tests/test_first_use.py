"""What new users stumbled over, where no other test of the part concerned holds it: one sentence says what to do."""

import sys
from pathlib import Path

import pytest
from pages import ROOT

from humboldt import cli
from humboldt.suites import suites

TASK = """
import numpy as np
import humboldt
from humboldt.languages import Alphabet, Pairs
from humboldt.languages.chomsky.base import AbstractTransduction, Level


@humboldt.register("chomsky/beyond")
class Beyond(AbstractTransduction):
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    level, chance, examples = Level.REGULAR, 0.5, (("a", "a"),)

    def oracle(self, symbols):
        return list(symbols[:1])

    def draw(self, rng, count, length):
        return Pairs.full(np.full((count, length), 3), np.zeros((count, 1), int))
"""
MODELS = """
class Small:
    def __init__(self, input_size, output_size):
        pass


class Large(Small):
    pass
"""


def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """The error of a command that is refused."""
    monkeypatch.setattr(sys, "argv", ["humboldt", *arguments])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 2
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("registrations_undone")
def test_examples_of_a_task_with_ids_outside_its_alphabet(capsys, monkeypatch, tmp_path: Path):
    path = tmp_path / "beyond.py"
    path.write_text(TASK)
    error = said(capsys, monkeypatch, "data", "chomsky", "beyond", "--plugin", str(path))
    assert "The id 3 at position 0 is not in the alphabet: it has the ids 0 to 1" in error
    assert "`humboldt check task`" in error and "IndexError" not in error


@pytest.mark.usefixtures("registrations_undone")
@pytest.mark.parametrize(
    "command", [["check", "model", "FILE", "--on", "chomsky/parity_check"], ["run", "chomsky", "--model", "FILE"]]
)
def test_a_file_of_models_without_a_name_lists_them(command: list[str], capsys, monkeypatch, tmp_path: Path):
    path = tmp_path / "models.py"
    path.write_text(MODELS)
    error = said(capsys, monkeypatch, *(str(path) if part == "FILE" else part for part in command))
    assert "Small" in error and "Large" in error


def test_a_check_without_a_task_says_which_option_is_missing(capsys, monkeypatch):
    error = said(capsys, monkeypatch, "check", "model", "models.py:Small")
    assert error.startswith("Error: --on is missing") and "None" not in error


def test_the_paper_of_syntax_has_one_name():
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("src/humboldt/suites/syntax/*.py")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert "Someya et al. 2024" in suites.get("syntax").paper and "anonymous" not in text.casefold()
