"""`humboldt score`: anybody's predictions, without any framework."""

import json
import sys
from pathlib import Path

import pytest

from humboldt import cli

HEADER = "source\ttarget\tprediction"


def score(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["humboldt", "score", *map(str, arguments)])
    try:
        cli.main()
        code = 0
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def test_json_on_stdout(capsys, monkeypatch, tmp_path: Path):
    mine = write(tmp_path / "mine.tsv", "swap repeat A B\tB B A A\tB B A A", "append swap A B , C D\tB A C D\tA")
    code, out, _ = score(capsys, monkeypatch, "pcfg_set", "systematicity", mine)
    found = json.loads(out)
    assert code == 0 and (found["n"], found["sequence_accuracy"]) == (2, 0.5)
    assert found["breakdowns"]["pair"]["append swap"] == {"value": 0.0, "n": 1}


@pytest.mark.parametrize("test", ["substitutivity", "substitutivity_primitive"])  # a test, or a task of the suite
def test_two_files(capsys, monkeypatch, tmp_path: Path, test: str):
    mine = write(tmp_path / "mine.tsv", "swap A B\tB A\tB A", "repeat A\tA A\tA A")
    twin = write(tmp_path / "twin.tsv", "swap_syn A B\tB A\tB A", "repeat_twin A\tA A\t")
    code, out, _ = score(capsys, monkeypatch, "pcfg_set", test, mine, "--twin", twin)
    assert code == 0 and json.loads(out)["consistency"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["pcfg_set", "task_accuracy", "FOLDER/nothing.tsv"], "nothing.tsv` cannot be read"),
        (
            ["pcfg_set", "task_accuracy", "FOLDER/wrong.tsv"],
            "wrong.tsv, line 3: the source 'append A' is not",
        ),
        (["pcfg_set", "localism", "FOLDER/wrong.tsv"], "Give the twin file"),
        (["pcfg_set", "locality", "FOLDER/wrong.tsv"], "Did you mean 'localism'"),
        (["pcfg_set", "task_accuracy", "FOLDER/wrong.csv"], "the ending '.csv' is none of .jsonl"),
        (["syntax", "adj_n_np", "FOLDER/wrong.tsv"], "a model is trained for one of them. Choose it: settings="),
    ],
)
def test_errors_say_what_is_wrong_and_where(capsys, monkeypatch, tmp_path: Path, arguments: list[str], text: str):
    write(tmp_path / "wrong.tsv", "copy A\tA\tA", "append A\tA\tA")
    write(tmp_path / "wrong.csv")
    code, out, err = score(capsys, monkeypatch, *(part.replace("FOLDER", str(tmp_path)) for part in arguments))
    assert code != 0 and out == "" and text in err
