"""The records of benchmarks meet their bars. What pages say of them is generated (`tests/test_generated.py`)."""

import json
import statistics
from statistics import median

import pytest
from pages import ROOT, load, script


def test_ratios_to_the_released_code_are_of_equal_work():
    for model, memory in (("rnn", None), ("lstm", None), ("stack_rnn", "stack_size"), ("tape_rnn", "memory_size")):
        record = load(f"benchmarks/records/training_speed-{model}-cpu.json")
        assert record["time_steps"] == [10, 20, 40, 80] and record["batch"] == 128
        sizes = record["reference"]["sizes"]
        assert sizes["hidden_size"] == 256 and (memory is None or memory in sizes)


def test_scoring_is_measured_beside_the_released_code():
    record = load("benchmarks/records/evaluation_speed-rnn-cpu.json")
    theirs = record["reference"]
    assert (record["lengths"], record["strings"]) == ([41, 500], 460 * 512) and theirs["sizes"] == {"hidden_size": 256}
    assert len(record["seconds_of_each_round"]) == len(theirs["seconds_of_each_round"]) == record["rounds"]
    for ratio, key in (("ratio", "seconds_with_compilation"), ("ratio_of_processor_time", "processor_seconds")):
        assert abs(record[ratio] - theirs[key] / record[key]) < 0.01


def test_the_ratios_of_the_search_follow_from_its_rates():
    record = load("benchmarks/records/mdl_search-cpu.json")
    theirs = record["reference"]
    for ours in record["results"].values():
        assert abs(ours["times_reference"] - ours["per_second_median"] / theirs["per_second_median"]) < 0.1


def test_an_experiment_on_ray_costs_little():
    record = load("benchmarks/records/ray_overhead-cpu.json")
    assert record["on_ray"]["experiments"] == 10_000 and record["workers"] == 16
    assert record["on_ray"]["milliseconds_each"] < 200


def test_a_million_predictions_are_scored_within_a_minute():
    million = load("benchmarks/records/score_file-cpu.json")["results"][-1]
    assert million["predictions"] == 1_000_000 and million["seconds"] < 60 and million["memory_MB"] < 300


def test_the_page_of_many_members_is_quick_and_small():
    record = load("benchmarks/records/report_page-cpu.json")
    assert record["members"] >= 20_000 and record["wall_seconds"] < 30 and record["page_megabytes"] < 10


def test_our_loop_around_a_module_costs_little():
    record = load("benchmarks/records/torch_loop-cpu.json")
    assert len(record["rounds"]) >= 10 and record["median_ratio"] <= 1.05
    assert abs(median(one["ratio"] for one in record["rounds"]) - record["median_ratio"]) < 0.001


def test_a_bench_of_an_own_model_takes_less_than_25_minutes():
    record = load("benchmarks/records/bench_own-cpu.json")
    assert record["wall_seconds"] <= 25 * 60 and len(record["suites"]) >= 5
    lines = (ROOT / "examples/pytorch_gru.py").read_text().splitlines()
    assert record["lines_of_code"] == sum(bool(line) and not line.lstrip().startswith("#") for line in lines)


def test_the_quick_presets_of_tracking_and_recognition_take_less_than_eight_minutes():
    seconds = load("benchmarks/records/quick_presets-cpu.json")["seconds"]
    assert set(seconds) == {"tracking", "recognition"} and max(seconds.values()) <= 8 * 60


def test_a_single_member_takes_no_longer_than_in_a_bare_loop():
    decoder, text, ratios = (
        json.JSONDecoder(),
        (ROOT / "benchmarks/records/torch_loop-as-run-cpu.jsonl").read_text(),
        [],
    )
    while text := text.lstrip():
        record, end = decoder.raw_decode(text)
        ratios.append(record["median_ratio"])
        text = text[end:]
    assert len(ratios) >= 8 and max(ratios) < 1.05 and statistics.median(ratios) <= 1.03


def test_two_members_in_two_processes_use_two_cores():
    _, record = map(json.loads, (ROOT / "benchmarks/records/torch_members-two-cpu.jsonl").read_text().splitlines())
    assert record["median_ratio"] >= 1.7 and len(record["rounds"]) >= 5


def test_a_plan_begins_within_three_seconds():
    results = load("benchmarks/records/first_line-cpu.json")["results"]
    assert len(results) == 4 and all(max(result["seconds"]) <= 3 for result in results.values())


