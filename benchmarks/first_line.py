"""How soon does `humboldt run` print the first line of its plan? Seconds, and processor seconds, of some runs.

    python benchmarks/first_line.py [ROUNDS]

Each run is a new process with a warm cache (a first one is not counted) and is ended at its first line. Prints one JSON
record. Other work on the machine lengthens the seconds, and hardly the processor seconds.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import psutil
from _record import report

COMMANDS = {
    "one experiment": ["run", "chomsky", "--task", "parity_check", "--model", "rnn"],
    "the preset quick of chomsky": ["run", "chomsky"],
    "the preset paper of chomsky": ["run", "chomsky", "--preset", "paper"],
    "bench": ["bench", "lstm"],
}


def first_line(arguments: list[str]) -> tuple[float, float, str]:
    """Returns the seconds until the first line, the processor seconds of the process by then, and the line."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "humboldt", *arguments, "--out", folder]
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        line = process.stderr.readline()
        seconds, used = time.monotonic() - begin, psutil.Process(process.pid).cpu_times()
        process.kill()
        process.communicate()
    return seconds, used.user + used.system, line.strip()


def main() -> None:
    """Prints the record."""
    rounds = int((sys.argv[1:] or ["5"])[0])
    results: dict[str, dict[str, Any]] = {}
    for name, arguments in COMMANDS.items():
        first_line(arguments)
        runs = [first_line(arguments) for _ in range(rounds)]
        seconds, processor = [run[0] for run in runs], [run[1] for run in runs]
        results[name] = {
            "line": runs[0][2],
            "seconds": [round(value, 2) for value in seconds],
            "processor_seconds": [round(value, 2) for value in processor],
            "median_processor_seconds": round(statistics.median(processor), 2),
        }
    report("first_line", {"rounds": rounds, "results": results})


if __name__ == "__main__":
    main()
