"""The numbers in the reproductions' pages are those of the records beside them."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

BLISS = Path(__file__).parents[1] / "reproductions" / "bliss"
CHOMSKY = Path(__file__).parents[1] / "reproductions" / "chomsky"
SYNTAX = Path(__file__).parents[1] / "reproductions" / "syntax"
MODELS = ("transformer_encoder", "transformer_decoder", "bilstm", "lstm")


def tables(page: Path) -> list[list[list[str]]]:
    """All tables of a page, each as its rows (without the head), each as its cells, without bold."""
    blocks = re.findall(r"(?:^\|.*\n)+", page.read_text().replace("**", ""), re.MULTILINE)
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in b.splitlines()[2:]] for b in blocks]


def load(name: str, folder: Path = SYNTAX) -> list[dict[str, Any]]:
    return json.loads((folder / name).read_text())


def script(name: str, folder: Path) -> Any:
    """A script of a reproduction, as a module."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def best_by_cell(name: str, folder: Path, measure: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    wanted = ("max", measure)
    return {
        (r["task"], r["model"], r["setting"]): r for r in load(name, folder) if (r["statistic"], r["measure"]) == wanted
    }


def test_the_chomsky_table_is_that_of_the_records():
    names = {"RNN": "rnn", "LSTM": "lstm", "Stack-RNN": "stack_rnn"}
    records = best_by_cell("records.json", CHOMSKY, "score")
    scores = {(c["task"], c["model"], c["setting"]): c["scores"]["score"] for c in load("curves.json", CHOMSKY)}
    assert records.keys() == scores.keys()
    shown = set()
    task = model = ""
    for row in tables(CHOMSKY / "README.md")[0]:
        task, model = row[0] or task, row[1] or model
        setting = f"paper, steps={row[2].replace(',', '')}, num_test_lengths=47, strings_per_length=128"
        cell = task, names[model], setting
        record = records[cell]
        solved = sum(score >= 90 for score in scores[cell])
        assert row[3:6] == [f"{record['value']:.1f}", f"{record['published']:.1f}", str(solved)], cell
        assert record["members"] == len(scores[cell]) == 30
        shown.add(cell)
    (other,) = records.keys() - shown  # the longest run on Bucket Sort, of one learning rate: in the text
    assert other[0] == "bucket_sort"
    assert records[other]["members"] == 10


def test_the_bliss_table_is_that_of_the_records():
    names = {"LSTM": "lstm", "Stack-LSTM": "stack_lstm", "Baby-NTM": "baby_ntm"}
    found = best_by_cell("results.json", BLISS, "b_index")
    rows = tables(BLISS / "README.md")[1]
    for task, model, *cells in rows:
        name, _, order = model.partition(", strings in ")
        label = "paper, string_order=corpus" if order else "paper"
        kinds = ("epsilon=0.005", "epsilon=0.005 per_string", "epsilon=0")
        tolerant, per_string, strict = (found[task.strip("`"), names[name], f"{label} {kind}"] for kind in kinds)
        wanted = [tolerant["value"], tolerant["published"], per_string["value"], strict["value"], strict["published"]]
        if order:  # which the paper does not have as rows of their own
            wanted[1], wanted[4] = (found[task.strip("`"), names[name], f"paper {k}"]["published"] for k in kinds[::2])
        assert cells == wanted, (task, model)
    assert {(task, model) for task, model, *_ in rows} >= {
        (f"`{task}`", model) for task in {task for task, *_ in found} for model in names
    }


def test_the_pseudo_languages_table_is_that_of_the_records():
    found = {}
    for r in load("records.json"):
        if r["statistic"] == "max" and r["members"] == 30 and "sizes" not in r["setting"]:
            terminals = re.search(r"terminals=(\d+)", r["setting"])[1]  # pyright: ignore[reportOptionalSubscript]
            found[r["task"], terminals, r["model"], r["measure"]] = r
    task = terminals = ""
    checked = 0
    for row in tables(SYNTAX / "README.md")[0]:
        task, terminals = row[0].strip("`") or task, row[1] or terminals
        measure = {"in": "in_dist", "out": "out_of_dist"}[row[2]]
        for model, cell in zip(MODELS, row[3:7], strict=True):
            record = found.get((task, terminals, model, measure))
            wanted = f"{record['value']:.2f} ({record['published']:.2f})" if record else "–"
            assert cell == wanted, (task, terminals, model, measure)
            checked += 1
    assert checked == 4 * 2 * 2 * 4


def test_the_distances_between_columns_are_those_of_the_script(capsys: pytest.CaptureFixture[str]):
    script("columns", SYNTAX).main()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    between_printed = {frozenset(line[:2]): line[2:] for line in lines[1:7]}
    by_measure = {lines[7][0]: lines[8:12], lines[12][0]: lines[13:17]}
    _, printed, out, inside, *_ = tables(SYNTAX / "README.md")
    titles: dict[str, str] = dict(zip(("Encoder", "Decoder", "BiLSTM", "LSTM"), MODELS, strict=True))
    for pair, *distances in printed:
        assert distances == between_printed.pop(frozenset(titles[name] for name in pair.split(" and ")))
    assert not between_printed
    for measure, table in (("out_of_dist", out), ("in_dist", inside)):
        assert [row[1:] for row in table] == [line[1:] for line in by_measure[measure]]


def test_the_comparison_of_sizes_is_that_of_the_first_three_seeds():
    best = {}
    for c in load("curves.json"):
        first = [i for i, member in enumerate(c["scored"]) if member["seed"] < 3]
        size = "counted" if "sizes=counted" in c["setting"] else "stated"
        if c["task"] == "nested_dependency" and len(first) == 9:
            scores = [max(c["scores"][measure][i] for i in first) for measure in ("in_dist", "out_of_dist")]
            best[c["setting"].split("terminals=")[1].split(",")[0], size, c["model"]] = scores
    rows = [row for row in tables(SYNTAX / "README.md")[4] if not row[1].startswith("paper")]
    for terminals, size, *shown in rows:
        assert shown == ["{:.2f} / {:.2f}".format(*best[terminals, size, model]) for model in MODELS]
    assert len(rows) == 4
