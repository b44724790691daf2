"""Studies on a real Ray: several nodes on this machine, which lose workers, nodes and drivers."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from merging_support import rows, weights
from suite_support import TINY, Recording

import humboldt
from humboldt.core.environment import package_versions
from humboldt.core.events import Event, Progress
from humboldt.errors import Interrupted, RunError, UsageError
from humboldt.plugins import load_files
from humboldt.running.cluster import connection, executor
from humboldt.running.cluster.executor import Ray
from humboldt.running.study import Study

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]  # Ray leaves sockets and files to the end
PLUGIN = Path(__file__).parents[1] / "fault_plugin.py"
STEPS = 8


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gets a line for every step: its number, the process, and how many cores that has."""
    return tmp_path_factory.mktemp("ray") / "steps.log"


@pytest.fixture(scope="module")
def cluster(log: Path) -> Iterator[Any]:
    """A head without cores, and two nodes of one core each."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    # Nodes and their workers inherit these. Ray's workers give way to all other work on a machine, but not here.
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0", FAULTS_LOG=str(log))
    load_files([PLUGIN])
    small = {"object_store_memory": 80_000_000, "include_dashboard": False}
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    for _ in range(2):
        found.add_node(num_cpus=1, object_store_memory=80_000_000)
    yield found
    found.shutdown()
    del os.environ["FAULTS_LOG"]


def plan(out: Path, variants: int = 4, **settings: Any) -> Study:
    changes = {"variants": tuple(range(variants)), "steps": STEPS, **settings}
    return humboldt.plan("faults", settings=changes, out=out)


def expected(folder: Path, **settings: Any) -> Path:
    """The same study on one machine."""
    plan(folder, **settings).run(lambda experiment: Recording(), keep="all")
    return folder


def run(study: Study, cluster: Any, sink: Recording | None = None, **options: Any) -> Recording:
    sink = sink or Recording()
    study.run(lambda experiment: sink, keep="all", save_seconds=0, executor=Ray(cluster.address, **options))
    return sink


def steps(log: Path) -> list[tuple[int, int]]:
    """The steps that were taken, and by whom."""
    lines = [line.split() for line in log.read_text().splitlines()]
    return [(int(step), int(process)) for step, process, _ in lines]


class Meddling(Recording):
    """Does something once, as soon as an experiment is so far."""

    def __init__(self, *acts: tuple[int, Callable[[], None]]) -> None:
        super().__init__()
        self.acts = list(acts)

    def send(self, event: Event) -> None:
        super().send(event)
        if self.acts and isinstance(event, Progress) and event.done >= self.acts[0][0]:
            self.acts.pop(0)[1]()


def test_eight_experiments_give_the_rows_of_one_machine(cluster: Any, log: Path, tmp_path: Path):
    together = log.with_suffix(".together")
    together.write_text("2")
    sink = run(plan(tmp_path / "ray"), cluster)
    together.unlink(missing_ok=True)
    cores = {line.split()[2] for line in log.read_text().splitlines()}
    processes = {process for _, process in steps(log)}
    one = expected(tmp_path / "one")
    assert rows(tmp_path / "ray") == rows(one) and weights(tmp_path / "ray") == weights(one)
    assert len(plan(one).experiments) == 8 and plan(tmp_path / "ray").pending() == []
    assert len(processes) == 2 and cores == {"1"}  # two workers have done all of it, with a core each
    assert not list((tmp_path / "ray").glob("checkpoints/*")) and not list((tmp_path / "ray").glob("locks/*"))
    assert sink.warnings == []


@pytest.mark.parametrize(
    ("use_folder", "variants"), [(True, 4), (False, 2)], ids=["shared folder", "travelling checkpoints"]
)
def test_a_killed_worker_and_a_lost_node_lose_nothing(
    use_folder: bool, variants: int, cluster: Any, log: Path, tmp_path: Path
):
    log.write_text("")
    node = cluster.add_node(num_cpus=1, object_store_memory=80_000_000)

    def kill_a_worker() -> None:
        os.kill(steps(log)[-1][1], signal.SIGKILL)

    sink = Meddling((2, kill_a_worker), (4, lambda: cluster.remove_node(node)))
    run(plan(tmp_path / "ray", variants, pause=0.1), cluster, sink, use_folder=use_folder)
    taken, least = len(steps(log)), 2 * variants * STEPS
    one = expected(tmp_path / "one", variants=variants, pause=0.0)
    settled = [(*row[1:4],) for row in rows(tmp_path / "ray") if '"seed"' in row[1]]
    assert sorted(settled) == sorted((*row[1:4],) for row in rows(one) if '"seed"' in row[1])
    assert sink.acts == [] and 1 <= len(sink.warnings) <= 3 and "its worker was lost" in sink.warnings[0]
    # Every step is saved. What was lost are steps that had not travelled yet: those of a look, at most.
    assert least <= taken <= least + (3 if use_folder else 20)


def test_a_killed_driver_is_started_again_and_goes_on(cluster: Any, log: Path, tmp_path: Path):
    log.write_text("")
    settings = {"variants": "0,1", "steps": str(STEPS), "pause": "0.3"}
    changes = [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]
    command = [
        *(sys.executable, "-m", "humboldt", "run", "faults", "--plugin", str(PLUGIN), *changes),
        *("--ray", cluster.address, "--out", str(tmp_path / "ray"), "--save-every", "0", "--keep", "all"),
    ]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(log.read_text().splitlines()) < 6:
        assert driver.poll() is None and time.monotonic() < deadline, driver.communicate()
        time.sleep(0.05)
    driver.kill()
    driver.communicate()
    before = len(steps(log))
    run(plan(tmp_path / "ray", variants=2, pause=0.3), cluster)
    one = expected(tmp_path / "one", variants=2, pause=0.3)
    assert rows(tmp_path / "ray") == rows(one) and weights(tmp_path / "ray") == weights(one)
    own = len(steps(log)) - before - 4 * STEPS  # those of the study on one machine are in the log, too
    assert own < 4 * STEPS  # it went on, and did not begin anew
    assert not list((tmp_path / "ray").glob("locks/*")) and not list((tmp_path / "ray").glob("checkpoints/*"))


def test_a_killed_head_ends_the_command_and_a_new_one_resumes(log: Path, tmp_path: Path):
    ray_cluster = pytest.importorskip("ray.cluster_utils")
    load_files([PLUGIN])
    head = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    study = plan(tmp_path / "study", variants=1, steps=40, pause=0.1)
    first = ray_cluster.Cluster(initialize_head=True, head_node_args=head)
    try:
        begin = time.monotonic()
        with pytest.raises(RunError, match="the head of the cluster has ended or was restarted"):
            run(study, first, Meddling((3, lambda: first.head_node.kill_gcs_server(check_alive=False))))
        assert time.monotonic() - begin < 60
    finally:
        first.shutdown()
    study.run(lambda experiment: Recording(), keep="all")
    rows_here = rows(expected(tmp_path / "expected", variants=1, steps=40, pause=0.1))
    assert rows(tmp_path / "study") == rows_here


def test_who_stops_can_go_on(cluster: Any, log: Path, tmp_path: Path):
    """With checkpoints that travel: what was saved last has to come home."""
    log.write_text("")
    study = plan(tmp_path / "ray", variants=1, pause=0.2)

    class Stopping(Recording):
        def should_stop(self) -> bool:
            return any(isinstance(event, Progress) and event.done >= 2 for event in self.events)

    with pytest.raises(Interrupted):
        run(study, cluster, Stopping(), use_folder=False)
    assert list((tmp_path / "ray").glob("checkpoints/*/*.ckpt")) and not list((tmp_path / "ray").glob("locks/*"))
    assert 0 < len(steps(log)) < 2 * STEPS
    study.run(lambda experiment: Recording(), keep="all")  # here, without Ray
    assert len(steps(log)) == 2 * STEPS  # nothing was done twice
    assert study.pending() == [] and not list((tmp_path / "ray").glob("checkpoints/*"))


def test_kept_members_are_scored_where_no_folder_is_shared(cluster: Any, log: Path, tmp_path: Path):
    expected(tmp_path / "ray", variants=1)
    log.write_text("")
    run(plan(tmp_path / "ray", variants=1, digits=3), cluster, use_folder=False)
    assert log.read_text() == "" and plan(tmp_path / "ray", variants=1, digits=3).pending() == []


def test_an_experiment_that_kills_every_worker_fails_and_the_others_go_on(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(executor, "MOST_LOST", 2)
    with pytest.raises(RunError, match=r"2 of 2 experiments failed.*2 workers in a row were lost"):
        run(plan(tmp_path, variants=1, dies=True), cluster)


def test_networks_of_jax_give_the_rows_of_one_machine(cluster: Any, tmp_path: Path):
    """One of ours, and one from a user's file, which travels."""
    mine = tmp_path / "my_file.py"
    mine.write_text('from humboldt.models import models\n\n\nclass Mine(models.get("rnn")):\n    title = "Mine"\n')

    def study(out: Path) -> Study:
        return humboldt.plan(
            "chomsky",
            tasks=["parity_check"],
            models=["rnn", f"{mine}:Mine"],
            preset="paper",
            seeds=1,
            settings=TINY,
            out=out,
        )

    run(study(tmp_path / "ray"), cluster)
    study(tmp_path / "one").run(lambda experiment: Recording(), keep="all")
    assert rows(tmp_path / "ray") == rows(tmp_path / "one") and weights(tmp_path / "ray") == weights(tmp_path / "one")


