"""Tasks for lm-evaluation-harness: the strings are ours. That it scores as we do is shown in tests/extras."""

import json
from pathlib import Path
from typing import Any

import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.outside.lm_eval import export_lm_eval
from humboldt.storage import files

SYNTAX: Any = {"terminals": 2, "train": 300, "validation": 4, "test": 12, "long": 8}
CHOMSKY: Any = {"test_lengths": (41, 43), "strings_per_length": 4}


def config(path: Path) -> dict[str, Any]:
    """The YAML that we write: a line for each key, with JSON behind it."""
    pairs = (line.split(": ", 1) for line in path.read_text("utf-8").splitlines())
    return {key: value if value.startswith("!") else json.loads(value) for key, value in pairs}


def rows(path: Path) -> list[Any]:
    return [row.fields for row in files.read(path)]


def test_minimal_pairs(tmp_path: Path):
    found = export_lm_eval("syntax", tmp_path, tasks=["adj_n_np"], settings=SYNTAX, count=None, shots=2)
    assert [(one.name, one.strings) for one in found] == [
        ("humboldt_syntax_adj_n_np_in", 12),
        ("humboldt_syntax_adj_n_np_out", 8),
    ]
    make: Any = tasks.get("syntax/adj_n_np")
    language = make(terminals=2)
    for one in found:
        asked = config(tmp_path / f"{one.name}.yaml")
        assert asked["output_type"] == "multiple_choice" and asked["num_fewshot"] == 2
        assert asked["custom_dataset"] == "!function strings.load"
        for row in rows(tmp_path / asked["dataset_kwargs"]["test"]):
            assert language.accepts(row["grammatical"].split()) and row["grammatical"].endswith("\n")
            assert not language.accepts(row["ungrammatical"].split())
        assert len(rows(tmp_path / asked["dataset_kwargs"]["train"])) == 200
    assert config(tmp_path / "humboldt_syntax.yaml")["task"] == [one.name for one in found]


@pytest.mark.parametrize(
    ("suite", "task", "settings"),
    [
        ("chomsky", "reverse_string", CHOMSKY),
        ("pcfg_set", "task_accuracy", {"size": 1500, "letters": 60, "deepest": 3, "naturalised": False}),
        ("recognition", "dyck_2_3", {"train": 200, "validation": 5, "test": 40, "longest_test": 60}),
        ("tracking", "s3", {"test_lengths": (41, 43), "strings_per_length": 4}),
    ],
)
def test_transductions(suite: str, task: str, settings: Any, tmp_path: Path):
    (one,) = export_lm_eval(suite, tmp_path, tasks=[task], settings=settings, count=9)
    asked = config(tmp_path / f"{one.name}.yaml")
    assert (
        asked["output_type"] == "generate_until" and asked["generation_kwargs"]["until"] == ["\n"] and one.strings == 9
    )
    language: Any = tasks.get(f"{suite}/{task}")()
    for split in ("train", "test"):
        for row in rows(tmp_path / asked["dataset_kwargs"][split])[:20]:
            assert " ".join(language.oracle(row["input"].split())) == row["target"]
    if suite == "chomsky":  # spread evenly over all lengths
        lengths = [len(row["input"].split()) for row in rows(tmp_path / f"{one.name}_test.jsonl")]
        assert lengths == [41] * 3 + [42] * 3 + [43] * 3


@pytest.mark.parametrize(
    ("suite", "options", "text"),
    [
        (
            "bliss",
            {},
            "no form as tasks of lm-evaluation-harness. These have: chomsky, pcfg_set, recognition, syntax, tracking",
        ),
        ("bias", {}, "an output for each rule"),
        ("syntax", {"tasks": ["adj_n_np"]}, "--set terminals=2"),
        ("syntax", {"tasks": ["adj_n"]}, "Did you mean 'adj_n_np'"),
    ],
)
def test_wrong_requests(suite: str, options: dict[str, Any], text: str, tmp_path: Path):
    with pytest.raises(UsageError) as error:
        export_lm_eval(suite, tmp_path / "out", **options)
    assert text in str(error.value) and not (tmp_path / "out").exists()
