"""Numbers of the page of the bias suite that are not generated are on record."""

import json
import statistics
from typing import Any

import pytest
from pages import ROOT, load, measured, script, tables
from scipy.stats import fisher_exact, ttest_1samp, ttest_rel

from humboldt.suites import suites
from humboldt.suites.cells import sort_results
from humboldt.suites.reading import stored

FOLDER = ROOT / "reproductions" / "bias"
PAGE = FOLDER / "README.md"
TEXT = " ".join(PAGE.read_text(encoding="utf-8").split())
CELLS = script("reproductions/bias/cells.py")


LENGTHS = next(table for table in tables(PAGE) if table and len(table[0]) == 9 and table[0][3].isdigit())


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def test_shares_that_are_on_record_only_as_printed():
    as_printed = {(cell["task"], cell["products"]) for cell in load("reproductions/bias/printed.json")["cells"]}
    shares = [share for share in CELLS.shares() if share.p and (share.task, share.precision) in as_printed]
    rare = [share for share in shares if share.p[100] < 0.01]
    assert {(share.model, share.task) for share in rare} == {("transformer", "hierarchical_or_linear")}
    page = " ".join((ROOT / "docs/reproduced.md").read_text(encoding="utf-8").split())
    assert "in two of its four trainings" in page and len(rare) == 2
    assert f"have {' and '.join(f'p = {share.p[100]:.1g}' for share in rare)} if all of the paper's" in page
    assert f"and {' and '.join(f'p = {share.p[70]:.2g}' for share in rare)} if 70% do" in page


def test_shares_without_the_empty_input_are_on_record():
    found = {
        (r["model"], r["measure"]): r["value"]
        for r in measured("bias")
        if (r["task"], r["statistic"]) == ("count_or_memorization", "share") and "l=10" in r["setting"]
    }
    for model, words in (("cnn_s2s", "the CNN follows `mem` in"), ("lstm_s2s_att", "the LSTM with attention in")):
        without, with_it = found[model, "FPA-mem, without empty outputs"], found[model, "FPA-mem"]
        assert f"{words} {without:.2f}" in TEXT and f"not {with_it:.2f}" in TEXT


def test_what_the_text_says_of_fairseqs_transformer_is_on_record():
    runs = [run for run in lines("fairseq_transformer.jsonl") if run["task"] == "hierarchical_or_linear"]
    fitting = [run for run in runs if run["right"] == run["examples"]]
    theirs = sum(run["hierar"] == run["inputs"] for run in fitting), len(fitting)
    shares = {
        share.precision: (share.agree, share.fit)
        for share in CELLS.shares()
        if (share.task, share.model, share.rule) == ("hierarchical_or_linear", "transformer", "hierar")
    }
    (ours, fit), printed = shares["float32"], (69, 100)
    for words, first, second in (
        (f"({ours} of {fit}; Fisher's exact test: p = ", (ours, fit), theirs),
        ("and the paper's (p = ", printed, theirs),  # if all of the paper's seeds fit
        (f"({shares['tf32'][0]} of {shares['tf32'][1]} beside {ours} of {fit}, p = ", shares["tf32"], (ours, fit)),
    ):
        table = [[agree, total - agree] for agree, total in (first, second)]
        assert f"{words}{fisher_exact(table)[1]:.2f})" in TEXT
    smallest = min(float(fisher_exact([[a, n - a], [theirs[0], theirs[1] - theirs[0]]])[1]) for a, n in shares.values())  # pyright: ignore
    assert len(shares) == 4 and f"(smallest p = {smallest:.2f})" in TEXT
    assert f"its share, {theirs[0] / theirs[1]:.2f}, lies between" in TEXT


def test_what_the_text_says_of_description_lengths_is_on_record():
    cells = {tuple(row[:3]) for row in LENGTHS}
    assert len(cells) >= 7
    p = {
        r["model"]: r["value"]
        for r in measured("bias")
        if (r["task"], r["statistic"], r["measure"][:2]) == ("composition_or_memorization", "p", "L-")
    }
    assert f"`mem` in ours (p = {p['lstm_s2s_no_att']:.4f})" in TEXT
    assert f"in ours (p = {p['lstm_s2s_att']:.2f}, 50 seeds)" in TEXT
    for cell in cells:  # where the paper stars a rule, it has our lowest length, too
        rows = [row for row in LENGTHS if tuple(row[:3]) == cell]
        lowest = min(rows, key=lambda row: float(row[5]))
        assert all(row == lowest for row in rows if row[7].endswith("*"))
    fitting = {
        r["model"]: r["value"] for r in measured("bias") if (r["measure"], r["statistic"]) == ("L-hierar", "fitting")
    }
    (shown,) = (row[5] for row in LENGTHS if (row[2], row[4]) == ("Transformer", "hierar"))
    assert f"it is {fitting['transformer']:.2f} nats, with them {shown}" in TEXT


def test_what_adam_remembers_is_on_record():
    runs = lines("fairseq_lengths.jsonl")
    assert {(run["model"], run["task"]) for run in runs} == {("lstm_s2s_no_att", "composition_or_memorization")}

    def bits(hidden: int, moments: str, rule: str) -> list[float]:
        own = [run for run in runs if (run["hidden"], run["moments"]) == (hidden, moments)]
        return [sum(run[f"bits_{rule}"]) for run in sorted(own, key=lambda run: run["seed"])]

    differences = []
    for rule in ("comp", "mem"):
        kept, fresh = bits(128, "kept", rule), bits(128, "fresh", rule)
        assert all(a > b for a, b in zip(kept, fresh, strict=True))  # "in ... of ... seeds"
        differences.append(f"{statistics.mean(kept) - statistics.mean(fresh):.0f}")
        p: Any = ttest_rel(kept, fresh).pvalue
        assert f"p = {p:.2g} for `{rule}`" in TEXT
    assert f"by {' and '.join(differences)} bits" in TEXT


