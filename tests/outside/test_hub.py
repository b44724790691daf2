"""Data sets for a hub: every row is right, nothing of a test is in training, and the card names every file."""

import json
from pathlib import Path
from typing import Any

import pytest
from pages import call
from pyarrow import parquet

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.outside.hub import export_hub
from humboldt.suites import suites
from humboldt.suites.capabilities import OffersData


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hub") / "new"
    call("export", "hub", str(out), "--count", "20")
    return out


def rows(path: Path) -> list[dict[str, str]]:
    return parquet.read_table(path).to_pylist()


def test_the_card_names_every_file_and_every_suite(folder: Path):
    _, front, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    metadata = {key: json.loads(value) for key, value in (line.split(": ", 1) for line in front.splitlines())}
    named = [file["path"] for config in metadata["configs"] for file in config["data_files"]]
    written = [str(path.relative_to(folder)) for path in folder.rglob("*.parquet")]
    assert sorted(named) == sorted(written) and len(set(named)) == len(named)
    able = [name for name in suites.names() if isinstance(suites.get(name), OffersData)]
    assert [config["config_name"] for config in metadata["configs"]] == able
    for name in able:
        assert f"| `{name}` | {suites.get(name).question} |" in text
    assert not list(folder.rglob("*.py"))  # no script is needed


@pytest.mark.parametrize("suite", ["chomsky", "tracking", "pcfg_set"])
def test_targets_are_those_of_the_oracle(suite: str, folder: Path):
    for part in ("train", "test"):
        found = rows(folder / suite / f"{part}.parquet")
        assert {row["task"] for row in found} == set(suites.get(suite).printed_tasks)
        for row in found:
            assert set(row) == {"task", "input", "target"}
            if suite != "pcfg_set" or row["task"] == "task_accuracy":  # other tests alter what is trained on
                language: Any = tasks.get(f"{suite}/{row['task']}")()
                assert " ".join(language.oracle(row["input"].split())) == row["target"], row


def test_labels_are_those_of_the_languages(folder: Path):
    for path in (folder / "recognition").glob("*.parquet"):
        for row in rows(path):
            language: Any = tasks.get(f"recognition/{row['task']}")()
            assert language.oracle(row["input"].split()) == [row["target"]]


@pytest.mark.parametrize("suite", ["bliss", "syntax"])
def test_no_test_string_is_in_training(suite: str, tmp_path: Path):
    parts = export_hub(tmp_path / "all", suite_names=[suite], count=5_000)
    found = {part.part: {(row["task"], row["input"]) for row in rows(tmp_path / "all" / part.file)} for part in parts}
    trained = found.pop("train")
    assert len(trained) > 100 and found and not trained & set().union(*found.values())


def test_rules_are_named(folder: Path):
    held_out = rows(folder / "bias/test.parquet")
    assert {row["rule"] for row in held_out if row["task"] == "count_or_memorization"} == {"count", "mem"}
    assert {row["rule"] for row in rows(folder / "bias/train.parquet")} == {"all"}


def test_the_same_command_gives_the_same_files(tmp_path: Path, folder: Path):
    export_hub(tmp_path / "again", suite_names=["chomsky"], count=20)
    for part in ("train", "test"):
        assert rows(tmp_path / f"again/chomsky/{part}.parquet") == rows(folder / f"chomsky/{part}.parquet")


def test_wrong_requests(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(UsageError, match="not an empty folder"):
        export_hub(folder)
    for arguments, text in (
        (("hub", str(tmp_path / "x"), "--task", "an_bn"), "--task has no meaning for `export hub`"),
        (("hub", str(tmp_path / "x"), "--count", "0"), "without end"),
        (("lm-eval", "syntax"), "--out is missing"),
        (("hub", str(tmp_path / "x"), "--preset", "papre"), "papre"),
    ):
        with pytest.raises(AssertionError):
            call("export", *arguments)
        assert text in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
