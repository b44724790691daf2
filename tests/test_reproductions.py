"""Every number in the tables of the pages on the Chomsky suite and the pseudo-languages is on record."""

import json
import re
from typing import Any

import pytest
from pages import ROOT, filled, load, measured, script, tables, trained
from scipy.stats import binomtest, fisher_exact

from humboldt import published

CHOMSKY = ROOT / "reproductions" / "chomsky" / "README.md"
SYNTAX = ROOT / "reproductions" / "syntax" / "README.md"
MODELS = ("transformer_encoder", "transformer_decoder", "bilstm", "lstm")
TITLES: dict[str, str] = dict(zip(("Encoder", "Decoder", "BiLSTM", "LSTM"), MODELS, strict=True))


def steps_of(record: dict[str, Any]) -> int:
    """The number of training steps in the setting of a record."""
    (steps,) = re.findall(r"steps=([\d,]*\d)", record["setting"])
    return int(steps.replace(",", ""))


def test_the_chomsky_table_is_that_of_the_records():
    names = {"RNN": "rnn", "LSTM": "lstm", "Stack-RNN": "stack_rnn"}
    best = [r for r in measured("chomsky") if (r["statistic"], r["measure"]) == ("max", "score")]
    records = {(r["task"], r["model"], steps_of(r)): r for r in best}
    curves = {(c["task"], c["model"], c["settings"]["steps"]): c for c in trained("chomsky")}
    assert records.keys() == curves.keys() and len(records) == len(best) == 20
    table, *_ = tables(CHOMSKY)
    shown = set()
    for task, model, steps, *cells, seconds in filled(table, 2):
        cell = task, names[model], int(steps.replace(",", ""))
        record, scores = records[cell], curves[cell]["scores"]["score"]
        solved = sum(score >= 90 for score in scores)
        assert cells == [f"{record['value']:.1f}", f"{record['published']:.1f}", str(solved)], cell
        assert float(seconds.removesuffix(", shared")) == pytest.approx(curves[cell]["seconds"], abs=0.7)
        assert record["members"] == len(scores) == 30
        shown.add(cell)
    (other,) = records.keys() - shown  # the longest run on Bucket Sort, of one learning rate: in the text
    assert other[0] == "bucket_sort"
    assert records[other]["members"] == 10


def test_the_table_of_missing_duplicate_is_that_of_the_record():
    _, table, ours, _ = tables(CHOMSKY)  # all tables of the page are checked here; the last in test_findings.py
    lengths = ("10", "20", "30", "40", "41", "61", "81", "181", "500")
    wanted = []
    for record in load("reproductions/chomsky/missing_duplicate_released.json"):
        s = record["settings"]
        setting = ["released", s["hidden_size"], s["batch_size"], s["learning_rate"], f"{s['steps']:,}"]
        for network in record["networks"]:
            scores = [
                *(network["accuracy_per_length"][length] for length in lengths),
                network["mean_accuracy_above_40"],
            ]
            wanted.append([*map(str, setting), str(network["seed"]), *(f"{score:.1f}" for score in scores)])
    assert table == wanted
    solved = []
    for row, record in zip(ours, load("reproductions/chomsky/missing_duplicate_quick.json"), strict=True):
        scores = sorted(record["scores"]["score"])
        solved.append(sum(score >= 90 for score in scores))
        low, high = binomtest(solved[-1], len(scores)).proportion_ci(method="wilson")
        assert row[2:] == [
            ", ".join(f"{s:.1f}" for s in scores),
            f"{solved[-1]} of 10 ({100 * low:.0f}-{100 * high:.0f}%)",
        ]
        assert all(member["learning_rate"] == float(row[0]) for member in record["scored"])
    test: Any = fisher_exact([[met, 10 - met] for met in solved])
    assert f"p = {test.pvalue:.4f}" in CHOMSKY.read_text(encoding="utf-8")


def test_what_the_text_says_of_bucket_sort_is_on_record():
    text = " ".join(CHOMSKY.read_text(encoding="utf-8").split())
    curves = {c["settings"]["steps"]: c for c in trained("chomsky") if c["task"] == "bucket_sort"}
    curve = curves[25_000]["best"]["accuracy_per_length"]
    at = dict(zip(curve["lengths"], curve["accuracy"], strict=True))
    said = re.search(r"it falls off: (.*?)\.", text)
    assert said
    pairs = re.findall(r"(\d+)% at (\d+)", said[1])
    assert len(pairs) == 4
    assert all(round(100 * at[int(length)]) == int(percent) for percent, length in pairs)
    spans = re.search(
        r"have (\d+) to (\d+) after 10,000 steps, (\d+) to (\d+) after 25,000, and (\d+) to (\d+) after 40,000", text
    )
    assert spans
    for i, steps in enumerate((10_000, 25_000, 40_000)):
        scores = [
            score
            for member, score in zip(curves[steps]["scored"], curves[steps]["scores"]["score"], strict=True)
            if member["learning_rate"] == 5e-4
        ]
        assert len(scores) == 10
        assert [round(min(scores)), round(max(scores))] == [int(x) for x in spans.groups()[2 * i : 2 * i + 2]]


