"""What happens to a study on a local Ray if one of its processes is killed in mid-training?

    python benchmarks/ray_faults.py > record.json

For each kind of process, a small study is started with `--ray`, and the process is killed with SIGKILL after some
steps. The command must end, or go on, within 30 s; the same command again must give the rows of an undisturbed study.
Also lists the addresses on which the processes of Ray listen: all must be of the loopback interface.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from _record import report

PLUGIN = Path(__file__).parent.parent / "tests" / "fault_plugin.py"
STEPS, MOST_SECONDS = 150, 30.0
FAULTS = {
    "raylet": ("raylet",),
    "gcs_server": ("gcs_server",),
    "agent": ("RuntimeEnvAgent",),
    "worker": ("ray::Worker",),
    "worker and driver": ("ray::Worker", "driver"),
}


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "FAULTS_LOG": str(folder.with_suffix(".log")), "RAY_worker_niceness": "0"}
    changes = ["--set", f"steps={STEPS}", "--set", "variants=0,1"]
    command = ["run", "faults", "--plugin", str(PLUGIN), *changes, "--out", str(folder), "--save-every", "0", *options]
    return subprocess.Popen(
        [sys.executable, "-m", "humboldt", *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def rows(folder: Path) -> list[str]:
    db = sqlite3.connect(folder / "results.db")
    found = [*db.execute("SELECT training, member, state FROM members"), *db.execute("SELECT measures FROM scores")]
    db.close()
    return sorted(map(repr, found))


def processes(driver: int) -> list[psutil.Process]:
    return psutil.Process(driver).children(recursive=True)


def named(process: psutil.Process, name: str) -> bool:
    try:
        return name in " ".join([process.name(), *process.cmdline()])
    except psutil.Error:
        return False


def listening(driver: int) -> list[str]:
    addresses = set()
    for process in [psutil.Process(driver), *processes(driver)]:
        try:
            connections = process.net_connections(kind="inet")
        except psutil.Error:
            continue
        addresses |= {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}
    return sorted(addresses)


def wait_for_steps(folder: Path, count: int) -> None:
    log, end = folder.with_suffix(".log"), time.monotonic() + 120
    while not log.is_file() or len(log.read_text().splitlines()) < count:
        assert time.monotonic() < end, "no step was taken"
        time.sleep(0.05)


def fault(names: tuple[str, ...], folder: Path, expected: list[str]) -> dict[str, Any]:
    driver = start(folder, "--ray")
    wait_for_steps(folder, 20)
    addresses, found = listening(driver.pid), processes(driver.pid)
    victims = [next(one for one in found if named(one, name)).pid for name in names if name != "driver"]
    if "driver" in names:
        victims.append(driver.pid)
    begin = time.monotonic()
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    try:
        _, said = driver.communicate(timeout=120)
        seconds, code = time.monotonic() - begin, driver.returncode
    except subprocess.TimeoutExpired:
        driver.kill()
        _, said = driver.communicate()
        seconds, code = 120.0, None
    again = start(folder)
    _, errors = again.communicate()
    return {
        "listening": addresses,
        "seconds": round(seconds, 1),
        "exit_code": code,
        "said": (said.strip().splitlines() or [""])[-1].replace(str(folder), "results")[:240],
        "resumed": again.returncode == 0 and rows(folder) == expected,
        "errors": "" if again.returncode == 0 else errors[-300:],
    }


def main() -> None:
    chosen = sys.argv[1:] or list(FAULTS)
    with tempfile.TemporaryDirectory() as place:
        undisturbed = start(Path(place) / "undisturbed")
        _, errors = undisturbed.communicate()
        assert undisturbed.returncode == 0, errors
        expected = rows(Path(place) / "undisturbed")
        found = {name: fault(FAULTS[name], Path(place) / name.replace(" ", "-"), expected) for name in chosen}
    loopback = all(set(one["listening"]) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"} for one in found.values())
    in_time = all(one["seconds"] <= MOST_SECONDS for one in found.values())
    resumed = all(one["resumed"] for one in found.values())
    report("ray_faults", {"faults": found, "loopback_only": loopback, "in_time": in_time, "resumed": resumed})


if __name__ == "__main__":
    main()
