"""Where a step of an ensemble spends its time on a GPU, kernel by kernel, by JAX's profiler.

    python benchmarks/ensemble_profile.py [--rows rnn,lstm,stack_rnn]

Sizes and rows are those of `ensemble_speed.py`. Prints one JSON record: for each row the microseconds of a step, in all
and for each of the kernels that take most of it.
"""

import argparse
import glob
import gzip
import json
import tempfile
from collections import Counter
from typing import Any

import jax
from _record import report
from ensemble_speed import ROWS, Road, options_of

SHOWN = 12


def profiled(road: Road) -> Counter[str]:
    """Returns the microseconds of each kernel in a step, from the trace of one call."""
    total = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            road.round()
        for path in glob.glob(f"{folder}/**/*.trace.json.gz", recursive=True):
            with gzip.open(path) as file:
                events = json.load(file)["traceEvents"]
            about = [each for each in events if each.get("ph") == "M" and "name" in each.get("args", {})]
            names = {(each["name"], each["pid"], each.get("tid")): each["args"]["name"] for each in about}
            for each in events:
                place = each.get("pid"), each.get("tid")
                on_gpu = "GPU" in names.get(("process_name", place[0], None), "")
                if each.get("ph") == "X" and on_gpu and "Stream" in names.get(("thread_name", *place), ""):
                    total[each["name"]] += each["dur"] / road.ensemble.call_steps
    return total


def measured(row: str, options: argparse.Namespace) -> dict[str, Any]:
    """Profiles one row after warming up."""
    road = Road(ROWS[row], True, options)
    for _ in range(3):
        road.round()
    total = profiled(road)
    kernels = {name: round(microseconds, 1) for name, microseconds in total.most_common(SHOWN)}
    return {"plan": road.plan, "microseconds": round(sum(total.values()), 1), "kernels": kernels}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="rnn,lstm,stack_rnn")
    given = options_of(parser)
    report("ensemble_profile", {"rows": {row: measured(row, given) for row in given.rows.split(",")}})
