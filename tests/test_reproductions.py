"""Numbers of the pages on the Chomsky suite and the pseudo-languages that are not generated are on record."""

import json
import re
from typing import Any

from pages import ROOT, load, measured, script, tables, trained
from scipy.stats import binomtest, fisher_exact

from humboldt import published

CHOMSKY = ROOT / "reproductions" / "chomsky" / "README.md"
SYNTAX = ROOT / "reproductions" / "syntax" / "README.md"
AUDITED = ("terminals=2, zipf", "terminals=100, zipf")
MODELS = ("transformer_encoder", "transformer_decoder", "bilstm", "lstm")


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
    of_lstm = [c for c in trained("chomsky") if (c["task"], c["model"]) == ("bucket_sort", "lstm")]
    curves = {c["settings"]["steps"]: c for c in of_lstm}
    curve = curves[25_000]["best"]["accuracy_per_length"]
    at = dict(zip(curve["lengths"], curve["accuracy"], strict=True))
    said = re.search(r"its accuracy falls with the length: (.*?)\.", text)
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


def test_what_the_text_says_of_the_columns_is_what_the_script_counts():
    columns = script("reproductions/syntax/columns.py")
    text = " ".join(SYNTAX.read_text(encoding="utf-8").split())
    for split, form in (
        ("in-dist", "in {} rows and farther in {} in distribution (sign test: p = {:.2f})"),
        ("out-of-dist", "in {} and {} out of distribution (p = {:.2f})"),
    ):
        nearer, farther = columns.nearer_to_bilstm(split)
        assert form.format(nearer, farther, binomtest(nearer, nearer + farther).pvalue) in text


def test_the_comparison_of_sizes_is_that_of_the_first_three_seeds():
    best = {}
    for c in trained("syntax"):
        first = [i for i, member in enumerate(c["scored"]) if member["seed"] < 3]
        size = c["settings"].get("sizes", "stated")
        is_zipf = c["settings"].get("distribution", "zipf") == "zipf"
        if c["task"] == "nested_dependency" and is_zipf and len(first) == 9:
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
    rows = tables(SYNTAX)[5]
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
    assert len(tables(SYNTAX)) == 7  # all of them are checked here
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


def test_shortcuts_of_members_are_those_of_the_audit():
    found = load("reproductions/syntax/shortcuts.json")
    best = [max(c[s] for c in e["accuracy"].values()) for e in found for s in ("test", "long")]
    records = [r for r in measured("syntax") if "_shortcut" in r["measure"] and r["setting"].endswith(AUDITED)]
    assert records and {f"{r['value']:.2f}" for r in records} <= {f"{value:.2f}" for value in best}
