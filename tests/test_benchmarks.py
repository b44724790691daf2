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
