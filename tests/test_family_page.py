"""The page of families shows all that is known of every family, and nothing else."""

import pytest
from pages import script

from humboldt.suites import benched
from humboldt.suites.answers import ModelAnswers, TaskAnswer
from humboldt.suites.bench import QUICK, STANDARD

TABLES = script("docs/family_tables.py")


def test_every_family_has_one_kind():
    names = [name for kind in TABLES.KINDS.values() for name in kind]
    assert sorted(names) == sorted(benched.families())
    assert set(TABLES.LINEAR) < set(TABLES.KINDS)


def answered(model: str, solves: bool) -> ModelAnswers:
    values = (1.0, 0.96) if solves else (0.5, 0.6)
    tasks = [("parity_check", "regular", 0.5, values), ("odds_first", "cs", 0.0, values)]
    given = [
        TaskAnswer(task=task, group=group, floor=floor, values=members, learnt=(solves, solves))
        for task, group, floor, members in tasks
    ]
    return ModelAnswers("chomsky", f"family/{model}", QUICK, tuple(given))


def test_rows_bold_numbers_and_sentences_follow_from_the_references(monkeypatch: pytest.MonkeyPatch):
    known = {each.model: each for each in (answered("lstm", True), answered("gla", True), answered("mamba", False))}
    monkeypatch.setattr(TABLES, "answers", lambda preset: known if preset == QUICK else {})
    table = TABLES.families_chomsky()
    assert "No family has references of `standard` for all tasks yet." in table
    assert "| RNNs | LSTM | 2 | **0.96 (0.92 to 1.00)** |" in table
    assert "| diagonal states | Mamba | 2 | 0.10 (0.00 to 0.20) |" in table
    said = TABLES.families_said()
    assert "- parity_check (regular) is extended by 2: LSTM, GLA." in said
    assert "- Of 2 families whose next state is linear in the state, these extend a task that is not regular: " in said
    assert "GLA (odds_first)." in said
    missing = TABLES.families_missing()
    assert "`standard`: all families." in missing and "`gru`" in missing and "`lstm`" not in missing


def test_a_family_without_all_tasks_is_missing(monkeypatch: pytest.MonkeyPatch):
    TABLES.answers.cache_clear()
    monkeypatch.setattr(TABLES.benched, "answers_of", lambda *_, **__: [answered("lstm", True)])
    assert TABLES.answers(STANDARD) == {}
    monkeypatch.undo()
    TABLES.answers.cache_clear()
    assert "family/lstm" in TABLES.answers(QUICK)
