"""The fixed shape of a benchmark: warm-up apart, minimum and median of repeats, one JSON record on stdout."""

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any


def measure(work: Callable[[], Any], *, repeats: int = 5) -> dict[str, float]:
    """Seconds: `first` (with compilation), then `min` and `median` of the repeats."""
    begin = time.perf_counter()
    work()
    first = time.perf_counter() - begin
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return {"first": first, "min": min(seconds), "median": statistics.median(seconds)}


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    found: dict[str, Any] = {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),  # other work on the machine slows everything: read the numbers with it
        "python": platform.python_version(),
        "processor": _processor(),
    }
    for name in ("numpy", "numba", "jax", "equinox"):
        if name in sys.modules:
            found[name] = sys.modules[name].__version__
    if "jax" in sys.modules:
        device = sys.modules["jax"].devices()[0]
        found["device"] = f"{device.platform}: {device.device_kind}"
    return found


def report(name: str, results: dict[str, Any]) -> None:
    """Prints the record."""
    date = datetime.now(UTC).date().isoformat()
    command = "python " + " ".join(sys.argv)
    print(json.dumps({"benchmark": name, "command": command, "date": date, "machine": machine(), **results}, indent=1))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
