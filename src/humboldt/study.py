"""The experiments of one command: planned, run, resumed, shown."""

import gc
import shutil
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from humboldt.errors import HumboldtError, Interrupted, RunError, is_out_of_memory
from humboldt.report.tables import as_text
from humboldt.store import Result, State, Store, canonical
from humboldt.suites import suites
from humboldt.suites._base import AbstractSuite, Experiment, Request, Watcher


@dataclass(frozen=True)
class Study:
    """What a request means, and which part of it is still missing in the store."""

    suite: AbstractSuite
    request: Request
    experiments: tuple[Experiment, ...]
    out: Path

    @cached_property
    def store(self) -> Store:
        """Where the results go. The folder is made when this is first asked for."""
        return Store(self.out)

    def pending(self) -> list[Experiment]:
        """The experiments that have members to train, with only those."""
        pending = []
        is_new = not (self.out / "results.db").exists()
        for experiment in self.experiments:
            finished = set() if is_new else self.store.finished(experiment.run)
            missing = tuple(member for member in experiment.members if canonical(member) not in finished)
            if missing:
                pending.append(replace(experiment, members=missing))
        return pending

    def run(self, watch: Callable[[Experiment], Watcher]) -> None:
        """Runs what is missing. What fails is recorded and told at the end; the others go on.

        Members that do not fit into memory together are trained in smaller groups: they do not depend on each other.
        """
        failures = []
        store = self.store  # an error here, before the work, if the folder cannot be written
        waiting = deque(self.pending())
        while waiting:
            experiment = waiting.popleft()
            watcher = watch(experiment)
            folder = store.checkpoint_folder(experiment.run, experiment.members)
            outcome = self._attempt(experiment, folder, watcher)
            if isinstance(outcome, Exception) and is_out_of_memory(outcome) and len(experiment.members) > 1:
                waiting.extendleft(reversed(_halves(experiment)))
                watcher.warn(
                    f"{experiment.name}: {len(experiment.members)} members together need more memory than there is. "
                    "Going on with one half of them after the other."
                )
                del outcome
                gc.collect()  # what the failed attempt still holds is needed now
                continue
            if isinstance(outcome, Exception):
                detail = {"error": "".join(traceback.format_exception(outcome))}
                results = [Result(member, State.FAILED, {}, 0.0, detail) for member in experiment.members]
                failures.append(f"{experiment.name}: {type(outcome).__name__}: {outcome}")
                watcher.warn(f"{failures[-1]} Going on with the other experiments.")
            else:
                results = outcome
            store.add(experiment.run, results)
            if all(result.state is not State.FAILED for result in results):
                shutil.rmtree(folder, ignore_errors=True)  # the results are safe; half-done work is of no use now
        if failures:
            raise RunError(
                f"{len(failures)} of {len(self.experiments)} experiments failed: {'; '.join(failures)}. The traceback "
                f"is in `{self.store.path}`. The same command tries them again and keeps what is finished."
            )

    def _attempt(self, experiment: Experiment, folder: Path, watcher: Watcher) -> list[Result] | Exception:
        """The results, or what went wrong."""
        try:
            return self.suite.execute(experiment, folder, watcher)
        except HumboldtError:
            raise
        except Exception as error:
            return error

    def records(self) -> list[dict[str, Any]]:
        """The results of this study's runs as flat records."""
        return [asdict(record) for record in self.suite.records(self._runs())]

    def table(self) -> str:
        """The results in the paper's layout, as text."""
        return as_text(self.suite.tables(self._runs()))

    def _runs(self) -> list[tuple[Any, list[Result]]]:
        keys = {experiment.run.key for experiment in self.experiments}
        return [(run, results) for run, results in self.store.runs(self.suite.name) if run.key in keys]


def _halves(experiment: Experiment) -> list[Experiment]:
    middle = (len(experiment.members) + 1) // 2
    return [replace(experiment, members=part) for part in (experiment.members[:middle], experiment.members[middle:])]


def plan(
    suite: str,
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    preset: str = "quick",
    seeds: int | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | Path = "results",
) -> Study:
    """A study, ready to run. Names and values are checked before anything is written."""
    chosen = suites.get(suite)
    request = Request(tasks, models, preset, seeds, _as_text(settings or {}))
    experiments = tuple(chosen.plan(request))
    return Study(chosen, request, experiments, Path(out))


def run(suite: str, **options: Any) -> Study:
    """Plans a study, runs what is missing, and returns it. Takes the arguments of `plan`.

    ```python
    study = humboldt.run("chomsky", tasks=["parity_check"], models=["rnn"], preset="quick", out="results")
    study.records()
    print(study.table())
    ```
    """
    study = plan(suite, **options)
    with stop_on_interrupt() as should_stop:
        study.run(lambda experiment: Watcher(should_stop=should_stop))
    return study


@contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Turns the first Ctrl-C into a question that the run asks itself; a second one stops at once.

    SIGTERM, by which a cluster's scheduler announces that time is over, is taken as a Ctrl-C.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def handler(number: int, frame: Any) -> None:
        del number, frame
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _as_text(settings: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        for key, value in settings.items()
    }


__all__ = ["Interrupted", "Study", "plan", "run", "stop_on_interrupt"]
