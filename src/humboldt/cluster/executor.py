"""The executor that spreads experiments over a Ray cluster.

The driver (this process) keeps a number of workers, each a Ray actor with cores and perhaps a GPU of its own, and gives
each one experiment at a time. A worker that is lost is replaced, and its experiment goes on elsewhere from its last
checkpoint. Only the driver hands out work and gets results, and only its caller writes them.
"""

import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from humboldt.cluster.connection import Needs, connected, slots
from humboldt.cluster.travel import needed, take
from humboldt.cluster.worker import Hello, Look, Worker, is_interruption
from humboldt.environment import package_versions
from humboldt.errors import Interrupted, RunError, UsageError
from humboldt.events import Warned
from humboldt.execution import AbstractExecutor, Options, Outcome, Sinks
from humboldt.locks import Lock
from humboldt.plugins import sources
from humboldt.results import State, TrainedMember
from humboldt.store import checkpoint_folder
from humboldt.suites.experiments import Experiment
from humboldt.training.base import engines

LOOK_SECONDS = 0.5  # between looks at running experiments
SLOTS_SECONDS = 5.0  # between looks at the machines of the cluster
WAIT_SECONDS = 0.1  # for something to happen
STOP_SECONDS = 45.0  # that experiments have to save and end
MOST_LOST = 4  # workers in a row that an experiment may lose without a new checkpoint, or that may fail to start
MOST_AHEAD = 16  # experiments that are claimed before there is a worker for them


@dataclass(eq=False)
class _Hand:
    """A worker as the driver sees it. `at_work` is what it does; it is not ready before it has said who it is."""

    needs: Needs
    actor: Any
    hello_ref: Any
    hello: Hello | None = None
    at_work: "_Attempt | None" = None


@dataclass(eq=False)
class _Attempt:
    """An experiment, and how it goes."""

    experiment: Experiment
    needs: Needs
    lost: int = 0  # workers in a row, without a new checkpoint
    newest: frozenset[str] = frozenset()  # its checkpoints when it was last begun
    run_ref: Any = None
    look_ref: Any = None
    looked: float = 0.0
    told_to_stop: bool = False


class Ray(AbstractExecutor):
    """Every experiment is done by a worker of a Ray cluster.

    **Arguments:**

    - `address`: of the cluster (`10.0.0.1:6379`); `auto` for the one on this machine; a local one is started if it is
      `None`.
    - `cores`, `gpus`: for each experiment. Experiments whose engine has no use for a GPU get none.
    - `use_folder`: whether workers that see the output folder may write checkpoints there. Otherwise, and where they do
      not see it, checkpoints travel to the driver.
    """

    def __init__(self, address: str | None = None, *, cores: int = 1, gpus: float = 0, use_folder: bool = True) -> None:
        if cores < 1 or gpus < 0:
            raise UsageError(f"cores={cores}, gpus={gpus}: an experiment needs at least one core, and 0 or more GPUs.")
        self.address, self.cores, self.gpus, self.use_folder = address, cores, gpus, use_folder

    def run(self, experiments: Iterable[Experiment | None], options: Options, sinks: Sinks) -> Iterator[Outcome | None]:
        mark = Lock(_mark_path(options.folder))
        with connected(self.address, Needs(self.cores, self.gpus)) as ray:
            mark.claim()
            drive = _Drive(ray, options, sinks, self, mark.path if self.use_folder else None)
            try:
                yield from drive.run(iter(experiments))
            finally:
                drive.dismiss()
                mark.release()

    def needs(self, experiment: Experiment) -> Needs:
        """What an experiment asks of a machine."""
        engine = engines.get(experiment.training.engine)
        return Needs(self.cores, self.gpus if engine.uses_accelerator else 0)


def _mark_path(folder: Path) -> Path:
    """A file by which workers see that the folder is shared; those of drivers that were killed are removed."""
    for left in (folder / "locks").glob("driver-*.lock"):
        lock = Lock(left)
        if lock.claim():
            lock.release()
    return folder / "locks" / f"driver-{uuid.uuid4().hex}.lock"


