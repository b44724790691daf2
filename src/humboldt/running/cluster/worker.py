"""The worker process of a cluster, which runs one experiment after the other. It does not depend on Ray; Ray calls its
methods, and `status` while `run` is running."""

import os
import pickle
import shutil
import socket
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from humboldt.core.environment import package_versions
from humboldt.core.events import AbstractSink, Event, Progress
from humboldt.errors import HumboldtError, Interrupted, RunError, UsageError
from humboldt.models.own import is_reference, register_reference
from humboldt.plugins import load_files, load_installed
from humboldt.running.cluster.travel import Change, CheckpointWatcher, Files, put
from humboldt.running.execution import ExperimentOutcome, Options, in_groups
from humboldt.storage.checkpoints import Superseded
from humboldt.suites import catalogue, suites
from humboldt.suites.experiments import Experiment
from humboldt.suites.own_tasks import is_language_file, register_language

Sources = Mapping[str, tuple[str, Files]]
"""See `humboldt.plugins.sources`."""


@dataclass(frozen=True)
class Handshake:
    """Identifies a worker to the driver. `shares_folder`: whether it can write to the driver's output folder."""

    node: str
    process: int
    versions: Mapping[str, str]
    shares_folder: bool


@dataclass(frozen=True)
class WorkerResult:
    """Result of an experiment. `raised`: an error that ends the study, as it would on one machine."""

    outcomes: tuple[ExperimentOutcome, ...] = ()
    raised: HumboldtError | None = None
    events: tuple[Event, ...] = ()
    change: Change | None = None


@dataclass(frozen=True)
class Status:
    """Events and changed checkpoints since the last status."""

    events: tuple[Event, ...]
    change: Change | None


class Worker:
    """One process with one or more cores, and possibly a GPU.

    **Arguments:**

    - `options`: of the run. Their folder is the driver's, and is used if the file `mark` exists on this machine.
    - `sources`: files of the user that register tasks, models or suites.
    - `gpus`: the number of GPUs of this process; less than one for a shared GPU.
    """

    def __init__(self, options: Options, mark: Path | None, sources: Sources, gpus: float) -> None:
        _set_environment(options.cores or 1, gpus)
        self._shares_folder = mark is not None and mark.is_file() and os.access(options.folder, os.W_OK)
        self._temporary = tempfile.TemporaryDirectory(prefix="humboldt-worker-")
        folder = options.folder if self._shares_folder else Path(self._temporary.name) / "results"
        self._options = replace(options, folder=folder, can_be_forgotten=True)
        self._sink = _Mailbox()
        self._watcher: CheckpointWatcher | None = None
        self._watching = threading.Lock()
        self._files: dict[str, Path] = {}  # of the user, by name
        load_installed()
        for number, (name, files) in enumerate(sources.values()):
            folder = Path(self._temporary.name) / f"plugin-{number}"
            put(folder, files)
            if not is_language_file(name):  # that of a task is read with its experiment
                load_files([folder / name])
            self._files[Path(name).name] = folder / name

    def handshake(self) -> Handshake:
        """Identifies this worker; the driver calls this before it assigns work."""
        return Handshake(socket.gethostname(), os.getpid(), package_versions(), self._shares_folder)

    def run(self, experiment: Experiment, files: Files) -> WorkerResult:
        """Runs an experiment and returns its outcomes. `files`: those to resume from if the folder is not shared."""
        self._sink = sink = _Mailbox()
        if not self._shares_folder:
            shutil.rmtree(self._options.folder, ignore_errors=True)  # of the experiment before
            put(self._options.folder, files)
            with self._watching:
                self._watcher = CheckpointWatcher(self._options.folder)
                self._watcher.change()  # files of the driver need not be sent back
        outcomes, raised = [], None
        try:
            self._check(experiment)
            for outcome in in_groups(experiment, self._options, sink):
                outcomes.append(self._portable(outcome))  # one by one, so that a later stop does not lose them
        except Superseded:  # the driver has given this process up and does not read the result
            raised = RunError("Another process has taken over.")
        except HumboldtError as error:
            raised = error
        # A stopped experiment has just saved. All files are sent: the driver may not have read the last status.
        change = (
            CheckpointWatcher(self._options.folder).change()
            if raised is not None and self._watcher is not None
            else None
        )
        return WorkerResult(tuple(outcomes), raised, sink.taken(), change)

    def status(self, stop: bool) -> Status:
        """Returns the events since the last call; `stop` requests that the experiment saves and ends."""
        if stop:
            self._sink.stop.set()
        return Status(self._sink.taken(), self._change())

    def _change(self) -> Change | None:
        with self._watching:
            return None if self._watcher is None else self._watcher.change()

    def _check(self, experiment: Experiment) -> None:
        """Raises if task or model have other versions than at the driver."""
        training, here = experiment.training, socket.gethostname()
        try:
            if is_reference(training.model):  # my_file.py:MyGRU
                file, _, attribute = training.model.rpartition(":")
                register_reference(f"{self._files.get(file, file)}:{attribute}")
            file = str(self._files.get(training.task, training.task))  # my.grammar
            register_language(suites.get(training.suite), file)
            known = catalogue.versions(suites.get(training.suite), training.task, training.model)
        except UsageError as error:
            raise UsageError(
                f"{experiment.name} cannot run on the machine {here}: {error} What is registered in a script or "
                "notebook does not travel. Put it into a file and give it with --plugin, or install it on all machines."
            ) from error
        if known != training.versions:
            raise UsageError(
                f"{experiment.name} has the versions {dict(training.versions)} here and {known} on the machine {here}. "
                "Install the same package on all machines."
            )

    def _portable(self, outcome: ExperimentOutcome) -> ExperimentOutcome:
        """Returns the outcome with an error that can be unpickled anywhere and a relative path of checkpoints."""
        error, place = outcome.error, outcome.checkpoints
        if error is not None:
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:  # users' exceptions may raise anything when pickled
                error = RunError(f"{type(error).__name__}: {error}")
        return replace(outcome, error=error, checkpoints=place and place.relative_to(self._options.folder))


class _Mailbox(AbstractSink):
    """Keeps warnings and the latest progress until the driver asks for them."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._others: list[Event] = []

    def send(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, Progress):
                self._progress = event
            else:
                self._others.append(event)

    def should_stop(self) -> bool:
        return self.stop.is_set()

    def taken(self) -> tuple[Event, ...]:
        with self._lock:
            events = (*self._others, *([self._progress] if self._progress else []))
            self._others, self._progress = [], None
        return events


def _set_environment(cores: int, gpus: float) -> None:
    """Sets the variables that XLA reads at its start: number of threads and share of a GPU."""
    os.environ["NPROC"] = str(cores)
    if not gpus:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    elif gpus < 1:
        os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{0.9 * gpus:.2f}")


def is_interruption(result: WorkerResult) -> bool:
    """Returns whether an experiment ended because a stop was requested."""
    return isinstance(result.raised, Interrupted)
