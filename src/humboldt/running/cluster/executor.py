"""The executor that spreads experiments over a Ray cluster.

The driver (this process) has a number of workers, each a Ray actor with its own cores and possibly a GPU, and assigns
each one experiment at a time. A lost worker is replaced, and its experiment resumes on another worker from its last
checkpoint. Only the driver assigns work and receives results, and only its caller writes them.
"""

import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from humboldt.arguments import amount, whole
from humboldt.core.environment import package_versions
from humboldt.core.events import Warned
from humboldt.core.results import State, TrainedMember
from humboldt.errors import Abandoned, Interrupted, RunError, UsageError, named_extras
from humboldt.plugins import sources
from humboldt.running.cluster.connection import Needs, check_address, check_reachable, connected, slots
from humboldt.running.cluster.travel import needed, take
from humboldt.running.cluster.watch import Watch
from humboldt.running.cluster.worker import Handshake, Status, Worker, is_interruption
from humboldt.running.execution import AbstractExecutor, ExperimentOutcome, Options, Sinks
from humboldt.storage.locks import Lock
from humboldt.storage.store import checkpoint_folder
from humboldt.suites.experiments import Experiment
from humboldt.training.base import engines

STATUS_SECONDS = 0.5  # between requests for the status of running experiments
SLOTS_SECONDS = 5.0  # between counts of the machines of the cluster
WAIT_SECONDS = 0.1  # for an event
STOP_SECONDS = 45.0  # for experiments to save and end
MOST_LOST = 4  # losses in a row without a new checkpoint, or failed starts in a row, that are an error
MOST_AHEAD = 16  # experiments claimed before there is a worker for them


@dataclass(eq=False)
class _WorkerHandle:
    """A worker as seen by the driver. `attempt` is its current work; it is ready once it has a `handshake`."""

    needs: Needs
    actor: Any
    handshake_ref: Any
    handshake: Handshake | None = None
    attempt: "_Attempt | None" = None


@dataclass(eq=False)
class _Attempt:
    """An experiment and the state of its execution."""

    experiment: Experiment
    needs: Needs
    lost: int = 0  # workers lost in a row without a new checkpoint
    newest: frozenset[str] = frozenset()  # its checkpoints when it was last started
    run_ref: Any = None
    status_ref: Any = None
    asked_at: float = 0.0
    stop_sent: bool = False


class Ray(AbstractExecutor):
    """Runs every experiment on a worker of a Ray cluster.

    **Arguments:**

    - `address`: of the cluster (`10.0.0.1:6379`); `auto` for the one on this machine; `None` starts a local one.
    - `cores`, `gpus`: for each experiment. Experiments whose engine does not use a GPU get none.
    - `use_folder`: whether workers with access to the output folder may write checkpoints there. Otherwise checkpoints
      are sent to the driver.
    """

    def __init__(self, address: str | None = None, *, cores: int = 1, gpus: float = 0, use_folder: bool = True) -> None:
        if address is not None:
            check_address(address)
        self.address, self.use_folder = address, use_folder
        self.cores, self.gpus = whole(1)("cores", cores), amount("gpus", gpus)

    def check(self) -> None:
        with named_extras():
            import ray  # noqa: F401
        if self.address not in (None, "auto", "local"):
            check_reachable(self.address)

    def run(
        self, experiments: Iterable[Experiment | None], options: Options, sinks: Sinks
    ) -> Iterator[ExperimentOutcome | None]:
        mark = Lock(_mark_path(options.folder))
        with connected(self.address, Needs(self.cores, self.gpus)) as ray, Watch(ray) as watch:
            mark.claim()
            driver = _Driver(ray, watch, options, sinks, self, mark.path if self.use_folder else None)
            try:
                yield from driver.run(iter(experiments))
            finally:
                driver.end_workers()
                mark.release()

    def needs(self, experiment: Experiment) -> Needs:
        """Returns the resources that an experiment needs."""
        engine = engines.get(experiment.training.engine)
        return Needs(self.cores, self.gpus if engine.uses_accelerator else 0)


def _mark_path(folder: Path) -> Path:
    """Returns the path of a file by which workers detect a shared folder; removes those of killed drivers."""
    for left in (folder / "locks").glob("driver-*.lock"):
        lock = Lock(left)
        if lock.claim():
            lock.release()
    return folder / "locks" / f"driver-{uuid.uuid4().hex}.lock"


