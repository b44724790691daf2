"""`humboldt score`: anybody's predictions, without any framework."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from humboldt import cli
from humboldt.languages import tasks
from humboldt.storage import files
from humboldt.storage.store import Store

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


def by_measure(out: str) -> dict[str, Any]:
    return {reading["measure"]: reading for reading in json.loads(out)["readings"]}


def write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def test_json_on_stdout(capsys, monkeypatch, tmp_path: Path):
    mine = write(tmp_path / "mine.tsv", "swap repeat A B\tB B A A\tB B A A", "append swap A B , C D\tB A C D\tA")
    code, out, _ = score(capsys, monkeypatch, "pcfg_set", "systematicity", mine)
    found = by_measure(out)["sequence_accuracy"]
    assert code == 0 and (found["n"], found["value"]) == (2, 0.5)
    assert found["breakdown"]["pair"]["append swap"] == 0.0
    (member,) = json.loads(out)["details"]["members"]
    assert member["score"]["breakdowns"]["pair"]["append swap"] == {"value": 0.0, "n": 1}


@pytest.mark.parametrize("test", ["substitutivity", "substitutivity_primitive"])  # a test, or a task of the suite
def test_two_files(capsys, monkeypatch, tmp_path: Path, test: str):
    mine = write(tmp_path / "mine.tsv", "swap A B\tB A\tB A", "repeat A\tA A\tA A")
    twin = write(tmp_path / "twin.tsv", "swap_syn A B\tB A\tB A", "repeat_twin A\tA A\t")
    code, out, _ = score(capsys, monkeypatch, "pcfg_set", test, mine, "--twin", twin)
    assert code == 0 and by_measure(out)["consistency"]["value"] == 0.5 and json.loads(out)["task"] == test


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
        (["pcfg_set", "task_accuracy", "FOLDER/wrong.csv"], "the extension '.csv' is not one of .jsonl"),
        (["chomsky", "parity_check", "FOLDER/wrong.tsv", "--split", "test"], "It has one. Leave --split out."),
        (["syntax", "adj_n_np", "FOLDER/wrong.tsv", "--split", "tset"], "Did you mean 'test'"),
        (["bliss", "an_bn", "FOLDER/wrong.tsv"], "--set factors=1"),
        (["syntax", "adj_n_np", "FOLDER/wrong.tsv"], "a model is trained for one of them. Choose it: settings="),
    ],
)
def test_errors_say_what_is_wrong_and_where(capsys, monkeypatch, tmp_path: Path, arguments: list[str], text: str):
    write(tmp_path / "wrong.tsv", "copy A\tA\tA", "append A\tA\tA")
    write(tmp_path / "wrong.csv")
    code, out, err = score(capsys, monkeypatch, *(part.replace("FOLDER", str(tmp_path)) for part in arguments))
    assert code != 0 and out == "" and text in err


def lines(path: Path, rows: list[dict]) -> Path:
    files.write(path, rows)
    return path


def data(capsys, monkeypatch, *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", ["humboldt", "data", *map(str, arguments)])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    captured = capsys.readouterr()
    assert not leaving.value.code, captured.err
    return captured.err


def answered(path: Path, **fields: object) -> list[dict]:
    return [{**row.fields, "prediction": row.fields["target"], **fields} for row in files.read(path)]


CHOMSKY = ("--set", "test_lengths=41,43", "--set", "strings_per_length=4")
SYNTAX = ("--set", "terminals=2", "--set", "train=40", "--set", "validation=4", "--set", "test=6", "--set", "long=6")


@pytest.mark.parametrize("ending", ["jsonl", "tsv", "parquet"])
def test_the_test_strings_come_back_scored(capsys, monkeypatch, tmp_path: Path, ending: str):
    test = tmp_path / f"test.{ending}"
    told = data(capsys, monkeypatch, "chomsky", "reverse_string", "--split", "test", *CHOMSKY, "--output", test)
    assert told == f"12 examples in `{test}`.\n"
    mine = lines(tmp_path / f"mine.{ending}", answered(test))
    code, out, _ = score(capsys, monkeypatch, "chomsky", "reverse_string", mine, *CHOMSKY)
    (reading,) = json.loads(out)["readings"]
    assert code == 0 and (reading["value"], reading["n"], reading["chance"]) == (1.0, 12, 0.5)
    assert set(reading["breakdown"]["length"]) == {"41", "42", "43"} and reading["published"][0]["model"] == "RNN"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda rows: rows[:5], "ends after 5 predictions, and test string 6 is"),
        (lambda rows: [*rows[:2], rows[3], rows[2], *rows[4:]], "line 3: the input is"),
        (lambda rows: [*rows[:2], rows[3], rows[2], *rows[4:]], "the expected one is in line 4"),
        (lambda rows: [*rows[:3], rows[2], *rows[3:]], "Line 3 already has it"),
        (lambda rows: [*rows[:3], *rows[4:]], "line 4: the input is"),
        (lambda rows: [*rows[:3], *rows[4:]], "no later line has the expected one"),
        (lambda rows: [*rows[:3], {**rows[3], "input": "a b"}, *rows[4:]], "line 4: the input is 'a b', but"),
        (lambda rows: [*rows, rows[0]], "line 13: all 12 test strings have their prediction"),
        (lambda rows: [{**rows[0], "prediction": "a c"}, *rows[1:]], "line 1: for the input"),
        (lambda rows: [{**rows[0], "target": "a"}, *rows[1:]], "line 1: the target is 'a', but that of"),
        (lambda rows: [{**rows[0], "prediction": None}, *rows[1:]], "line 1: the prediction is missing"),
    ],
)
def test_lines_that_do_not_fit_are_named(capsys, monkeypatch, tmp_path: Path, change, text: str):
    test = tmp_path / "test.jsonl"
    data(capsys, monkeypatch, "chomsky", "reverse_string", "--split", "test", *CHOMSKY, "--output", test)
    mine = lines(tmp_path / "mine.jsonl", change(answered(test)))
    code, out, err = score(capsys, monkeypatch, "chomsky", "reverse_string", mine, *CHOMSKY)
    assert code == 2 and out == "" and text in err


def test_syntax_all_splits_or_one(capsys, monkeypatch, tmp_path: Path):
    for split, measures in (("scored", ["validation", "in_dist", "out_of_dist"]), ("long", ["out_of_dist"])):
        test = tmp_path / f"{split}.jsonl"
        data(capsys, monkeypatch, "syntax", "adj_n_np", "--split", split, *SYNTAX, "--output", test)
        mine = lines(tmp_path / "mine.jsonl", answered(test))
        code, out, _ = score(capsys, monkeypatch, "syntax", "adj_n_np", mine, *SYNTAX, "--split", split)
        assert code == 0
        assert {r["measure"]: r["value"] for r in json.loads(out)["readings"]} == dict.fromkeys(measures, 1.0)
    code, _, err = score(capsys, monkeypatch, "syntax", "adj_n_np", mine, *SYNTAX, "--split", "long", "--out", tmp_path)
    assert code == 2 and "a table needs all splits" in err


def test_bias_files_and_seeds(capsys, monkeypatch, tmp_path: Path):
    make: Any = tasks.get("bias/count_or_memorization")
    task = make(l=10)

    def said(rule: str, **fields: object) -> list[dict]:
        inputs = [*task.holdout_inputs, *task.training_targets]
        return [{"input": " ".join(x), "prediction": " ".join(task.output(rule, x)), **fields} for x in inputs]

    chosen = "bias", "count_or_memorization"
    paths = [lines(tmp_path / f"{i}.jsonl", said(rule)) for i, rule in enumerate(["count", "count", "mem"])]
    together = lines(tmp_path / "all.jsonl", [*said("count", seed=0), *said("count", seed=1), *said("mem", seed=2)])
    found = []
    for files_ in (paths, [together]):
        out = tmp_path / str(len(files_))
        options = "--set", "l=10", "--name", "mine", "--out", out
        code, printed, _ = score(capsys, monkeypatch, *chosen, *files_, *options)
        assert code == 0 and json.loads(printed)["details"]["seeds"] == [0, 1, 2]
        found.append(by_measure(printed))
        assert [dict(result.member)["seed"] for result in Store.open(out).scores()[0].results] == [0, 1, 2]
    assert found[0] == found[1] and found[0]["fits"]["value"] == 1
    count = found[0]["FPA-count"]
    assert count["value"] == pytest.approx(2 / 3) and count["n"] == found[0]["FPA-mem"]["n"] == 3
    assert 0 < count["low"] < 2 / 3 < count["high"] < 1

    nats = [
        {"input": " ".join(x), "rule": rule, "nats": 1.5 if rule == "mem" else 0.5, "seed": seed}
        for rule in task.rules
        for x in task.holdout_inputs
        for seed in (0, 1)
    ]
    nats_file = lines(tmp_path / "nats.tsv", nats)
    code, out, _ = score(capsys, monkeypatch, *chosen, nats_file, "--set", "l=10", "--out", tmp_path / "nats")
    lengths = {rule: by_measure(out)[f"L-{rule}, nats"]["value"] for rule in task.rules}
    assert lengths == {"count": 0.5 * len(task.holdout_inputs), "mem": 1.5 * len(task.holdout_inputs)}
    assert by_measure(out)["L-count"]["value"] == pytest.approx(lengths["count"] / math.log(2))
    assert by_measure(out)["L-count"]["note"].startswith("bits") and "p = 0 " in by_measure(out)["L-count"]["note"]
    nats[3]["nats"] = "nan"
    code, _, err = score(capsys, monkeypatch, *chosen, lines(tmp_path / "nats.tsv", nats), "--set", "l=10")
    assert code == 2 and "nats.tsv, line 5: `nats` is 'nan'" in err


def bliss_rows(path: Path, count: int) -> list[dict]:
    language: Any = tasks.get("bliss/an_bn")()
    rows = []
    for row in list(files.read(path))[:count]:
        symbols = row.fields["input"].split()
        steps = [language.next_distribution(symbols[1 : n + 1]).tolist() for n in range(len(symbols))]
        rows.append({**row.fields, "prediction": steps})
    return rows


def test_bliss_says_how_far_a_file_goes(capsys, monkeypatch, tmp_path: Path):
    chosen, small = ("bliss", "an_bn"), ("--set", "factors=1", "--set", "order=1")
    test = tmp_path / "test.jsonl"
    data(capsys, monkeypatch, *chosen, "--split", "test", *small, "--output", test)
    for count, everything in ((10, True), (4, False)):
        mine = lines(tmp_path / "mine.jsonl", bliss_rows(test, count))
        _, out, _ = score(capsys, monkeypatch, *chosen, mine, *small)
        found = json.loads(out)["details"]
        assert (found["strings"], found["of"], found["covers_all"]) == (count, 10, everything)
        assert all(each["met_over_test_set"] for each in found["members"][0]["scores"])
        met = by_measure(out)["met_0.005"]
        assert (met["value"], met["n"]) == (1.0, count) and "largest_n" not in by_measure(out)
        last = list(files.read(test))[count - 1].fields["input"]
        assert found["largest_n"] == last.count("a")
    code, _, err = score(capsys, monkeypatch, *chosen, mine, *small, "--out", tmp_path / "out")
    assert code == 2 and "cannot be put into a table" in err and not (tmp_path / "out").exists()
    rows = bliss_rows(test, 4)

    def refused(change) -> str:
        wrong = json.loads(json.dumps(rows))
        change(wrong)
        code, _, err = score(capsys, monkeypatch, *chosen, lines(tmp_path / "wrong.jsonl", wrong), *small)
        assert code == 2
        return err

    assert "line 2: the input is" in refused(lambda r: r.pop(1))
    assert "line 1: After '#' the model's distribution" in refused(
        lambda r: r[0]["prediction"].__setitem__(0, [1, 1, 0])
    )
    assert "line 3: the prediction has shape" in refused(lambda r: r[2]["prediction"].pop())
    assert "another distribution" in refused(lambda r: r[3]["prediction"].__setitem__(1, [0, 1, 0]))


def test_a_table_on_a_terminal_and_json_elsewhere(capsys, monkeypatch, tmp_path: Path):
    mine = write(tmp_path / "mine.tsv", "swap repeat A B\tB B A A\tB B A A", "append swap A B , C D\tB A C D\tA")
    arguments = "pcfg_set", "systematicity", mine
    as_json = score(capsys, monkeypatch, *arguments)[1]
    assert json.loads(as_json)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert score(capsys, monkeypatch, *arguments, "--json")[1] == as_json
    code, out, _ = score(capsys, monkeypatch, *arguments)
    assert code == 0 and "{" not in out
    (line,) = [line for line in out.splitlines() if "sequence_accuracy" in line]
    assert line.split()[2:3] == ["0.500"] and line.endswith("Transformer 0.72") and len(line) <= 100
    assert len(out.splitlines()) < 15 < len(as_json.splitlines())


def test_strings_of_another_preset_name_the_likely_cause(capsys, monkeypatch, tmp_path: Path):
    test = ("--set", "num_test_lengths=1", "--set", "strings_per_length=1")
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"input": "a b", "prediction": "a"}) + "\n")
    for preset, other in (("quick", "paper"), ("paper", "quick")):
        code, _, err = score(capsys, monkeypatch, "chomsky", "parity_check", path, "--preset", preset, *test)
        assert code == 2 and f"test strings of the preset {preset}" in err and f"score it with --preset {other}" in err


def test_strings_of_one_test_set_alone_name_the_option(capsys, monkeypatch, tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"input": "1 0", "prediction": "True"}) + "\n")
    code, _, err = score(capsys, monkeypatch, "recognition", "parity", path)
    assert code == 2 and "one test set alone (validation_short, validation_long, test), name it with --split" in err
    code, _, err = score(capsys, monkeypatch, "recognition", "parity", path, "--split", "test")
    assert code == 2 and "alone" not in err
