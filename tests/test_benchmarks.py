"""What the pages say of speed is what the records hold."""

import json
from statistics import median

import pytest
from pages import ROOT, load, script, tables

NAMES = {"RNN": "rnn", "LSTM": "lstm", "Stack-RNN": "stack_rnn", "Tape-RNN": "tape_rnn"}
MEMORIES = {"stack_rnn": "stack_size", "tape_rnn": "memory_size"}


def _text(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def _row_of(record: str) -> list[str]:
    """The row of the page on speed whose link leads to this record."""
    (row,) = [row for rows in tables(ROOT / "docs/speed.md") for row in rows if record in row[-1]]
    return row


def test_the_ratios_to_the_released_code_are_those_of_the_records():
    (table,) = [rows for rows in tables(ROOT / "docs/speed.md") if rows[0][0] == "RNN"]
    assert [row[0].partition(",")[0] for row in table] == list(NAMES)
    for title, ratio, link in table:
        name, _, memory = title.partition(", ")
        model = NAMES[name]
        record = load(f"benchmarks/records/training_speed-{model}-cpu.json")
        assert f"training_speed-{model}-cpu.json" in link
        assert ratio == f"{record['ratio_of_processor_time']}"
        assert record["time_steps"] == [10, 20, 40, 80] and record["batch"] == 128
        assert record["reference"]["sizes"]["hidden_size"] == 256
        if model in MEMORIES:
            assert f"of {record['reference']['sizes'][MEMORIES[model]]} cells" in memory


def test_scoring_beside_the_released_code_took_what_the_record_says():
    record = load("benchmarks/records/evaluation_speed-rnn-cpu.json")
    theirs = record["reference"]
    assert (record["lengths"], record["strings"]) == ([41, 500], 460 * 512) and theirs["sizes"] == {"hidden_size": 256}
    assert len(record["seconds_of_each_round"]) == len(theirs["seconds_of_each_round"]) == record["rounds"]
    cells = [f"{part['processor_seconds']:.0f}" for part in (record, theirs)]
    assert cells == _row_of("evaluation_speed-rnn-cpu.json")[1:3]
    for ratio, key in (("ratio", "seconds_with_compilation"), ("ratio_of_processor_time", "processor_seconds")):
        assert abs(record[ratio] - theirs[key] / record[key]) < 0.01
    text = _text("benchmarks/README.md")
    assert f"Ours takes {cells[0]} s of processor time" in text and f"the Chomsky paper {cells[1]} s" in text
    assert f"{record['ratio_of_processor_time']} times as much" in text


def test_the_search_beside_the_released_code_is_as_fast_as_the_record_says():
    record = load("benchmarks/records/mdl_search-cpu.json")
    theirs, ours = record["reference"], record["results"]
    cells = [f"{part['per_second_median']:,}" for part in (ours["default"], theirs)]
    assert cells == _row_of("mdl_search-cpu.json")[1:3]
    (table,) = [rows for rows in tables(ROOT / "benchmarks/README.md") if rows[0][0].startswith("the published search")]
    for row, part in zip(table, (ours["reference_rules"], ours["default"], theirs), strict=True):
        numbers = [f"{part['per_second_median']:,}", f"{part['full_share_of_networks_tried']:.1%}"]
        numbers.append(f"{part['full_evaluations_per_second']:,}")
        assert [row[1], row[3], row[4]] == numbers
        if part is not theirs:
            ratios = [part[key] for key in ("times_reference", "full_evaluations_times_reference")]
            assert [row[2], row[5]] == [f"{ratio:.0f}" for ratio in ratios]
            assert row[6] == str(part["full_evaluations_times_plain_python"])
            assert abs(ratios[0] - part["per_second_median"] / theirs["per_second_median"]) < 0.1


def test_what_an_experiment_costs_on_ray_is_what_the_record_holds():
    (table,) = [rows for rows in tables(ROOT / "docs/clusters.md") if "Ray" in rows[0][0]]
    record = load("benchmarks/records/ray_overhead-cpu.json")
    on_ray, here = record["on_ray"], record["in_this_process"]
    assert on_ray["experiments"] == 10_000 and record["workers"] == 16
    assert on_ray["milliseconds_each"] < 200
    memory = [round(megabytes) for megabytes in on_ray["driver_megabytes_every_500"]]
    assert [row[1] for row in table] == [
        f"{record['seconds_to_start_ray']:.0f}",
        f"{on_ray['seconds_to_the_first_outcome']:.0f}",
        f"{on_ray['milliseconds_each']:.0f}",
        f"{here['milliseconds_each']:.0f}",
        f"{memory[0]}, {memory[-1]}",
    ]


def test_what_is_said_of_scoring_a_file_is_what_was_measured():
    record = load("benchmarks/records/score_file-cpu.json")
    (table,) = [rows for rows in tables(ROOT / "benchmarks/README.md") if rows[0][0] == "100,000"]
    for row, measured in zip(table, record["results"], strict=True):
        assert row == [
            f"{measured['predictions']:,}",
            f"{measured['file_MB']} MB",
            str(measured["seconds"]),
            str(measured["processor_seconds"]),
            f"{measured['memory_MB']} MB",
        ]
    million = record["results"][-1]
    assert million["predictions"] == 1_000_000 and million["seconds"] < 60 and million["memory_MB"] < 300
    said = f"1,000,000 predictions take {million['seconds']:.0f} s and {million['memory_MB']} MB"
    assert said in (ROOT / "docs/score.md").read_text(encoding="utf-8")


def test_the_page_of_many_members_is_as_quick_and_small_as_its_record():
    record = load("benchmarks/records/report_page-cpu.json")
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert record["members"] >= 20_000 and record["wall_seconds"] < 30 and record["page_megabytes"] < 10
    assert f"{record['members']:,} members" in text and f"{record['wall_seconds']} s" in text
    assert f"{record['processor_seconds']} s of processor time" in text and f"{record['page_megabytes']} MB" in text


def test_our_loop_around_a_module_costs_what_the_record_says():
    record = load("benchmarks/records/torch_loop-cpu.json")
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert len(record["rounds"]) >= 10 and record["median_ratio"] <= 1.05
    assert f"Ours takes {record['median_ratio']:.3f} times as long" in text


def test_the_walk_through_takes_what_the_record_says():
    record = load("benchmarks/records/walk_through-cpu.json")
    (table,) = [rows for rows in tables(ROOT / "docs/pytorch.md") if rows[0][0] == "chomsky" and len(rows[0]) == 5]
    assert not record["has_jax"] and len(table) == len(record["suites"]) == 5
    for (_, command, *numbers), measured in zip(table, record["suites"], strict=True):
        assert command == measured["command"]
        assert numbers == [str(measured[key]) for key in ("lines", "wall_seconds", "processor_seconds")]


def test_the_first_table_of_an_own_model_takes_what_the_record_says():
    record, text = load("benchmarks/records/first_table-cpu.json"), _text("docs/pytorch.md")
    *_, install, _, train = record["steps"]
    assert record["lines_of_code"] <= 12 and record["wall_seconds"] <= 600
    low, high = (f"{load:.0f}" for load in record["load_before_and_after"])
    assert f"{record['wall_seconds']} s by the clock" in text and f"(load {low} to {high})" in text
    assert f"{record['processor_seconds']} s of processor time" in text
    assert install["command"].startswith("pip install") and train["command"].startswith("humboldt run")
    parts = [f"{step['processor_seconds']:.0f}" for step in (install, train)]
    assert f"installing took {parts[0]} s and the run {parts[1]} s" in text
    page = (ROOT / "docs/pytorch.md").read_text(encoding="utf-8")
    assert all(step["command"] in page for step in record["steps"][3:])


def test_ensembles_on_an_accelerator_are_as_fast_as_the_record_says():
    text = (ROOT / "benchmarks/records/ensemble_speed-h200.jsonl").read_text(encoding="utf-8")
    speeds: dict[str, list[str]] = {}
    for one in json.loads("[" + text.replace("}\n{", "},\n{") + "]"):
        speeds.setdefault(one["model"], []).append(f"{one['model_steps_per_second']:,.0f}")
    for model, title in (("rnn", "RNN"), ("lstm", "LSTM"), ("stack_rnn", "Stack-RNN")):
        assert f"| {title} | {' | '.join(speeds[model])} |" in _text("benchmarks/README.md")
        lines = (ROOT / "docs/speed.md").read_text(encoding="utf-8").splitlines()
        (row,) = [line for line in lines if f"| 30 {title}s, " in line]
        assert f"| {' / '.join(speeds[model])}" in row


def test_the_tests_take_what_the_record_says():
    record, text = load("benchmarks/records/tests-cpu.json"), _text("benchmarks/README.md")

    def minutes(seconds: int) -> str:
        return f"{seconds // 60} min {seconds % 60} s"

    after, before = record["after"], record["before"]
    assert f"`make test` {minutes(after['seconds'])} ({minutes(after['processor_seconds'])} of processor" in text
    assert f"{after['passed']:,} tests)" in text
    for name in ("extras", "demo"):
        assert f"`{record[name]['command']}` {minutes(record[name]['seconds'])}" in text
    assert f"{before['passed']:,} tests of three suites took {minutes(before['processor_seconds'])} of" in text


def test_old_and_new_code_took_what_the_record_says():
    results = load("benchmarks/records/alternating-cpu.json")["results"]
    shown = {row[0].strip("`"): row[1:] for rows in tables(ROOT / "benchmarks/README.md") for row in rows}
    for name, result in results.items():
        assert shown[name] == [str(len(result["seconds"])), str(result["ratio"])]
        assert abs(median(new / old for old, new in result["seconds"]) - result["ratio"]) < 0.002


def test_every_seeded_fault_can_still_be_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    for fault in script("benchmarks/seeded_faults.py").FAULTS:
        text = (ROOT / "src" / "humboldt" / fault.file).read_text(encoding="utf-8")
        assert text.count(fault.right) == 1 and fault.wrong != fault.right, fault.name
        assert (ROOT / fault.tests.split()[0]).exists(), fault.name


def test_what_is_said_of_flipped_bits_and_large_studies_is_in_the_records():
    text = _text("benchmarks/README.md")
    flips = load("benchmarks/records/bit_flips.json")
    assert f"{flips['rows_left_out']} times rows are left out" in text and f"{flips['refused']} times the file" in text
    assert f"flips {flips['flips']} single bits" in text and f"{flips['same']} times all results" in text
    sizes = load("benchmarks/records/large_studies-cpu.json")["results"]
    assert len(sizes) == 20 and sizes[-1]["members"] == 100_000
    for command in ("show", "archive", "report"):
        largest = sizes[-1][command]
        said = f"{largest['processor_seconds']:.1f} s", f"{largest['peak_megabytes']} MB"
        assert all(one in text for one in said) and largest["peak_megabytes"] <= 500


def test_the_rooms_are_counted_as_the_record_says(monkeypatch: pytest.MonkeyPatch):
    record = load("benchmarks/records/rooms.json")
    (table,) = [
        rows for rows in tables(ROOT / "benchmarks/README.md") if rows[0][0] == "modules directly in the package"
    ]
    counts = [[record[key][name] for key in ("before", "after")] for name in record["after"] if name != "commit"]
    assert [row[1:] for row in table] == [[f"{number:,}" for number in row] for row in counts]
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    rooms = script("benchmarks/rooms.py")
    graph = rooms.rooms(ROOT / "src/humboldt")
    assert graph["cli"] >= {"commands", "errors"} and not graph["errors"] and 2 < rooms.levels(graph) < len(graph)
    with pytest.raises(ValueError, match="Rooms import each other: a -> b -> a"):
        rooms.levels({"a": {"b"}, "b": {"a"}})
