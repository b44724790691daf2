"""The numbers in the page are those of the records."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/pcfg_set.md").read_text()
SEEDS = json.loads((ROOT / "reproductions/pcfg_set/corpus.json").read_text())


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


def test_functions_before_and_after_substitution():
    cell = row("half of the occurrences become synonyms")[2]
    before = [value for r in SEEDS for value in r["items_with_function"].values()]
    after = {
        unit: [v for r in SEEDS for v in r["items_with_function_after_substitution"][unit].values()]
        for unit in ("occurrence", "item")
    }
    assert f"{100 * min(before):.0f} to {100 * max(before):.0f}% before" in cell
    assert f"{100 * min(after['occurrence']):.0f} to {100 * max(after['occurrence']):.0f}% after" in cell
    assert f"{100 * min(after['item']):.0f} to {100 * max(after['item']):.0f}%" in cell


def test_speed():
    record = json.loads((ROOT / "benchmarks/records/pcfg_set_data-cpu.json").read_text())
    speed = PAGE[PAGE.index("## Speed") :]
    assert f"100,000 pairs in {record['corpus_s']['min']:.1f} s" in speed and record["pairs"] == 100_000
    tests = [times["min"] for times in record["tests_s"].values()]
    assert f"each test in {min(tests):.1f} to {max(tests):.1f} s" in speed.replace("\n", " ")
    assert f"`interpret` {record['interpret_s_per_10000']['min']:.2f} s for 10,000" in speed
    assert f"takes {record['baseline_s']['min']:.0f} s" in speed.replace("\n", " ")
    assert f"about {record['corpus_peak_mb']} MB" in speed.replace("\n", " ")
