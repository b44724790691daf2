"""Every number on the page of PCFG SET is on record."""

import json
import statistics
from typing import Any

import pytest
from pages import ROOT, load, tables

from humboldt import published
from humboldt.suites import suites
from humboldt.suites.reading import records, stored

FOLDER = ROOT / "reproductions" / "pcfg_set"
PAGE = FOLDER / "README.md"
TEXT = " ".join(PAGE.read_text(encoding="utf-8").split())


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def members() -> dict[str, list[dict[str, Any]]]:
    """Results of the three members, by evaluation of the base task, or by test."""
    found = {}
    for entry in lines("members.jsonl"):
        task = entry["training"]["task"]
        found[entry["evaluation"]["name"] if task == "task_accuracy" else task] = entry["results"]
    return found


def test_the_table_is_that_of_the_members(members: dict[str, list[dict[str, Any]]]):
    evaluations = {
        "task accuracy": ("accuracy", "sequence_accuracy"),
        "localism": ("localism", "consistency"),
        "systematicity": ("systematicity", "sequence_accuracy"),
    }
    for test, ours, seeds, paper in tables(PAGE)[0]:
        evaluation, measure = evaluations[test]
        values = [result["measures"][measure] for result in members[evaluation]]
        assert ours == f"{statistics.mean(values):.3f} ± {statistics.pstdev(values):.3f}"
        assert seeds == ", ".join(f"{value:.3f}" for value in values)
        cell = {"paper_table": "table_1", "model": "transformer", "test": test.replace(" ", "_"), "subset": "all"}
        assert paper == " ± ".join(str(published.lookup("pcfg_set", column, **cell)) for column in ("mean", "std"))


def test_pairs_are_those_of_the_members(members: dict[str, list[dict[str, Any]]]):
    details = [result["detail"] for result in members["systematicity"]]
    for pair, items, ours, paper in tables(PAGE)[1]:
        shares = [detail["score"]["breakdowns"]["pair"][pair] for detail in details]
        assert items == f"{shares[0]['n']:,}"
        assert ours == f"{statistics.mean(share['value'] for share in shares):.2f}"
        cell = {"paper_table": "table_2", "model": "transformer", "subset": pair.replace(" ", "_")}
        assert paper == " ± ".join(str(published.lookup("pcfg_set", column, **cell)) for column in ("mean", "std"))
    assert f"and {sum(detail['cut_outputs'] for detail in details)} of the three times 10,455" in TEXT


def test_the_released_set_and_the_beam_are_on_record():
    found = lines("released.jsonl")
    for (seed, *shown), record in zip(tables(PAGE)[2], found, strict=True):
        assert int(seed) == record["member"]["seed"]
        names = ("own_test_set", "released_development_set", "with_beam")
        assert shown == [f"{record[name]:.3f}" for name in names]
        assert abs(record["own_test_set"] - record["released_development_set"]) < 0.01
        assert abs(record["with_beam"] - record["released_development_set"]) < 0.0015
    assert f"{found[0]['seconds_test_set_compiling']} s and, in a second pass, {found[0]['seconds_test_set']} s" in TEXT


def test_depths_curve_and_localism_are_those_of_the_members(members: dict[str, list[dict[str, Any]]]):
    details = [result["detail"] for result in members["accuracy"]]
    for depth, items, accuracy in tables(PAGE)[3]:
        shares = [detail["score"]["breakdowns"]["depth"][depth] for detail in details]
        assert items == f"{shares[0]['n']:,}"
        assert accuracy == f"{statistics.mean(share['value'] for share in shares):.3f}"
    epochs = zip(*(detail["milestones"] for detail in details), strict=True)
    curve = ", ".join(f"{statistics.mean(member['accuracy'] for member in epoch):.3f}" for epoch in epochs)
    assert curve in TEXT
    parts = [result["detail"]["score"]["breakdowns"]["intermediate_strings"] for result in members["localism"]]
    short, long = (statistics.mean(part[kind]["value"] for part in parts) for kind in ("at most 5", "more than 5"))
    assert f"at most 5 letters, as string arguments have in training, {short:.2f} are consistent" in TEXT
    assert f"of the others {long:.2f}." in TEXT
    assert sum(detail["cut_outputs"] for detail in details) == 1


def test_the_speed_is_on_record():
    record = load("reproductions/pcfg_set/throughput.json")
    seconds = record["steps"] / record["steps_per_second"]
    assert record["training_seconds"] == round(seconds)
    passes = record["epochs"] * record["members"]
    assert record["target_tokens_per_second"] == round(record["target_tokens_per_epoch"] * passes / seconds)
    products = record["encoder_weights"] * record["source_tokens_per_epoch"]
    products += record["decoder_and_readout_weights"] * record["target_tokens_per_epoch"]
    speed = 6 * products * passes / seconds / 1e12  # two operations forwards, four backwards
    assert record["tflops"] == round(speed, 1)
    assert f"{record['steps']:,} steps of three members in {record['training_seconds']} s" in TEXT
    assert f"{record['target_tokens_per_second']:,} target tokens a second" in TEXT
    assert f"about {record['tflops']} TFLOP/s" in TEXT and f"{100 * speed / record['peak_tflops']:.1f}%" in TEXT


def test_members_give_the_numbers_on_record():
    recorded = [r for r in load("reproductions/pcfg_set/records.json") if r["published"] is not None]
    own = [r for r in records(suites.get("pcfg_set"), stored(ROOT / "reproductions", "pcfg_set")) if r.published]
    assert {(r.task, r.measure, r.published) for r in own} == {
        (r["task"], r["measure"], r["published"]) for r in recorded
    }
    assert [r.value for r in own] == pytest.approx([r["value"] for r in recorded], abs=1e-5)