def wrong(study: Study, address: str, message: str, **options: Any) -> None:
    begin = time.monotonic()
    with pytest.raises(UsageError, match=message):
        study.run(lambda experiment: Recording(), executor=Ray(address, **options))
    assert time.monotonic() - begin < 30


def test_wrong_input_is_answered_soon(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    study = plan(tmp_path, variants=1)
    wrong(study, "127.0.0.1:1", "127.0.0.1:1: nothing answers there")
    wrong(study, "ray://127.0.0.1:10001", "not of the form HOST:PORT")
    wrong(study, "somewhere", "not of the form HOST:PORT")
    wrong(study, cluster.address, "--gpus 1: no machine of the Ray cluster has that many", gpus=1)
    wrong(study, cluster.address, "--cores 99: no machine of the Ray cluster has that many", cores=99)
    ours = package_versions()
    monkeypatch.setattr(executor, "package_versions", lambda: {**ours, "jax": "0.0.1"})
    wrong(study, cluster.address, "has other versions: jax 0.0.1 here and .* there")
    assert not list(tmp_path.glob("locks/*"))


def test_something_that_is_no_ray_is_not_waited_for(tmp_path: Path, cluster: Any):
    """In a process of its own: Ray's thread goes on trying."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        arguments = ["run", "faults", "--plugin", str(PLUGIN), "--out", str(tmp_path), "--ray", address]
        module = "humboldt.running.cluster"
        code = f"from humboldt import cli; from {module} import connection as c; c.CONNECT_SECONDS = 3; cli.main()"
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and f"--ray {address}: no Ray cluster can be joined there" in done.stderr
    assert connection.CONNECT_SECONDS + connection.REACH_SECONDS < 30


def test_what_was_registered_in_a_script_cannot_travel(cluster: Any, tmp_path: Path, registrations_undone: None):
    from humboldt.models import models

    humboldt.register("of_my_own", version=1)(type("OfMyOwn", (models.get("rnn"),), {}))
    study = humboldt.plan("chomsky", tasks="parity_check", models="of_my_own", seeds=1, settings=TINY, out=tmp_path)
    wrong(study, cluster.address, "No model named 'of_my_own'.*does not travel. Put it into a file")
