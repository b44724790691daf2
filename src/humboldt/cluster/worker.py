"""What runs on another machine: one process that does one experiment after the other, and stays warm. It knows no Ray;
Ray calls its methods, `look` while `run` is at work."""

import os
import pickle
import shutil
import socket
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from humboldt.checkpoints import Superseded
from humboldt.cluster.travel import Change, Files, Watched, put
from humboldt.environment import package_versions
from humboldt.errors import HumboldtError, Interrupted, RunError, UsageError
from humboldt.events import AbstractSink, Event, Progress
from humboldt.execution import Options, Outcome, in_groups
from humboldt.outside_models import is_reference, register_reference
from humboldt.plugins import load_files, load_installed
from humboldt.suites import suites
from humboldt.suites.experiments import Experiment

Sources = Mapping[str, tuple[str, Files]]
"""See `humboldt.plugins.sources`."""


@dataclass(frozen=True)
class Hello:
    """Who a worker is. `shares_folder`: whether it sees the driver's output folder."""

    node: str
    process: int
    versions: Mapping[str, str]
    shares_folder: bool


@dataclass(frozen=True)
class Reply:
    """How an experiment went. `raised`: an error that ends the study, as it would on one machine."""

    outcomes: tuple[Outcome, ...] = ()
    raised: HumboldtError | None = None
    events: tuple[Event, ...] = ()
    change: Change | None = None


@dataclass(frozen=True)
class Look:
    """What has happened since the last look."""

    events: tuple[Event, ...]
    change: Change | None


class Worker:
    """One process of one or more cores, and perhaps a GPU.

    **Arguments:**

    - `options`: how to run. Their folder is the driver's, and is used if the file `mark` can be seen here.
    - `sources`: files of the user that register something.
    - `gpus`: how many this process has; less than one if it shares it.
    """

    def __init__(self, options: Options, mark: Path | None, sources: Sources, gpus: float) -> None:
        _set_environment(options.cores or 1, gpus)
        self._shares_folder = mark is not None and mark.is_file() and os.access(options.folder, os.W_OK)
        self._temporary = tempfile.TemporaryDirectory(prefix="humboldt-worker-")
        folder = options.folder if self._shares_folder else Path(self._temporary.name) / "results"
        self._options = replace(options, folder=folder, can_be_forgotten=True)
        self._sink = _Mailbox()
        self._watched: Watched | None = None
        self._looking = threading.Lock()
        self._files: dict[str, Path] = {}  # of the user, by name
        load_installed()
        for number, (name, files) in enumerate(sources.values()):
            place = Path(self._temporary.name) / f"plugin-{number}"
            put(place, files)
            load_files([place / name])
            self._files[Path(name).name] = place / name

    def hello(self) -> Hello:
        """Who this is: the driver asks before it gives any work."""
        return Hello(socket.gethostname(), os.getpid(), package_versions(), self._shares_folder)

    def run(self, experiment: Experiment, files: Files) -> Reply:
        """All outcomes of one experiment. `files` are what it goes on from, where the folder is not shared."""
        self._sink = sink = _Mailbox()
        if not self._shares_folder:
            shutil.rmtree(self._options.folder, ignore_errors=True)  # of the experiment before
            put(self._options.folder, files)
            with self._looking:
                self._watched = Watched(self._options.folder)
                self._watched.change()  # what came from the driver need not go back
        outcomes, raised = [], None
        try:
            self._check(experiment)
            for outcome in in_groups(experiment, self._options, sink):
                outcomes.append(self._portable(outcome))  # one by one: who is stopped later has these
        except Superseded:  # the driver has forgotten this process: nobody reads this
            raised = RunError("Another process has taken over.")
        except HumboldtError as error:
            raised = error
        # Who is stopped has just saved. All of it is sent again: the driver may not have read the last look.
        change = Watched(self._options.folder).change() if raised is not None and self._watched is not None else None
        return Reply(tuple(outcomes), raised, sink.taken(), change)

    def look(self, stop: bool) -> Look:
        """What has happened since; `stop` asks the experiment to save and to end."""
        if stop:
            self._sink.stop.set()
        return Look(self._sink.taken(), self._change())

    def _change(self) -> Change | None:
        with self._looking:
            return None if self._watched is None else self._watched.change()

    def _check(self, experiment: Experiment) -> None:
        """That task and model are what they are for the driver."""
        training, here = experiment.training, socket.gethostname()
        try:
            if is_reference(training.model):  # my_file.py:MyGRU
                file, _, attribute = training.model.rpartition(":")
                register_reference(f"{self._files.get(file, file)}:{attribute}")
            known = suites.get(training.suite).versions(training.task, training.model)
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

    def _portable(self, outcome: Outcome) -> Outcome:
        """With an error that can be read elsewhere, and with the place of checkpoints relative to the folder."""
        error, place = outcome.error, outcome.checkpoints
        if error is not None:
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:  # whatever a user's exception does when it is pickled
                error = RunError(f"{type(error).__name__}: {error}")
        return replace(outcome, error=error, checkpoints=place and place.relative_to(self._options.folder))


class _Mailbox(AbstractSink):
    """Keeps warnings and the newest progress until somebody looks."""

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
    """What XLA reads when it starts: how many threads it may have, and how much of a GPU."""
    os.environ["NPROC"] = str(cores)
    if not gpus:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    elif gpus < 1:
        os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{0.9 * gpus:.2f}")


def is_interruption(reply: Reply) -> bool:
    """Whether an experiment has ended because it was asked to."""
    return isinstance(reply.raised, Interrupted)