def test_the_pseudo_languages_table_is_that_of_the_records():
    found = {}
    for r in measured("syntax"):
        if r["statistic"] == "max" and r["members"] == 30 and "sizes" not in r["setting"]:
            terminals = re.search(r"terminals=(\d+)", r["setting"])[1]  # pyright: ignore[reportOptionalSubscript]
            found[r["task"], terminals, r["model"], r["measure"]] = r
    checked = 0
    for task, terminals, split, *cells, shortcut in filled(tables(SYNTAX)[0], 2):
        measure = {"in": "in_dist", "out": "out_of_dist"}[split]
        for model, cell in zip(MODELS, cells, strict=True):
            record = found[task, terminals, model, measure]
            assert cell == f"{record['value']:.2f} ({record['published']:.2f})", (task, terminals, model, measure)
            assert shortcut == f"{found[task, terminals, model, f'{measure}_shortcut']['value']:.2f}"
            checked += 1
    assert checked == 4 * 2 * 2 * 4


def test_the_distances_between_columns_are_those_of_the_script(capsys: pytest.CaptureFixture[str]):
    script("reproductions/syntax/columns.py").main()
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    between_printed = {frozenset(line[:2]): line[2:] for line in lines[1:7]}
    by_measure = {lines[9][0]: lines[10:14], lines[14][0]: lines[15:19]}
    _, printed, out, inside, *_ = tables(SYNTAX)
    for pair, *distances in printed:
        assert distances == between_printed.pop(frozenset(TITLES[name] for name in pair.split(" and ")))
    assert not between_printed
    text = " ".join(SYNTAX.read_text(encoding="utf-8").split())
    for line, form in zip(
        lines[7:9],
        (
            "in {} rows and farther in {} in distribution (sign test: p = {})",
            "in {} and {} out of distribution (p = {})",
        ),
        strict=True,
    ):
        nearer, farther, p = re.findall(r"(\d+) rows, farther: (\d+), sign test ([\d.]+),", " ".join(line))[0]
        assert form.format(nearer, farther, p) in text
    for measure, table in (("out_of_dist", out), ("in_dist", inside)):
        assert [row[1:] for row in table] == [line[1:] for line in by_measure[measure]]


def test_the_comparison_of_sizes_is_that_of_the_first_three_seeds():
    best = {}
    for c in trained("syntax"):
        first = [i for i, member in enumerate(c["scored"]) if member["seed"] < 3]
        size = c["settings"].get("sizes", "stated")
        if c["task"] == "nested_dependency" and len(first) == 9:
            scores = [max(c["scores"][measure][i] for i in first) for measure in ("in_dist", "out_of_dist")]
            best[str(c["settings"]["terminals"]), size, c["model"]] = scores
    for terminals in ("2", "100"):
        where = {
            "language": "nested_dependency",
            "terminals": terminals,
            "distribution": "zipf",
            "paper_table": "table_2",
        }
        for model in MODELS:
            printed = [
                published.lookup("syntax", "accuracy", architecture=model, split=s, **where)
                for s in ("in-dist", "out-of-dist")
            ]
            best[terminals, "paper (10 seeds)", model] = [float(value) for value in printed if value]
    rows = tables(SYNTAX)[4]
    for terminals, size, *shown in rows:
        assert shown == ["{:.2f} / {:.2f}".format(*best[terminals, size, model]) for model in MODELS]
    assert len(rows) == 6


def test_the_speed_of_the_classifiers_is_that_of_the_benchmark():
    text = (ROOT / "benchmarks" / "records" / "syntax_training-h200.jsonl").read_text(encoding="utf-8")
    decoder, place, records = json.JSONDecoder(), 0, {}
    while place < len(text.rstrip()):
        record, place = decoder.raw_decode(text, place)
        place += len(text[place:]) - len(text[place:].lstrip())
        records[record["model"], record["precision"]] = record
    *_, table = tables(SYNTAX)
    assert len(tables(SYNTAX)) == 6  # all of them are checked here
    for title, precision, members, *speeds in table:
        record = records[{"LSTM": "lstm", "Transformer encoder": "transformer_encoder"}[title], precision]
        together, alone = record["ensemble"], record["baseline_one_member"]
        assert int(members) == together["members"]
        wanted = (
            together["strings_per_second_per_member"],
            together["strings_per_second"],
            alone["strings_per_second"],
        )
        assert speeds == [f"{speed:,.0f}" for speed in wanted]


def test_the_shortcuts_are_those_of_the_record():
    names = {
        "length": "length",
        "length, odd or even": "length_parity",
        "bag of symbols": "bag",
        "first and last symbol": "first_last",
        "bigrams": "bigrams",
        "bag of categories": "category_bag",
        "first and last category": "category_first_last",
        "bigrams of categories": "category_bigrams",
        "products of category counts": "category_bag_quadratic",
    }
    found = {(entry["task"], str(entry["terminals"])): entry for entry in load("reproductions/syntax/shortcuts.json")}
    (table,) = (table for table in tables(ROOT / "docs" / "syntax.md") if table[0][0] == "length")
    languages = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")
    for classifier, terminals, *cells in filled(table, 1):
        for language, cell in zip(languages, cells, strict=True):
            accuracy = found[language, terminals]["accuracy"][names[classifier]]
            assert cell == "{test:.1f} / {long:.1f}".format(**accuracy), (classifier, terminals, language)
    best = [max(c[s] for c in e["accuracy"].values()) for e in found.values() for s in ("test", "long")]
    records = measured("syntax")
    assert {f"{r['value']:.2f}" for r in records if "_shortcut" in r["measure"]} <= {f"{value:.2f}" for value in best}