@dataclass(eq=False)
class _Driver:
    """Runs one study on one cluster."""

    ray: Any
    watch: Watch
    options: Options
    sinks: Sinks
    executor: Ray
    mark: Path | None
    workers: list[_WorkerHandle] = field(default_factory=list)
    queue: deque[_Attempt] = field(default_factory=deque)
    slots: dict[Needs, int] = field(default_factory=dict)
    slots_at: float = 0.0
    failed_starts: int = 0
    sources: Any = field(default_factory=sources)

    def run(self, experiments: Iterator[Experiment | None]) -> Iterator[ExperimentOutcome | None]:
        is_exhausted, stop_at = False, None
        while True:
            self._check_cluster()
            if stop_at is None and self._should_stop():
                stop_at = time.monotonic() + STOP_SECONDS
                self.queue.clear()
            can_begin = stop_at is None
            while can_begin and not is_exhausted and len(self.queue) + len(self._running()) < self._most_claimed():
                try:
                    experiment = next(experiments)
                except StopIteration:
                    is_exhausted = True
                    break
                if experiment is None:  # other processes work on all that is left
                    break
                self.queue.append(_Attempt(experiment, self.executor.needs(experiment)))
            if stop_at is None:
                self._start_workers()
                self._assign()
            if not self._running() and not self.queue:
                if stop_at is not None:
                    raise Interrupted("Interrupted by the user.")
                if is_exhausted:
                    return
                yield None
                continue
            if stop_at is not None and time.monotonic() > stop_at:
                raise Abandoned(f"Some workers did not save within {STOP_SECONDS:g} s.")
            yield from self._handle_events(is_stopping=stop_at is not None)

    def end_workers(self) -> None:
        """Ends all workers."""
        for worker in self.workers:
            self.ray.kill(worker.actor)
        self.workers = []

    def _running(self) -> list[_Attempt]:
        return [worker.attempt for worker in self.workers if worker.attempt is not None]

    def _should_stop(self) -> bool:
        attempts = self._running() or list(self.queue)
        return bool(attempts) and self.sinks(attempts[0].experiment).should_stop()

    def _most_claimed(self) -> int:
        most = max(self._slots(Needs(self.executor.cores, gpus)) for gpus in {0, self.executor.gpus})
        return most + min(most, MOST_AHEAD)

    def _slots(self, needs: Needs) -> int:
        if time.monotonic() - self.slots_at > SLOTS_SECONDS:
            self.slots, self.slots_at = {}, time.monotonic()
        if needs not in self.slots:
            self.slots[needs] = slots(self.ray, needs)
        return self.slots[needs]

    def _start_workers(self) -> None:
        """Starts a worker for each experiment, as far as the cluster has room."""
        for needs in {attempt.needs for attempt in self.queue}:
            here = [worker for worker in self.workers if worker.needs == needs]
            wanted = sum(attempt.needs == needs for attempt in (*self.queue, *self._running()))
            for _ in range(min(wanted, max(1, self._slots(needs))) - len(here)):
                actor = (
                    self.ray.remote(Worker)
                    .options(num_cpus=needs.cores, num_gpus=needs.gpus, max_concurrency=2)
                    .remote(replace(self.options, cores=needs.cores), self.mark, self.sources, needs.gpus)
                )
                self.workers.append(_WorkerHandle(needs, actor, actor.handshake.remote()))

    def _assign(self) -> None:
        """Assigns work to all idle workers."""
        for worker in self.workers:
            if worker.handshake is None or worker.attempt is not None:
                continue
            attempt = next((queued for queued in self.queue if queued.needs == worker.needs), None)
            if attempt is None:
                continue
            self.queue.remove(attempt)
            files = {} if worker.handshake.shares_folder else needed(self.options.folder, attempt.experiment)
            attempt.newest = self._checkpoints(attempt)
            attempt.run_ref, attempt.status_ref = worker.actor.run.remote(attempt.experiment, files), None
            attempt.asked_at = time.monotonic()
            worker.attempt = attempt

    def _handle_events(self, *, is_stopping: bool) -> Iterator[ExperimentOutcome]:
        """Waits a moment, handles all events since, and yields outcomes."""
        workers = {worker.handshake_ref: worker for worker in self.workers if worker.handshake is None}
        workers |= {worker.attempt.run_ref: worker for worker in self.workers if worker.attempt is not None}
        refs = list(workers)
        done, _ = self.ray.wait(refs, num_returns=1, timeout=WAIT_SECONDS)
        if done:
            done, _ = self.ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in done:
            worker = workers[ref]
            if worker.handshake is None:
                self._accept(worker)
            else:
                yield from self._finish(worker)
        for worker in self.workers:
            if worker.attempt is not None:
                self._poll(worker, worker.attempt, is_stopping=is_stopping)

    def _accept(self, worker: _WorkerHandle) -> None:
        """Accepts a new worker; raises if its versions differ or too many workers fail to start."""
        try:
            handshake = self._get(worker.handshake_ref)
        except self.ray.exceptions.RayError as error:
            self._remove(worker)
            self.failed_starts += 1
            if self.failed_starts >= MOST_LOST:
                raise RunError(
                    f"{self.failed_starts} workers in a row could not be started: {_first_line(error)}. Is Humboldt "
                    "installed on all machines of the cluster, in the Python that started Ray there?"
                ) from error
            return
        ours = package_versions()
        pairs = [(name, version, handshake.versions.get(name, "none")) for name, version in ours.items()]
        if different := [f"{name} {here} here and {there} there" for name, here, there in pairs if here != there]:
            raise UsageError(
                f"The machine {handshake.node} of the Ray cluster has other versions: {', '.join(different)}. "
                "Results may differ. Install the same versions on all machines, e.g. with "
                "`pip install -c constraints.txt`."
            )
        worker.handshake, self.failed_starts = handshake, 0

    def _finish(self, worker: _WorkerHandle) -> Iterator[ExperimentOutcome]:
        attempt = worker.attempt
        assert attempt is not None
        try:
            result = self._get(attempt.run_ref)
        except self.ray.exceptions.RayTaskError as error:  # a bug of Humboldt: expected failures are in the result
            raise RunError(f"{attempt.experiment.name}: {error}") from error
        except self.ray.exceptions.RayError as error:
            self._remove(worker)
            yield from self._lost(attempt, error)
            return
        worker.attempt = None
        self._take(attempt, Status(result.events, result.change))
        for outcome in result.outcomes:
            place = outcome.checkpoints
            yield replace(outcome, checkpoints=place and self.options.folder / place)
        if result.raised is not None and not is_interruption(result):
            raise result.raised

    def _check_cluster(self) -> None:
        """Raises if a process of Ray has ended, without which no worker can be reached."""
        if name := self.watch.ended():
            raise RunError(
                f"Ray: {name} has ended or was restarted, so the workers cannot be reached. Finished experiments and "
                "checkpoints are kept. Run the same command again as soon as the cluster is back: it resumes."
            )

    def _lost(self, attempt: _Attempt, error: Exception) -> Iterator[ExperimentOutcome]:
        """Queues a lost experiment again; yields a failure if it was lost too often without a new checkpoint."""
        name, before = attempt.experiment.name, attempt.newest
        attempt.lost = 1 if self._checkpoints(attempt) != before else attempt.lost + 1
        if attempt.lost < MOST_LOST:
            sink = self.sinks(attempt.experiment)
            why = f"its worker was lost ({_first_line(error)})"
            sink.send(Warned(f"{name}: {why}. Continuing on another worker from the last checkpoint."))
            attempt.stop_sent = False
            self.queue.appendleft(attempt)
            return
        why = RunError(f"{attempt.lost} workers in a row were lost before the next checkpoint: {_first_line(error)}")
        detail = {"error": str(error)}
        experiment = attempt.experiment
        failed = tuple(TrainedMember(member, State.FAILED, 0.0, detail) for member in experiment.members)
        yield ExperimentOutcome(experiment, failed, tuple((e, ()) for e in experiment.evaluations), error=why)

    def _poll(self, worker: _WorkerHandle, attempt: _Attempt, *, is_stopping: bool) -> None:
        """Requests the status of an experiment, and handles the last answer."""
        if attempt.status_ref is not None and self.ray.wait([attempt.status_ref], timeout=0)[0]:
            ref, attempt.status_ref = attempt.status_ref, None
            try:
                self._take(attempt, self._get(ref))
            except self.ray.exceptions.RayError:
                return  # the worker was lost, which `run_ref` will also show
        if is_stopping and not attempt.stop_sent:
            attempt.stop_sent = True
            attempt.status_ref = worker.actor.status.remote(True)
        elif attempt.status_ref is None and time.monotonic() - attempt.asked_at > STATUS_SECONDS:
            attempt.asked_at = time.monotonic()
            attempt.status_ref = worker.actor.status.remote(False)

    def _take(self, attempt: _Attempt, status: Status) -> None:
        for event in status.events:
            self.sinks(attempt.experiment).send(event)
        if status.change is not None:
            take(self.options.folder, attempt.experiment, status.change)

    def _get(self, ref: Any) -> Any:
        return self.ray.get(ref, timeout=60)

    def _remove(self, worker: _WorkerHandle) -> None:
        self.workers.remove(worker)
        self.ray.kill(worker.actor)
        self.slots_at = 0.0  # its machine may be lost, too

    def _checkpoints(self, attempt: _Attempt) -> frozenset[str]:
        folder = checkpoint_folder(self.options.folder, attempt.experiment.training, attempt.experiment.members)
        return frozenset(str(path) for path in folder.rglob("*.ckpt"))


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
