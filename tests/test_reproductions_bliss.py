"""Every number in the tables of the pages on BLISS and on networks by description length is on record."""

import csv
import json
import re
from typing import Any

import pytest
from pages import ROOT, filled, load, script, tables

from humboldt import published
from humboldt.languages.bliss import get
from humboldt.mdl import WIDE_ACTIVATIONS, Network, NetworkStepper, PlainStepper, description_length
from humboldt.mdl.proofs import Proved, prove
from humboldt.measures.bliss import evaluate
from humboldt.training.engines.search import ROWS

BLISS = ROOT / "reproductions" / "bliss" / "README.md"
MDL = ROOT / "reproductions" / "bliss" / "mdlrnn" / "README.md"
DOCS = ROOT / "docs" / "bliss.md"
NAMES = {"LSTM": "lstm", "Stack-LSTM": "stack_lstm", "Baby-NTM": "baby_ntm"}
LANGUAGES = {
    "a^n b^n": "an_bn",
    "a^n b^n c^n": "an_bn_cn",
    "a^n b^n c^n d^n": "an_bn_cn_dn",
    "a^n b^m c^(n+m)": "an_bm_cn_plus_m",
    "Dyck-1": "dyck_1",
    "Dyck-2": "dyck_2",
}


def records(measure: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    found = [r for r in load("reproductions/bliss/results.json") if r["measure"] == measure]
    return {(r["task"], r["model"], r["setting"]): r for r in found}


def three(network: dict[str, float]) -> str:
    """As the pages write a description length."""
    return f"{network['mdl']:.1f} = {network['grammar_bits']:.0f} + {network['data_bits']:.1f}"


def plain(rows: list[list[str]]) -> list[list[str]]:
    return [[cell.replace("**", "").replace("`", "") for cell in row] for row in rows]


def test_the_script_reads_the_records_as_plain_lookup_does():
    rows = script("reproductions/bliss/table_2.py").rows()
    found = records("b_index")
    shown = {(row[0], row[1].partition(",")[0]) for row in plain(rows)}
    assert shown == {(task, title) for task, *_ in found for title in NAMES}
    for row in plain(rows):  # what is held by the script's own reading, once more by plain lookup
        if "," not in row[1]:
            kinds = ("epsilon=0.005", "epsilon=0.005 per_string", "epsilon=0")
            tolerant, per_string, strict = (found[row[0], NAMES[row[1]], f"paper {kind}"] for kind in kinds)
            wanted = [
                tolerant["value"],
                tolerant["published"],
                per_string["value"],
                strict["value"],
                strict["published"],
            ]
            assert [row[2], row[3], row[5], row[6], row[7]] == wanted


def test_intervals_and_the_comparison_of_orders():
    table_2 = script("reproductions/bliss/table_2.py")
    assert table_2.interval(0, 20) == "0 of 20 (0-16%)"  # Wilson: z² / (n + z²) with z = 1.96
    assert table_2.interval(3, 12) == "3 of 12 (9-53%)"
    assert all(row[1].split(" (")[0].endswith("of 20") for row in table_2.orders())


def test_the_members_run_are_those_of_the_records():
    found = records("b_index")
    members = {
        name: {
            task: r["members"]
            for (task, model, setting), r in found.items()
            if (model, setting) == (name, "paper epsilon=0")
        }
        for name in NAMES.values()
    }
    lstm, stack, ntm = (row[-1] for row in tables(BLISS)[0])
    assert lstm == "252 on those two, 180 on the others"
    assert members["lstm"] == {task: 252 if task in ("an_bn", "dyck_1") else 180 for task in LANGUAGES.values()}
    assert stack == f"{min(members['stack_lstm'].values())} to {max(members['stack_lstm'].values())} per language"
    assert ntm == f"{min(members['baby_ntm'].values())} per language"
    assert len(set(members["baby_ntm"].values())) == 1


def test_the_two_orders_of_strings_are_those_of_the_records():
    found = records("b_index")
    for task, model, *cells in filled(tables(BLISS)[2], 1):
        both = [f"{{}} epsilon={margin}" for margin in ("0.005", "0")]
        wanted = [
            " / ".join(found[task, NAMES[model], kind.format(label)]["value"] for kind in both)
            for label in ("paper", "paper, string_order=corpus")
        ]
        wanted.append(" / ".join(found[task, NAMES[model], kind.format("paper")]["published"] for kind in both))
        assert cells == wanted, (task, model)


def test_figure_3_is_that_of_the_records():
    largest = records("largest_n")
    corpora = script("reproductions/bliss/test_sets.py")
    *_, figure = tables(BLISS)
    for title, *values in figure:
        for size, value in zip((1000, 500, 250, 100), values, strict=True):
            if title == "largest n in training":
                assert int(value) == corpora.row("an_bn", 1000 // size)["longest_train"] // 2
                continue
            name = title.removesuffix(", corpus's order")
            label = "paper, string_order=corpus" if "corpus" in title else "paper"
            assert int(value) == largest["an_bn", NAMES[name], f"{label} train_size={size}"]["value"]
    with (BLISS.parent / "figure_3.csv").open() as file:
        for row in csv.DictReader(file):
            record = largest["an_bn", row["model"], f"{row['label']} train_size={row['train_size']}"]
            assert (int(row["largest_n"]), int(row["members"])) == (record["value"], record["members"])


def test_how_far_test_strings_go_is_what_the_languages_give():
    rows = {(row["language"], str(row["train_size"])): row for row in script("reproductions/bliss/test_sets.py").rows()}
    with (BLISS.parent / "test_sets.csv").open() as file:
        assert list(csv.DictReader(file)) == [
            {name: str(row.get(name, "")) for name in script("reproductions/bliss/test_sets.py").COLUMNS}
            for row in rows.values()
        ]
    (table,) = (table for table in tables(DOCS) if len(table[0]) == 7 and table[0][:2] == ["an_bn", "1000"])
    for language, size, longest, reach, longer, deepest, test_deepest in filled(table, 1):
        row = rows[language, size]
        assert longest == str(row["longest_train"])
        assert reach == f"{row['shortest_test']} to {row['longest_test']}"
        assert longer == f"{row['longer_than_train']} of {1_000_000 // int(size)}"
        assert (deepest, test_deepest) == (str(row.get("deepest_train", "")), str(row.get("deepest_test", "")))


def test_the_table_of_batches_is_that_of_the_records():
    largest, excess = records("largest_n"), records("excess_bits")
    (table,) = (table for table in tables(DOCS) if table[0][:2] == ["Stack-LSTM", "1 (paper)"])
    for model, batch, epochs, members, reached, bits in filled(table, 1):
        label = {"1 (paper)": "paper", "10": "paper, batch_size=10"}[batch]
        label = label if epochs != "500" else "paper, epochs=500, batch_size=10"
        key = "an_bn", NAMES[model], f"{label} train_size=1000"
        assert [members, reached] == [str(largest[key]["members"]), str(largest[key]["value"])]
        assert bits == f"{excess[key]['value']:.4f}"


def test_the_networks_found_are_those_of_the_records():
    found = {r["name"]: r for r in load("reproductions/bliss/mdlrnn/results.json")}
    assert len(tables(MDL)) == 6  # the last is that of the searches not looked at before
    table = tables(MDL)[1]
    assert [row[0] for row in table] == sorted(found)
    for name, length, known, generation, b, met in table:
        record = found[name]
        assert length == three(record["measures"])
        beside = record["known"]
        assert known == (f"{beside['mdl']:.1f} = {beside['grammar']} + {beside['data']:.1f}" if beside else "none")
        assert beside is None or beside["met"]  # as the text says
        search = record["search"]
        assert generation == f"{search['found_at_generation']:,} of {search['generations']:,}"
        assert (b, met) == (str(record["factor"]), "yes" if record["measures"]["met_0"] else "no")
    longest = re.search(r"longest search here took (\d+) seconds", MDL.read_text(encoding="utf-8"))
    assert longest and int(longest[1]) == int(max(record["seconds"] for record in found.values()))


def test_both_choices_among_searches_follow_from_the_records():
    searches = [r for r in load("reproductions/bliss/mdlrnn/results.json") if "_wide_" not in r["name"]]
    for language, paper, best, shortest, strings, count in filled(tables(MDL)[0], 4):
        task = LANGUAGES[language]
        cells: dict[int, list[dict[str, Any]]] = {}
        for search in searches:
            if search["name"].startswith(f"{task}_{1000 // search['factor']}_"):
                cells.setdefault(search["factor"], []).append(search)
        met = {factor: [bool(s["measures"]["met_0"]) for s in cell] for factor, cell in cells.items()}
        by_length = {f: min(cell, key=lambda s: s["measures"]["mdl"])["measures"]["met_0"] for f, cell in cells.items()}
        assert best == str(max((f for f in met if any(met[f])), default="<1"))
        assert shortest == str(max((f for f in by_length if by_length[f]), default="<1"))
        here = met[1000 // int(strings)]
        assert count == f"{sum(here)} of {len(here)}"
        assert paper == published.lookup("bliss", "b_index", language=task, model="mdlrnn", epsilon="0")


def test_the_authors_networks_are_those_of_the_record():
    record = load("reproductions/bliss/mdlrnn/authors.json")
    networks = {(n["task"], str(n["train_size"])): n for n in record["networks"]}
    found = load("reproductions/bliss/mdlrnn/results.json")
    for strings, length, hand_built, shortest, b, met in tables(MDL)[2]:
        network = networks["an_bm_cn_plus_m", strings]
        here = [r for r in found if r["name"].startswith(f"an_bm_cn_plus_m_{strings}_")]
        assert length == three(network)
        assert hand_built == f"{here[0]['known']['mdl']:.1f}"
        assert shortest == f"{min(r['measures']['mdl'] for r in here):.1f}"
        assert (b, met) == (str(network["factor"]), "yes" if network["met_0"] else "no")
    for task, size, name in (
        ("an_bn", "100", "an_bn_100_paper_seed_100"),
        ("dyck_1", "500", "dyck_1_500_paper_seed_100"),
    ):
        known = next(r["known"] for r in found if r["name"] == name)  # the released files are the known networks
        assert networks[task, size]["mdl"] == pytest.approx(known["mdl"], abs=1e-9)


def test_the_networks_with_the_wide_set_of_activations_are_as_said():
    wide = script("reproductions/bliss/mdlrnn/wide.py")
    searches: dict[str, list[dict[str, Any]]] = {}
    for search in load("reproductions/bliss/mdlrnn/authors.json")["searches_of_2022"]:
        searches.setdefault(search["task"], []).append(search)
    previous = ""
    for title, here, theirs, right in tables(MDL)[3]:
        task = LANGUAGES[title.partition(" (")[0]]
        seed = re.search(r"seed (\d+)", title)
        assert seed
        if task == "dyck_1":
            record = next(r for r in load("reproductions/bliss/mdlrnn/results.json") if "_wide_" in r["name"])
            assert (here, right) == (three(record["measures"]), "meets the criterion for b = 10")
            assert record["measures"]["met_0"] and record["factor"] == 10
        else:
            network = Network.load(MDL.parent / f"{task}_100_wide_seed_{seed[1]}.json")
            letters = wide.LETTERS[task]
            length = description_length(network, wide.corpus(letters), WIDE_ACTIVATIONS)
            assert here == f"{length.total:.1f} = {length.grammar} + {length.data:.1f}"
            language = get(task)
            found = evaluate(
                language.test_set(after=0, count=1000), NetworkStepper(network), epsilons=(0.0,), most_rows=ROWS
            )
            reached = found.score(language.measure, 0.0).largest_accepted
            assert right == ("for every n up to 1,000" if reached == 1000 else f"no: wrong from n = {reached + 1} on")
        assert theirs == ("" if task == previous else three(searches[task][0]))
        previous = task
    text = " ".join(MDL.read_text(encoding="utf-8").split())
    said = re.search(
        r"gave ([\d.]+), ([\d.]+) and ([\d.]+), with deterministic test accuracies of ([\d.]+), ([\d.]+) and (0\.\d+)",
        text,
    )
    assert said
    assert list(said.groups()) == [f"{s['mdl']:.1f}" for s in searches["an_bn_cn"]] + [
        f"{s['accuracy']:.3f}" for s in searches["an_bn_cn"]
    ]


def test_a_network_with_thirds_drifts_as_the_page_says():
    stepper = PlainStepper(Network.load(MDL.parent / "an_bn_cn_100_paper_seed_100.json"))
    for n, said in ((10, "9e-13"), (10_020, "6e-07")):
        state, distribution = stepper.init_state(), None
        for symbol in (0, *([1] * n), *([2] * n), *([3] * (n - 1))):
            state, distribution = stepper.step(state, symbol)
        assert distribution is not None
        assert f"{distribution[0]:.0e}" == said


def test_the_networks_of_the_authors_are_proved_as_the_page_says():
    verdicts = {row["task"]: row for row in load("reproductions/bliss/mdlrnn/authors.json")["verdicts"]}
    assert set(verdicts) == {"an_bn", "an_bn_cn", "an_bm_cn_plus_m", "dyck_1"}
    assert {row["verdict"] for row in verdicts.values()} == {"Proved"}
    text = " ".join(MDL.read_text().split())
    assert f"at most {max(row['cpu_seconds'] for row in verdicts.values())} s each" in text
    assert f"only up to n = {verdicts['an_bn_cn']['float_size']:,}" in text


def test_the_verdicts_on_new_searches_are_those_of_the_record():
    found = load("reproductions/bliss/mdlrnn/unseen/verdicts.json")
    searches = load("reproductions/bliss/mdlrnn/unseen/searches.json")
    table = tables(MDL)[-1]
    assert len(table) == len(found) == len(searches) == 10
    for network, bits, verdict in table:
        name = "{}_100_paper_seed_{}".format(*network.split(", seed "))
        assert bits == f"{searches[name]['mdl']:.1f}"
        wrong = found[name].get("first_wrong_n")
        assert verdict == ("proved" if found[name]["verdict"] == "Proved" else f"first wrong at n = {wrong}")
        assert found[name]["first_float_mistake_n"] == wrong
        assert found[name]["prove_cpu_seconds"] < 5


@pytest.fixture(scope="module")
def sixty():
    return load("reproductions/bliss/mdlrnn/table_2.json")["searches"]


def test_what_the_text_says_of_all_corpus_sizes_is_on_record(sixty):
    met = [search for search in sixty if search["measures"]["met_0"]]
    unknown = [search for search in met if search["proofs"]["0"]["verdict"] == "Unknown"]
    assert f"{len(unknown)} of the {len(met)} networks that meet the criterion are not" in MDL.read_text(
        encoding="utf-8"
    )
    assert all(s["measures"]["met_0"] for s in sixty if s["proofs"]["0"]["verdict"] == "Proved")


@pytest.mark.parametrize("task", ["an_bm_cn_plus_m", "an_bn", "dyck_1"])
def test_what_was_proved_where_it_was_found_is_proved_here(sixty, task):
    """Of the languages whose networks are quickly decided; the record was made on another machine."""
    for search in sixty:
        if search["task"] == task and search["proofs"]["0"]["verdict"] == "Proved":
            network = Network.from_json(json.dumps(search["network"]))
            assert isinstance(prove(network, task), Proved)
