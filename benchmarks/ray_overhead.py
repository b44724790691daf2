"""What an experiment costs on a Ray cluster beyond its own work: 10,000 that do nothing, on 16 local workers.

A study of the plug-in of the tests (`tests/fault_plugin.py`) whose trainings have no steps is run by the driver as any
other: claimed, sent, received, stored in `results.db`. Recorded are the seconds until Ray answers, until the first
outcome, and for each experiment from then on; and the driver's memory as the study goes on.

    python benchmarks/ray_overhead.py [--experiments 10000] [--workers 16] > record.json
"""

import argparse
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from _record import report

import humboldt
from humboldt.core.events import Silent
from humboldt.plugins import load_files
from humboldt.running.cluster.executor import Ray
from humboldt.running.execution import AbstractExecutor, Here

PLUGIN = Path(__file__).parents[1] / "tests" / "fault_plugin.py"


class Timed(AbstractExecutor):
    """Another executor, with the time and the driver's memory at each outcome."""

    def __init__(self, inner: AbstractExecutor) -> None:
        self.inner = inner
        self.times: list[float] = []
        self.megabytes: list[float] = []

    def run(self, experiments, options, sinks):
        for outcome in self.inner.run(experiments, options, sinks):
            yield outcome
            if outcome is not None:
                self.times.append(time.monotonic())
                if len(self.times) % 500 == 0:
                    self.megabytes.append(round(resident_megabytes(), 1))


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def timed(executor: AbstractExecutor, experiments: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as out:
        changes = {"variants": tuple(range(experiments)), "steps": 0, "seeds": 1}
        begin = time.monotonic()
        study = humboldt.plan("faults", tasks="sums", settings=changes, out=out)
        planned = time.monotonic()
        watched = Timed(executor)
        study.run(lambda experiment: Silent(), keep="none", executor=watched)
        assert study.pending() == []
    seconds = watched.times[-1] - watched.times[0]
    half = watched.times[len(watched.times) // 2]
    return {
        "experiments": experiments,
        "seconds_to_plan": round(planned - begin, 2),
        "seconds_to_the_first_outcome": round(watched.times[0] - planned, 2),
        "seconds_from_first_to_last": round(seconds, 2),
        "milliseconds_each": round(1000 * seconds / (experiments - 1), 2),
        "milliseconds_each_in_the_second_half": round(2000 * (watched.times[-1] - half) / experiments, 2),
        "experiments_per_second": round((experiments - 1) / seconds, 1),
        "driver_megabytes_every_500": watched.megabytes,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--experiments", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=16)
    options = parser.parse_args()
    load_files([PLUGIN])
    import ray

    begin = time.monotonic()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(
        address="local",
        num_cpus=options.workers,
        include_dashboard=False,
        object_store_memory=200_000_000,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    started = round(time.monotonic() - begin, 2)
    on_ray = timed(Ray(), options.experiments)
    here = timed(Here(), min(options.experiments, 1000))
    report(
        "ray_overhead",
        {"ray": ray.__version__, "workers": options.workers, "seconds_to_start_ray": started, "on_ray": on_ray}
        | {"in_this_process": here},
    )


if __name__ == "__main__":
    main()
