"""What happens to a study on Ray if processes are killed in mid-training?

    python benchmarks/ray_faults.py [FAULT ...] > record.json

For each fault, a small study is started with `--ray`, and processes are killed with SIGKILL after some steps: those of
a local Ray, which the command has started itself, or the head of a cluster that it has joined, which in one case is
started again at once. The command must end, or go on, within 30 s; the same command again must give the rows of an
undisturbed study. Also lists the addresses on which the processes of a local Ray listen: all must be of the loopback
interface.
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
PORT = 6399  # of a cluster that the command joins
LOCAL = {
    "raylet": ("raylet",),
    "gcs_server": ("gcs_server",),
    "agent": ("RuntimeEnvAgent",),
    "worker": ("ray::Worker",),
    "worker and driver": ("ray::Worker", "driver"),
}
JOINED = {
    "head": ("gcs_server", "raylet"),
    "head, started again": ("gcs_server", "raylet"),
    "raylet of a joined cluster": ("raylet",),
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
    stored = [*db.execute("SELECT training, member, state FROM members"), *db.execute("SELECT measures FROM scores")]
    db.close()
    return sorted(map(repr, stored))


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
        addresses |= {link.laddr.ip for link in connections if link.status == psutil.CONN_LISTEN}
    return sorted(addresses)


def wait_for_steps(folder: Path, count: int) -> None:
    log, end = folder.with_suffix(".log"), time.monotonic() + 120
    while not log.is_file() or len(log.read_text().splitlines()) < count:
        assert time.monotonic() < end, "no step was taken"
        time.sleep(0.05)


def killed(folder: Path, driver: subprocess.Popen[str], victims: list[int], expected: list[str]) -> dict[str, Any]:
    """Kills processes; returns what became of the command, and whether the same one gave the right rows."""
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
    return {
        "seconds": round(seconds, 1),
        "exit_code": code,
        "said": (said.strip().splitlines() or [""])[-1].replace(str(folder), "results")[:240],
        **resumed(folder, expected),
    }


def resumed(folder: Path, expected: list[str], *options: str) -> dict[str, Any]:
    """Runs the same command again, with or without Ray."""
    again = start(folder, *options)
    _, errors = again.communicate()
    is_same = again.returncode == 0 and rows(folder) == expected
    return {"resumed": is_same, "errors": "" if again.returncode == 0 else errors[-300:]}


def fault(name: str, folder: Path, expected: list[str]) -> dict[str, Any]:
    """Kills processes of a local Ray, and possibly the command that has started it."""
    driver = start(folder, "--ray")
    wait_for_steps(folder, 20)
    addresses, running = listening(driver.pid), processes(driver.pid)
    victims = [next(p for p in running if named(p, kind)).pid for kind in LOCAL[name] if kind != "driver"]
    if "driver" in LOCAL[name]:
        victims.append(driver.pid)
    return {"listening": addresses, **killed(folder, driver, victims, expected)}


def of_cluster(place: Path) -> list[psutil.Process]:
    """Returns the processes of the cluster whose files are in a folder."""
    words = [(process, " ".join(process.info["cmdline"] or [])) for process in psutil.process_iter(["cmdline"])]
    return [process for process, text in words if str(place) in text and process.pid != os.getpid()]


def start_head(place: Path) -> None:
    ray = Path(sys.executable).with_name("ray")
    sizes = ["--num-cpus=2", "--object-store-memory=80000000"]
    where = ["--node-ip-address=127.0.0.1", f"--port={PORT}", f"--temp-dir={place}"]
    command = [ray, "start", "--head", *where, *sizes, "--include-dashboard=false", "--disable-usage-stats"]
    subprocess.run(command, check=True, capture_output=True)


def fault_of_cluster(name: str, folder: Path, expected: list[str]) -> dict[str, Any]:
    """Kills processes of a cluster that the command has joined."""
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as text:  # short: it holds sockets
        place = Path(text)
        start_head(place)
        try:
            driver = start(folder, "--ray", f"127.0.0.1:{PORT}")
            wait_for_steps(folder, 20)
            victims = [process.pid for process in of_cluster(place) if process.name() in JOINED[name]]
            if "again" not in name:
                return killed(folder, driver, victims, expected)
            begin = time.monotonic()
            for victim in victims:
                os.kill(victim, signal.SIGKILL)
            start_head(place)
            _, said = driver.communicate(timeout=120)
            seconds = round(time.monotonic() - begin, 1)
            result = {"seconds": seconds, "exit_code": driver.returncode, "said": said.strip().splitlines()[-1][:240]}
            return {**result, **resumed(folder, expected, "--ray", f"127.0.0.1:{PORT}")}
        finally:
            for process in of_cluster(place):
                process.kill()


def main() -> None:
    """Prints the record."""
    chosen = sys.argv[1:] or [*LOCAL, *JOINED]
    with tempfile.TemporaryDirectory() as place:
        undisturbed = start(Path(place) / "undisturbed")
        _, errors = undisturbed.communicate()
        assert undisturbed.returncode == 0, errors
        expected = rows(Path(place) / "undisturbed")
        results = {}
        for name in chosen:
            folder = Path(place) / name.replace(" ", "-").replace(",", "")
            results[name] = (fault if name in LOCAL else fault_of_cluster)(name, folder, expected)
            print(name, results[name], file=sys.stderr, flush=True)
    addresses = {address for result in results.values() for address in result.get("listening", [])}
    summary = {
        "loopback_only": addresses <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"},
        "in_time": all(result["seconds"] <= MOST_SECONDS for result in results.values()),
        "resumed": all(result["resumed"] for result in results.values()),
    }
    report("ray_faults", {"faults": results, **summary})


if __name__ == "__main__":
    main()