def test_what_the_text_says_of_scan_is_on_record():
    (cnn,) = (
        e
        for e in lines("members.jsonl")
        if e["training"]["model"] == "cnn_s2s" and e["training"]["task"] == "scan_jump"
    )
    composed = [result["measures"]["accuracy_comp"] for result in cnn["results"]]
    assert f"({min(composed):.3f} to {max(composed):.3f} in the five seeds)" in TEXT
    p: Any = ttest_1samp(composed, 0.14)[1]
    assert f"t-test of the five seeds against it: p = {p:.2g})" in TEXT


def test_the_speed_is_on_record():
    record = load("reproductions/bias/speed.json")
    assert sum("58.5/s" in line for line in record["said"]) == 2 and "58.5 updates a second" in TEXT
    assert record["said"][-1].endswith("1 min 34 s [1 of 1 experiment finished]")
    assert f"and {record['seconds_of_the_experiment']} s for the experiment" in TEXT
    assert f"The whole command took {record['seconds_of_the_command']} s" in TEXT
    without, with_attention, longest = (
        next(run["seconds"] for run in record["lengths"]["runs"] if (run["task"][:3], run["model"]) == (task, model))
        for task, model in (("com", "lstm_s2s_no_att"), ("com", "lstm_s2s_att"), ("add", "lstm_s2s_no_att"))
    )
    assert f"(M = 36, 50 seeds) {without} s, with attention {with_attention} s" in TEXT
    assert f"(l = 20, 20 seeds) without attention {longest} s" in TEXT
    again = record["retrainings"]
    update, loops = statistics.median(again["milliseconds_per_update"]), again["products_in_the_loops"]
    assert f"take {update:.1f} ms for an update. {loops['milliseconds_per_update']:.1f} ms of that" in TEXT
    read = loops["calls"] * loops["bytes_read_by_a_call"] / loops["milliseconds_per_update"] / 1e9
    assert f"{read:.1f} TB a second" in TEXT
    assert f"about {update / 1000 * 1500 / 160 * 3000 / 60:.0f} minutes for each LSTM" in TEXT


@pytest.mark.parametrize(("model", "said"), [("lstm_s2s_att", "–"), ("transformer", "hierar"), ("cnn_s2s", "linear")])
def test_a_rule_that_few_follow_is_nobodys_preference(model: str, said: str):
    """20 of 100 LSTMs follow the hierarchical rule, and the others none."""
    suite = suites.get("bias")
    found = sort_results(suite, stored(ROOT / "reproductions", "bias")).cells.values()
    cells = [c for cells in found for c in cells if (c.task, c.model) == ("hierarchical_or_linear", model)]
    assert cells and {suite.presentation.overview([cell]).text for cell in cells} == {said}  # pyright: ignore


def test_all_runs_with_and_without_the_filling_are_on_the_page():
    (table,) = [t for t in tables(PAGE) if t and t[0][0] == "ours, products in single precision"]
    shown = {tuple(row) for row in table}
    finding = " ".join((ROOT / "docs" / "findings.md").read_text(encoding="utf-8").split())
    measured = load("reproductions/bias/vocabulary.json")
    for fits in (r for r in measured if (r["measure"], r["model"]) == ("fits", "lstm_s2s_no_att")):
        precision = "single precision" if fits["matmul_precision"] == "highest" else "TF32"
        fit = round(fits["value"] * fits["members"])
        size = "2" if "symbols" in fits["setting"] else "8, as in fairseq"
        counting = next(
            round(r["value"] * r["members"])
            for r in measured[measured.index(fits) :]
            if (r["measure"], r["members"]) == ("FPA-count", fit)
        )
        row = f"ours, products in {precision}", size, f"{fit} of {fits['members']}", f"{counting} of {fit}"
        assert row in shown and f"{counting} of {fit}" in finding
    for run in load("reproductions/bias/longer.json")["runs"]:
        assert any(
            row[1][0] == ("2" if run["vocabulary"] == "symbols" else "8")
            and ("128 units" in row[0]) == (run["hidden_size"] == 128)
            and (f"{run['updates']:,} updates" in row[0]) == (run["updates"] > 3000)
            and row[2:] == (f"{run['fit']} of {run['seeds']}", f"{run['count']} of {run['fit']}")
            for row in shown
        )
    plain = lines("plain_lstm.jsonl")
    for vocabulary, words in ((2, "{} to {}"), (8, "{} to {}")):
        losses = [run["loss"][-1] for run in plain if run["vocabulary"] == vocabulary]
        places = 2 if vocabulary == 2 else 3
        assert words.format(f"{min(losses):.{places}f}", f"{max(losses):.{places}f}") in finding
        assert words.format(f"{min(losses):.{places}f}", f"{max(losses):.{places}f}") in TEXT
    for counts, words in ((([16, 0], [0, 10]), "p = {:.0e}"), (([6, 0], [0, 3]), "p = {:.2g}")):
        assert words.format(float(fisher_exact(counts)[1])) in finding  # pyright: ignore[reportArgumentType]
        assert words.format(float(fisher_exact(counts)[1])) in TEXT  # pyright: ignore[reportArgumentType]