def test_the_walk_through_needs_no_jax_and_its_commands_are_on_the_page():
    record = load("benchmarks/records/walk_through-cpu.json")
    assert not record["has_jax"] and len(record["suites"]) == 5
    assert all(part["lines"] <= 12 for part in record["suites"])


def test_the_first_table_of_an_own_model_takes_ten_minutes_and_twelve_lines():
    record = load("benchmarks/records/first_table-cpu.json")
    *_, install, _, train = record["steps"]
    assert record["lines_of_code"] <= 12 and record["wall_seconds"] <= 600
    assert install["command"].startswith("pip install") and train["command"].startswith("humboldt run")
    page = (ROOT / "docs/pytorch.md").read_text(encoding="utf-8")
    assert all(step["command"] in page for step in record["steps"][3:])


def test_ensembles_on_an_accelerator_are_as_fast_as_the_record_says():
    text = (ROOT / "benchmarks/records/ensemble_speed-h200.jsonl").read_text(encoding="utf-8")
    speeds: dict[str, list[str]] = {}
    for one in json.loads("[" + text.replace("}\n{", "},\n{") + "]"):
        speeds.setdefault(one["model"], []).append(f"{one['model_steps_per_second']:,.0f}")
    page = " ".join((ROOT / "benchmarks/README.md").read_text(encoding="utf-8").split())
    for model, title in (("rnn", "RNN"), ("lstm", "LSTM"), ("stack_rnn", "Stack-RNN")):
        assert f"| {title} | {' | '.join(speeds[model])} |" in page
        lines = (ROOT / "docs/speed.md").read_text(encoding="utf-8").splitlines()
        (row,) = [line for line in lines if f"| 30 {title}s, " in line]
        assert f"| {' / '.join(speeds[model])}" in row


def test_old_and_new_code_were_measured_in_turns():
    results = load("benchmarks/records/alternating-cpu.json")["results"]
    for result in results.values():
        assert abs(median(new / old for old, new in result["seconds"]) - result["ratio"]) < 0.002


def test_every_seeded_fault_can_still_be_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    for fault in script("benchmarks/seeded_faults.py").FAULTS:
        text = (ROOT / "src" / "humboldt" / fault.file).read_text(encoding="utf-8")
        assert text.count(fault.right) == 1 and fault.wrong != fault.right, fault.name
        assert (ROOT / fault.tests.split()[0]).exists(), fault.name


def test_damage_never_changes_results_silently():
    record = load("benchmarks/records/bit_flips.json")
    assert record["flips"] >= 300 and record["silent"] == record["tracebacks"] == 0
    assert record["rows_left_out"] + record["refused"] + record["same"] == record["flips"]
    later = record["checkpoints"]
    assert later["flips"] >= 100 and later["silent"] == later["traceback"] == 0


def test_every_wrong_call_is_refused():
    record = load("benchmarks/records/bad_calls-cpu.json")
    assert record["calls"] >= 2_500 and record["refused"] == record["calls"] and not record["wrong"]


def test_kills_lose_nothing():
    lines = (ROOT / "benchmarks/records/kill_campaign-cpu.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert sum(record["kills"] for record in found) >= 100
    for record in found:
        assert 2 * record["kills_after_a_checkpoint"] >= record["kills"]
        assert all(study["identical"] for study in record["studies"].values())


def test_large_studies_keep_to_their_bar():
    sizes = load("benchmarks/records/large_studies-cpu.json")["results"]
    assert len(sizes) == 20 and sizes[-1]["members"] == 100_000
    record = load("benchmarks/records/large_studies-100000-cpu.json")
    (largest,) = record["results"]
    for command in ("show", "archive", "report"):
        assert largest[command]["peak_megabytes"] <= record["bar_at_100000"]["peak_megabytes"]
        assert largest[command]["wall_seconds"] <= record["bar_at_100000"]["wall_seconds"]


def test_rooms_are_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    rooms = script("benchmarks/rooms.py")
    graph = rooms.rooms(ROOT / "src/humboldt")
    assert graph["cli"] >= {"commands", "errors"} and not graph["errors"] and 2 < rooms.levels(graph) < len(graph)
    with pytest.raises(ValueError, match="Rooms import each other: a -> b -> a"):
        rooms.levels({"a": {"b"}, "b": {"a"}})
