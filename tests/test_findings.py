"""What the page of findings says is what its scripts and records give."""

import json
import math
import re
from typing import Any

from pages import ROOT, load, script, tables
from scipy.stats import fisher_exact, mannwhitneyu

from humboldt import published
from humboldt.suites.agreement_rules import RULES

TEXT = " ".join((ROOT / "docs" / "findings.md").read_text(encoding="utf-8").split())


def test_what_the_printed_tables_say_of_themselves():
    printed = script("reproductions/printed_tables.py")
    repeated, cells = printed.repeated_syntax_cells()
    assert repeated == cells
    assert f"All {cells} accuracies" in TEXT
    quartered, cells = printed.quartered_cells()
    assert quartered == cells
    assert f"All {cells} non-zero description lengths" in TEXT
    above = printed.means_above_maxima()
    assert len(above) == 2
    for task, model, mean, best in above:
        names = {
            "compute_sqrt": "Compute Sqrt",
            "bucket_sort": "Bucket Sort",
            "lstm": "LSTM",
            "transformer": "Transformer",
        }
        assert f"{names[task]}, {names[model]}, {mean} above {best}" in TEXT


def test_weights_by_size_are_those_of_the_page_on_syntax():
    printed = script("reproductions/printed_tables.py")
    page = (ROOT / "docs" / "syntax.md").read_text(encoding="utf-8")
    for count in (
        printed.recurrent_weights(256, 256),
        printed.recurrent_weights(256, 256, layers=2),
        printed.recurrent_weights(128, 128, directions=2),
        printed.recurrent_weights(128, 256, directions=2),
        printed.transformer_weights(128, 1024, 3),
        printed.transformer_weights(128, 1024, 4),
    ):
        assert f"| {count:,} |" in page


def test_members_that_meet_the_lenient_criterion_on_an_bn_without_counting():
    entries = [e for e in load("reproductions/bliss/met.json") if e["task"] == "an_bn"]
    lstms = [e for e in entries if e["model"] == "lstm"]
    corpus_order = [
        e for e in entries if e["model"] == "stack_lstm" and "corpus" in e["setting"] and e["train_size"] == 100
    ]
    assert len(lstms) == 12
    assert len(corpus_order) == 1
    for entry in lstms + corpus_order:
        (score,) = (s for s in entry["scores"] if s["measure"] == "M_det")
        assert score["errors"] == 1_000_000 // entry["train_size"]  # as many as there are test strings


def test_the_distances_between_columns():
    columns = script("reproductions/syntax/columns.py")
    between = columns.printed_distances()
    encoder = between["transformer_encoder", "transformer_decoder"]
    bilstm = between["transformer_decoder", "bilstm"]
    assert f"{bilstm[0]:.1f} points (in distribution) and {bilstm[1]:.1f} (out) from the BiLSTM" in TEXT
    assert f"{encoder[0]:.1f} and {encoder[1]:.1f} from the Encoder" in TEXT
    for split, name in (("in-dist", "in distribution"), ("out-of-dist", "rows out of distribution")):
        nearer, farther = columns.nearer_to_bilstm(split)
        assert f"in {nearer} of {nearer + farther} {name}" in TEXT


def test_the_networks_for_three_letters():
    found = {r["name"]: r for r in load("reproductions/bliss/mdlrnn/results.json")}
    wrong, known = found["an_bn_cn_100_paper_seed_101"], found["an_bn_cn_100_paper_seed_100"]["known"]
    right = load("reproductions/bliss/mdlrnn/unseen/searches.json")["an_bn_cn_100_paper_seed_204"]
    verdicts = load("reproductions/bliss/mdlrnn/unseen/verdicts.json")
    assert verdicts["an_bn_cn_100_paper_seed_204"]["verdict"] == "Proved"
    assert wrong["measures"]["mdl"] < right["mdl"] < known["mdl"]
    others = [
        r["measures"]["mdl"] for n, r in found.items() if n.startswith("an_bn_cn_100_p") and r["measures"]["met_0"]
    ]
    assert min(others) > known["mdl"]  # of all right ones these two are the shortest
    for length in (wrong["measures"]["mdl"], right["mdl"], known["mdl"]):
        assert f"{length:.1f}" in TEXT
    assert wrong["measures"]["largest_n"] == 14


def test_the_runs_behind_the_findings_are_on_record():
    chomsky = load("reproductions/chomsky/findings.json")["experiments"]
    page = " ".join((ROOT / "reproductions/chomsky/README.md").read_text(encoding="utf-8").split())
    arms = [one for one in chomsky if one["model"] == "ndstack_rnn"]
    assert all(", ".join(f"{score:.1f}" for score in one["scores"]["score"]) in page for one in arms)
    ten = [one["scores"]["score"] for one in arms if one["task"] == "reverse_string" and one["members"] == 10]
    assert [sum(score >= 90 for score in scores) for scores in ten] == [6, 0]
    p: Any = fisher_exact([[6, 4], [0, 10]])[1]
    assert round(p, 3) == 0.011 and "p = 0.011" in page and "p = 0.011" in TEXT
    stack = [one["scores"]["score"] for one in arms if one["task"] == "stack_manipulation"]
    assert max(max(scores) for scores in stack) < 90
    assert round(mannwhitneyu(*stack).pvalue, 3) == 0.056 and "p = 0.056" in page and "p = 0.056" in TEXT
    relu = next(one["scores"]["score"] for one in chomsky if one["model"] == "lstm")
    assert f"{min(relu):.1f} to {max(relu):.1f} with it" in page
    large = next(one["scores"]["score"] for one in chomsky if one["task"] == "missing_duplicate")
    assert f"{min(large):.1f} to {max(large):.1f}" in page and f"{min(large):.1f} to {max(large):.1f}" in TEXT
    text = " ".join((ROOT / "reproductions/syntax/README.md").read_text(encoding="utf-8").split())
    for one in load("reproductions/syntax/dropout.json")["experiments"]:
        assert f"{max(one['scores']['in_dist']):.2f} / {max(one['scores']['out_of_dist']):.2f}" in text