@dataclass(eq=False)
class _Drive:
    """One study on one cluster."""

    ray: Any
    options: Options
    sinks: Sinks
    executor: Ray
    mark: Path | None
    hands: list[_Hand] = field(default_factory=list)
    queue: deque[_Attempt] = field(default_factory=deque)
    slots: dict[Needs, int] = field(default_factory=dict)
    slots_at: float = 0.0
    failed_starts: int = 0
    sources: Any = field(default_factory=sources)

    def run(self, experiments: Iterator[Experiment | None]) -> Iterator[Outcome | None]:
        is_exhausted, stop_at = False, None
        while True:
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
                self._hire()
                self._hand_out()
            if not self._running() and not self.queue:
                if stop_at is not None:
                    raise Interrupted("Stopped as asked.")
                if is_exhausted:
                    return
                yield None
                continue
            if stop_at is not None and time.monotonic() > stop_at:
                raise Interrupted("Stopped as asked.")
            yield from self._happened(is_stopping=stop_at is not None)

    def dismiss(self) -> None:
        """Ends all workers."""
        for hand in self.hands:
            self.ray.kill(hand.actor)
        self.hands = []

    def _running(self) -> list[_Attempt]:
        return [hand.at_work for hand in self.hands if hand.at_work is not None]

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

    def _hire(self) -> None:
        """A worker for each experiment, as far as the cluster has room."""
        for needs in {attempt.needs for attempt in self.queue}:
            here = [hand for hand in self.hands if hand.needs == needs]
            wanted = sum(attempt.needs == needs for attempt in (*self.queue, *self._running()))
            for _ in range(min(wanted, max(1, self._slots(needs))) - len(here)):
                actor = (
                    self.ray.remote(Worker)
                    .options(num_cpus=needs.cores, num_gpus=needs.gpus, max_concurrency=2)
                    .remote(replace(self.options, cores=needs.cores), self.mark, self.sources, needs.gpus)
                )
                self.hands.append(_Hand(needs, actor, actor.hello.remote()))

    def _hand_out(self) -> None:
        """Work to all that are ready and have none."""
        for hand in self.hands:
            if hand.hello is None or hand.at_work is not None:
                continue
            attempt = next((one for one in self.queue if one.needs == hand.needs), None)
            if attempt is None:
                continue
            self.queue.remove(attempt)
            files = {} if hand.hello.shares_folder else needed(self.options.folder, attempt.experiment)
            attempt.newest = self._checkpoints(attempt)
            attempt.run_ref, attempt.look_ref = hand.actor.run.remote(attempt.experiment, files), None
            attempt.looked = time.monotonic()
            hand.at_work = attempt

    def _happened(self, *, is_stopping: bool) -> Iterator[Outcome]:
        """Waits a moment, and deals with all that has happened since."""
        hands = {hand.hello_ref: hand for hand in self.hands if hand.hello is None}
        hands |= {hand.at_work.run_ref: hand for hand in self.hands if hand.at_work is not None}
        refs = list(hands)
        done, _ = self.ray.wait(refs, num_returns=1, timeout=WAIT_SECONDS)
        if done:
            done, _ = self.ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in done:
            hand = hands[ref]
            if hand.hello is None:
                self._greet(hand)
            else:
                yield from self._finish(hand)
        for hand in self.hands:
            if hand.at_work is not None:
                self._look(hand, hand.at_work, is_stopping=is_stopping)

    def _greet(self, hand: _Hand) -> None:
        """Whether a new worker will do."""
        try:
            hello = self._get(hand.hello_ref)
        except self.ray.exceptions.RayError as error:
            self._forget(hand)
            self.failed_starts += 1
            if self.failed_starts >= MOST_LOST:
                raise RunError(
                    f"{self.failed_starts} workers in a row could not be started: {_first_line(error)}. Is Humboldt "
                    "installed on all machines of the cluster, in the Python that started Ray there?"
                ) from error
            return
        ours = package_versions()
        pairs = [(name, version, hello.versions.get(name, "none")) for name, version in ours.items()]
        if different := [f"{name} {here} here and {there} there" for name, here, there in pairs if here != there]:
            raise UsageError(
                f"The machine {hello.node} of the Ray cluster has other versions: {', '.join(different)}. Results may "
                "differ. Install the same versions on all machines, e.g. with `pip install -c constraints.txt`."
            )
        hand.hello, self.failed_starts = hello, 0

    def _finish(self, hand: _Hand) -> Iterator[Outcome]:
        attempt = hand.at_work
        assert attempt is not None
        try:
            reply = self._get(attempt.run_ref)
        except self.ray.exceptions.RayTaskError as error:  # an error of ours: what can fail is in the reply
            raise RunError(f"{attempt.experiment.name}: {error}") from error
        except self.ray.exceptions.RayError as error:
            self._forget(hand)
            yield from self._lost(attempt, error)
            return
        hand.at_work = None
        self._take(attempt, Look(reply.events, reply.change))
        for outcome in reply.outcomes:
            place = outcome.checkpoints
            yield replace(outcome, checkpoints=place and self.options.folder / place)
        if reply.raised is not None and not is_interruption(reply):
            raise reply.raised

    def _lost(self, attempt: _Attempt, error: Exception) -> Iterator[Outcome]:
        """Once more, unless it gets nowhere."""
        name, before = attempt.experiment.name, attempt.newest
        attempt.lost = 1 if self._checkpoints(attempt) != before else attempt.lost + 1
        if attempt.lost < MOST_LOST:
            sink = self.sinks(attempt.experiment)
            why = f"its worker was lost ({_first_line(error)})"
            sink.send(Warned(f"{name}: {why}. Continuing on another worker from the last checkpoint."))
            attempt.told_to_stop = False
            self.queue.appendleft(attempt)
            return
        why = RunError(f"{attempt.lost} workers in a row were lost before the next checkpoint: {_first_line(error)}")
        detail = {"error": str(error)}
        experiment = attempt.experiment
        failed = tuple(TrainedMember(member, State.FAILED, 0.0, detail) for member in experiment.members)
        yield Outcome(experiment, failed, tuple((e, ()) for e in experiment.evaluations), error=why)

    def _look(self, hand: _Hand, attempt: _Attempt, *, is_stopping: bool) -> None:
        """Asks how an experiment goes, and takes what it has answered."""
        if attempt.look_ref is not None and self.ray.wait([attempt.look_ref], timeout=0)[0]:
            ref, attempt.look_ref = attempt.look_ref, None
            try:
                self._take(attempt, self._get(ref))
            except self.ray.exceptions.RayError:
                return  # the worker was lost: `run_ref` will say so, too
        if is_stopping and not attempt.told_to_stop:
            attempt.told_to_stop = True
            attempt.look_ref = hand.actor.look.remote(True)
        elif attempt.look_ref is None and time.monotonic() - attempt.looked > LOOK_SECONDS:
            attempt.looked = time.monotonic()
            attempt.look_ref = hand.actor.look.remote(False)

    def _take(self, attempt: _Attempt, look: Look) -> None:
        for event in look.events:
            self.sinks(attempt.experiment).send(event)
        if look.change is not None:
            take(self.options.folder, attempt.experiment, look.change)

    def _get(self, ref: Any) -> Any:
        return self.ray.get(ref, timeout=60)

    def _forget(self, hand: _Hand) -> None:
        self.hands.remove(hand)
        self.ray.kill(hand.actor)
        self.slots_at = 0.0  # it may have gone with its machine

    def _checkpoints(self, attempt: _Attempt) -> frozenset[str]:
        folder = checkpoint_folder(self.options.folder, attempt.experiment.training, attempt.experiment.members)
        return frozenset(str(path) for path in folder.rglob("*.ckpt"))


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
