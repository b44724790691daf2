"""What the pages say of speed is what the records hold."""

from pages import ROOT, load, tables

NAMES = {"RNN": "rnn", "LSTM": "lstm", "Stack-RNN": "stack_rnn", "Tape-RNN": "tape_rnn"}
MEMORIES = {"stack_rnn": "stack_size", "tape_rnn": "memory_size"}


def test_the_ratios_to_the_released_code_are_those_of_the_records():
    (table,) = [rows for rows in tables(ROOT / "README.md") if rows[0][0] == "RNN"]
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


def test_the_page_of_many_members_is_as_quick_and_small_as_its_record():
    record = load("benchmarks/records/report_page-cpu.json")
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert record["members"] >= 20_000 and record["wall_seconds"] < 30 and record["page_megabytes"] < 10
    assert f"{record['members']:,} members" in text and f"{record['wall_seconds']} s" in text
    assert f"{record['processor_seconds']} s of processor time" in text and f"{record['page_megabytes']} MB" in text