def test_the_example_of_a_description_length_is_on_record():
    (cnn,) = (
        row
        for row in script("reproductions/bias/cells.py").lengths()
        if (row[0], row[2], row[4]) == ("hierarchical_or_linear", "CNN-s2s", "hierar")
    )
    nats, bits, paper = cnn[5], cnn[6].split()[0], cnn[7]
    assert f"is {nats} nats or {bits} bits; the paper prints {paper}" in TEXT


def test_the_rates_of_lstms2s_are_on_record():
    rows = tables(ROOT / "reproductions/pcfg_set/README.md")[0]
    means = {(test, model, "rate=1" in changes): ours.split()[0] for test, model, _, changes, ours, *_ in rows}
    assert [
        means[place]
        for place in (
            ("task_accuracy", "LSTMS2S", False),
            ("task_accuracy", "LSTMS2S", True),
            ("task_accuracy", "ConvS2S", False),
            ("localism", "LSTMS2S", True),
        )
    ] == ["0.905", "0.769", "0.836", "0.442"]
    assert all(mean in TEXT for mean in ("0.905", "0.769", "0.836", "0.442"))


def test_what_adam_remembers_is_what_the_page_of_the_suite_says():
    page = " ".join((ROOT / "reproductions/bias/README.md").read_text(encoding="utf-8").split())
    (found,) = re.findall(r"in (\w+) of \w+ seeds and for both rules, by (\d+) and (\d+) bits", page)
    p = re.findall(r"p = ([\d.]+) for `(?:comp|mem)`", page)
    assert f"with {found[0]} seeds: {found[1]} bits more for one rule and {found[2]} for the other" in TEXT
    assert f"(paired t-test: p = {p[0]} and p = {p[1]})" in TEXT


def test_the_papers_70_percent_does_not_describe_its_own_shares():
    cells = script("reproductions/bias/cells.py")
    own = {s.fit for s in cells.shares() if (s.task, s.model) == ("composition_or_memorization", "transformer")}
    assert 9 in own and "only 9 of 100 all 76 examples of composition_or_memorization" in TEXT
    page = " ".join((ROOT / "reproductions/bias/README.md").read_text(encoding="utf-8").split())
    p: Any = fisher_exact([[9, 91], [70, 30]])[1]
    assert f"p = {p:.0e}" in TEXT and f"p = {p:.0e}" in page
    printed = [
        row
        for row in published.rows("bias")
        if (row["paper_table"], row["parameter_value"], row["model"]) == ("table_3d", "1", "transformer")
    ]
    assert printed and all(row["value"] for row in printed)  # not a dash
    few = {place[:3]: place[3:] for place in script("reproductions/printed_tables.py").shares_of_few_learners()}
    assert few == {("table_4a", "transformer", "128"): (0.91, [11, 12]), ("table_6a", "cnn_s2s", "0.2"): (0.98, [])}
    one = published.lookup(
        "bias", "value", paper_table="table_8", task="composition_or_memorization", rule="comp", metric="FPA"
    )
    assert one == "0.10"  # "only 1 seed generalized perfectly to the comp rule"
    changed = lines("reproductions/bias/fairseq_changes.jsonl")
    for changes, all_fit in (({"updates": 10000.0}, True), ({"dropout": 0.2}, True), ({"normalise_first": 1.0}, False)):
        runs = [run["right"] == run["examples"] for run in changed if run["changes"] == changes]
        assert len(runs) >= 2 and (all(runs) if all_fit else not any(runs))
    plain = [run for run in lines("reproductions/bias/fairseq_transformer.jsonl") if run["task"] in printed[0]["task"]]
    fit = sum(run["right"] == run["examples"] for run in plain)
    against: list[Any] = [fisher_exact([[fit, 20 - fit], other])[1] for other in ([14, 6], [9, 91])]
    assert len(plain) == 20 and f"of fairseq's own Transformer {fit} of 20 fit it" in TEXT
    assert f"20 seeds of fairseq's own (against 14 of 20: p = {against[0]:.2f})" in TEXT
    assert f"Of fairseq's own Transformer {fit} of 20 fit it" in page
    assert f"against 14 of 20: p = {against[0]:.2f}, against ours: p = {against[1]:.2f}" in page
    assert f"have at least {min(run['right'] for run in plain)} of the 76 right" in page


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / path).read_text(encoding="utf-8").splitlines()]


def test_the_unit_of_lengths_is_as_large_as_what_adam_remembers():
    """So that numbers alone cannot say which of the two it is."""
    (shown,) = (one for one in tables(ROOT / "reproductions/bias/README.md") if one and one[0][:2] == ["fresh", "128"])
    moments = {(row[0], row[1]): row[3:] for row in shown}
    ratios = [
        float(kept) / float(fresh) for kept, fresh in zip(moments["kept", "128"], moments["fresh", "128"], strict=True)
    ]
    assert (
        f"{ratios[0]:.2f} and {ratios[1]:.2f} times as large" in TEXT
        and f"bits are {1 / math.log(2):.2f} times nats" in TEXT
    )


def test_every_correction_is_listed():
    listed = TEXT[TEXT.index("## What we got wrong before") :]
    for words in ("decide", "70%", "21 and 51", "p < 0.01", "Figure 3", "SCAN", "Table 3", "primitive", "second beta"):
        assert words in listed
    repeated = sum(rule.repeats(row) for suite, rule in RULES.items() for row in published.rows(suite))
    assert f"{repeated} of these are printed twice" in listed
