"""The numbers in the page are those of the records."""

import json
import re

from pages import ROOT, script

from humboldt import published

PAGE = (ROOT / "docs/pcfg_set.md").read_text()
SEEDS = json.loads((ROOT / "reproductions/pcfg_set/corpus.json").read_text())
FIRST_VERSION = json.loads((ROOT / "reproductions/pcfg_set/corpus_version_1.json").read_text())
RELEASED = json.loads((ROOT / "reproductions/pcfg_set/released_items.json").read_text())


def row(start: str) -> list[str]:
    """The cells of the first table row that begins so."""
    line, *_ = re.findall(rf"^\| {re.escape(start)} \|.*$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_sizes_of_the_splits():
    sizes = SEEDS[0]["sizes"]
    assert row("task accuracy")[2:4] == [f"{sizes['base'][0]:,}", f"{sizes['base'][2]:,}"]
    for test in ("systematicity", "productivity"):
        assert row(test)[2:4] == [f"{size:,}" for size in sizes[test]]
    assert row("substitutivity, primitive")[2] == f"{sizes['primitive']:,}"
    assert row("localism")[3] == f"{sizes['localism']:,}"
    for rate, name in [
        ("0.0001", "overgeneralisation, 0.01%"),
        ("0.0005", "0.05%"),
        ("0.001", "0.1%"),
        ("0.005", "0.5%"),
    ]:
        expected = [f"{sizes['overgeneralisation_train'][rate]:,}", f"{sizes['exceptions'][rate]:,}"]
        assert row(name)[2:4] == expected


def test_lengths_depths_and_distances():
    def spreads(name: str) -> list[str]:
        found = (record["all"][name] for record in SEEDS)
        return [f"{spread['mean']:.2f} ({spread['deviation']:.2f})" for spread in found]

    assert set(spreads("depth")) == {row("depth, mean (deviation)")[2]}
    assert set(spreads("length")) == {row("length")[2]}
    assert row("number of functions")[2] == ", ".join(spreads("num_functions"))
    assert row("nine functions or more")[2] == ", ".join(f"{100 * r['nine_functions_or_more']:.1f}%" for r in SEEDS)
    shares = ", ".join(f"{r['first_string_is_the_target']:.3f}" for r in SEEDS)
    assert row("first string argument is the target")[2] == shares
    assert {f"{r['distance_of_histograms']:.5f}" for r in SEEDS} == {row("distance of the joint histograms")[2]}


def test_what_items_are_made_of():
    columns = [RELEASED["summary"], SEEDS[0]["items"], FIRST_VERSION[0]["items"]]
    for name, key, form in [
        (f"variance of the number of unary functions, items of {n} functions", f"among_{n}", "{:.2f}") for n in (5, 8)
    ] + [
        ("items of nine functions or more", "nine_functions_or_more", "{:.1%}"),
        ("functions of an item, mean", "functions", "{:.2f}"),
        ("unary functions", "unary_functions", "{:.1%}"),
        ("binary functions with two functions as arguments", "binary_with_two_functions", "{:.1%}"),
        ("strings of two letters", "strings_of_two_letters", "{:.1%}"),
    ]:
        key = f"variance_of_unary_functions_{key}" if key.startswith("among") else key
        assert row(name)[1:] == [form.format(column[key]) for column in columns], name
    for name, key in {
        "numbers of unary and binary functions": "functions",
        "numbers of strings and of strings of two letters": "strings",
        "function, place and argument": "children",
        "arguments of binary functions": "shapes",
        "outermost function": "roots",
        "letters of a string": "string_lengths",
    }.items():
        for shown, column in zip(row(f"χ², {name}")[2:], columns[1:], strict=True):
            test = column["against_released"][key]
            p = f"p = {test['p']:.2g}" if test["p"] >= 1e-100 else "p < 1e-100"
            assert shown == f"{test['chi_squared']:.0f} ({test['freedom']}), {p}"
    for test in ("productivity", "systematicity"):
        sizes = [f"{records[0]['sizes'][test][1]:,}" for records in (SEEDS, FIRST_VERSION)]
        assert row(f"items of the {test} test")[2:] == sizes
    assert min(test["p"] for record in SEEDS for test in record["items"]["against_released"].values()) > 0.05
    shipped = json.loads((ROOT / "src/humboldt/languages/pcfg_set/naturalised.json").read_text())
    low, high = shipped["early_interval"]
    words = f"{shipped['early']} for each that was kept (95% interval {low} to {high}), "
    assert words + f"{1000 * round(shipped['early'] * 97.203):,} in all" in " ".join(PAGE.split())


def test_functions_before_and_after_substitution():
    cell = row("half of the occurrences become synonyms")[2]
    before = [value for r in SEEDS for value in r["items_with_function"].values()]
    after = {
        unit: [v for r in SEEDS for v in r["items_with_function_after_substitution"][unit].values()]
        for unit in ("occurrence", "item")
    }

    def span(values: list[float]) -> str:
        return " to ".join(dict.fromkeys(f"{100 * value:.0f}" for value in (min(values), max(values)))) + "%"

    assert f"{span(before)} before" in cell and f"{span(after['occurrence'])} after" in cell
    assert f"half of the items: {span(after['item'])}" in cell


def test_primitive_exceptions_are_counted_on_the_current_corpus():
    sizes = SEEDS[0]["sizes"]
    pairs = [f"{sizes['primitive_exceptions'][rate]} of {count}" for rate, count in sizes["exceptions"].items()]
    assert f"{', '.join(pairs[:-1])} and {pairs[-1]}" in row("exceptions")[2]


def test_table_3_is_measured_on_the_corpus_of_seed_0():
    """The record of the script agrees with the other record of the same corpus, and has every printed number."""
    table = json.loads((ROOT / "reproductions/pcfg_set/table_3.json").read_text())
    known = {"depth": "depth", "length": "length", "n_functions": "num_functions"}
    names = {"min": "smallest", "max": "largest", "avg": "mean"}
    assert len(table) == len(published.rows("pcfg_set_data"))
    for entry, printed in zip(table, published.rows("pcfg_set_data"), strict=True):
        assert entry["published"] == float(printed["value"])
        if entry["dataset"] == "productivity":
            other = SEEDS[0][f"productivity_{entry['split']}"][known[entry["property"]]]
            assert entry["value"] == other[names[entry["statistic"]]]
        if entry["statistic"] == "avg":
            assert abs(entry["value"] - entry["published"]) < 0.1


def test_figure_4_has_our_corpus_and_the_released_items():
    figure = script("reproductions/pcfg_set/data_tables.py").figure_4(["copy A B"], [(4, 1), (4, 1), (7, 2)])
    shares: dict[str, float] = {}
    for each in figure.rows:
        shares[each["panel"]] = shares.get(each["panel"], 0) + each["value"]
    assert list(shares) == ["our corpus", "released PCFG SET items", "other sentences"]
    assert all(abs(share - 1) < 0.001 for share in shares.values())


def test_speed():
    record = json.loads((ROOT / "benchmarks/records/pcfg_set_data-cpu.json").read_text())
    speed = PAGE[PAGE.index("## Speed") :]
    assert f"100,000 pairs in {record['corpus_s']['min']:.1f} s" in speed and record["pairs"] == 100_000
    tests = [times["min"] for times in record["tests_s"].values()]
    assert f"each test in {min(tests):.1f} to {max(tests):.1f} s" in speed.replace("\n", " ")
    assert f"`interpret` {record['interpret_s_per_10000']['min']:.2f} s for 10,000" in speed
    assert f"takes {record['baseline_s']['min']:.0f} s" in speed.replace("\n", " ")
    assert f"about {record['corpus_peak_mb']} MB" in speed.replace("\n", " ")
