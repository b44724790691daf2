"""How long a file of predictions takes to score, and how much memory: 1,000,000 predictions and a tenth of them.

`python benchmarks/score_file.py [--strings 1000000] [--suite chomsky|syntax|pcfg_set]`. Each file is scored by
`humboldt score` in a process of its own, whose largest memory is measured; the tenth shows whether memory grows.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _record import report

LENGTHS = 20  # of the test strings of parity_check: 41 to 60


def settings_of(suite: str, strings: int) -> list[str]:
    if suite == "chomsky":
        return [f"test_lengths=41,{40 + LENGTHS}", f"strings_per_length={strings // LENGTHS}"]
    return ["terminals=10", "validation=2", "train=100", f"test={strings // 2}", "long=2"]


TASKS = {"chomsky": "parity_check", "syntax": "adj_n_np"}
SPLITS = {"chomsky": "test", "syntax": "test"}


def humboldt(*arguments: str) -> tuple[str, float, float, float]:
    """What a command prints, its seconds and processor seconds, and its largest memory in MB."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([sys.executable, "-m", "humboldt", *arguments], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, arguments
        out.seek(0)
        text = out.read().decode()
    return text, time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def scored(suite: str, strings: int, folder: Path) -> dict[str, Any]:
    changes = [part for each in settings_of(suite, strings) for part in ("--set", each)]
    about = [suite, TASKS[suite]]
    test, mine = folder / f"{suite}-{strings}.jsonl", folder / f"{suite}-{strings}-mine.jsonl"
    _, writing, _, writing_memory = humboldt("data", *about, "--split", SPLITS[suite], *changes, "--output", str(test))
    with test.open() as source, mine.open("w") as target:
        for line in source:
            row = json.loads(line)
            target.write(json.dumps({**row, "prediction": row["target"]}) + "\n")
    split = ["--split", "test"] if suite == "syntax" else []
    text, seconds, processor, memory = humboldt("score", *about, str(mine), *split, *changes)
    reading = json.loads(text)["readings"][0]
    assert reading["value"] == 1.0 and reading["n"] == strings
    return {
        "suite": suite,
        "predictions": strings,
        "file_MB": round(mine.stat().st_size / 1e6, 1),
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "memory_MB": round(memory),
        "writing_the_test_strings": {"seconds": round(writing, 2), "memory_MB": round(writing_memory)},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--strings", type=int, default=1_000_000)
    parser.add_argument("--suite", choices=list(TASKS), action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        found = [
            scored(suite, strings, Path(place))
            for suite in options.suite or TASKS
            for strings in (options.strings // 10, options.strings)
        ]
    report("score_file", {"results": found})
