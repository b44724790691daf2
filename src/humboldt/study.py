"""The experiments of one command: planned, estimated, run, resumed, shown."""

import itertools
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from humboldt import checkpoints
from humboldt._progress import Shown
from humboldt._progress import progress as shown
from humboldt.errors import Interrupted, RunError, UsageError, named_extras, unknown_name
from humboldt.estimates import estimate
from humboldt.events import AbstractSink, Event, Finished, Warned
from humboldt.execution import AbstractExecutor, Here, Keep, Options, Outcome, Sinks
from humboldt.identity import Evaluation, Member, canonical
from humboldt.locks import Lock
from humboldt.matching import matched
from humboldt.outside_models import is_reference, register_reference
from humboldt.plugins import load_installed
from humboldt.report.tables import as_text
from humboldt.report.words import counted, duration, gigabytes
from humboldt.results import Scores, State
from humboldt.store import Done, Store, checkpoint_folder, weights_path
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.departures import departures, sentence
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import records, tables, upgrade

MOST_GROUPS = 16  # in which members are trained one group after the other
MOST_TIDIED = 100  # members of a training of which all groups are looked for
WAIT_SECONDS = 0.5  # between looks at what other processes work on


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
        return Store(self.out, upgrade)

    def _done(self) -> Mapping[str, Done]:
        return Store.open(self.out, upgrade).done() if (self.out / "results.db").exists() else {}

    def pending(self) -> list[Experiment]:
        """The experiments that have something to do, with only those members and evaluations.

        Members that are trained and kept are only scored.
        """
        return self._pending(self.experiments, self._done())

    def parts(self) -> list[tuple[Experiment, list[Experiment]]]:
        """Every experiment with what is missing of it, as `pending` has it."""
        done = self._done()
        return [(experiment, self._pending([experiment], done)) for experiment in self.experiments]

    def only(self, ids: Sequence[str]) -> "Study":
        """The same study with these experiments alone; a usage error names an id that it does not have."""
        by_id = {experiment.id: experiment for experiment in self.experiments}
        for wanted in ids:
            if wanted not in by_id:
                hint = "`humboldt plan` with the same options lists them."
                raise unknown_name("experiment", wanted, by_id, hint=hint)
        chosen = tuple(experiment for key, experiment in by_id.items() if key in ids)
        return replace(self, experiments=chosen)

    def _pending(self, experiments: Sequence[Experiment], done: Mapping[str, Done]) -> list[Experiment]:
        pending = []
        for experiment in experiments:
            known = done.get(experiment.training.key, Done())
            groups: dict[tuple[bool, tuple[str, ...]], list[Member]] = {}
            missing: dict[str, Evaluation] = {}
            for member in experiment.members:
                text = canonical(member)
                state = known.trained.get(text)
                if state is State.DIVERGED:
                    continue
                wanted = {e.key_for(experiment.training): e for e in experiment.evaluations}
                left = {k: e for k, e in wanted.items() if state is None or text not in known.scored.get(k, ())}
                if left:
                    kept = state is not None and weights_path(self.out, experiment.training, member).is_file()
                    if not kept:  # then it is chosen once more which members to keep: by the first evaluation
                        left = dict(list(wanted.items())[:1]) | left
                    missing |= left
                    groups.setdefault((kept, tuple(left)), []).append(member)
            for (kept, keys), members in groups.items():
                evaluations = tuple(missing[key] for key in keys)
                pending.append(replace(experiment, members=tuple(members), evaluations=evaluations, kept=kept))
        return pending

    def departures(self) -> str:
        """In which ways this study is not the paper's, in words; empty if in none."""
        parts = [(one.training, e, one.members) for one in self.experiments for e in one.evaluations]
        return sentence(departures(self.suite, parts))

    def check_memory(self) -> None:
        """A usage error if an experiment cannot fit this machine, whatever is done: asked before anything is run.

        Members can be trained in groups, so that only far too many of them are refused.
        """
        for experiment in self.pending():
            parts = self.suite.restore(experiment.training, experiment.evaluations[0])
            job = self.suite.job(parts, experiment.members[:1])
            with named_extras():
                memory = self.suite.engine(parts.contender).memory(job)
            count = len(experiment.members)
            if memory is None:
                continue
            one, groups = memory.shared + memory.each, memory.each * count / MOST_GROUPS
            if max(one, groups) > memory.available:
                needed = f"One member of {experiment.name} needs at least {gigabytes(one)}"
                if one <= memory.available:
                    needed = (
                        f"The {count:,} members of {experiment.name} need at least {gigabytes(memory.each * count)}"
                    )
                raise UsageError(
                    f"{needed}, and this machine has {gigabytes(memory.available)}. Use smaller sizes or fewer seeds, "
                    "or a larger machine; `humboldt plan` works here."
                )

    def estimate(self, experiments: Sequence[Experiment]) -> Iterator[float]:
        """Seconds that each will take on this machine; see `humboldt.estimates`."""
        return estimate(self.suite, experiments)

    def run(
        self,
        sinks: Sinks,
        *,
        save_seconds: float = 30.0,
        keep: Keep = "best",
        executor: AbstractExecutor | None = None,
    ) -> None:
        """Runs what is missing. What fails is recorded and told at the end; the others go on."""
        store = self.store  # an error here, before the work, if the folder cannot be written
        failures = []
        options = Options(self.out, save_seconds, keep)
        claims: dict[str, _Claim] = {}
        try:
            for outcome in (executor or Here()).run(self._claimed(claims), options, sinks):
                if outcome is None:  # other processes work on all that is left
                    time.sleep(WAIT_SECONDS)
                    if sinks(self.experiments[0]).should_stop():
                        raise Interrupted("Stopped as asked.")
                    continue
                if outcome.error is not None:
                    failures.append(f"{outcome.experiment.name}: {type(outcome.error).__name__}: {outcome.error}")
                    sinks(outcome.experiment).send(Warned(f"{failures[-1]} Continuing with the other experiments."))
                self._keep(store, outcome)
                if outcome.is_interim:
                    continue
                claim = claims[outcome.experiment.training.key]
                claim.members -= len(outcome.experiment.members)
                ended = 0 if claim.members else claim.experiments
                sinks(outcome.experiment).send(Finished(self._summary(outcome), ended))
                if not claim.members:
                    claims.pop(outcome.experiment.training.key).lock.release()
            self._tidy()
        except OSError as error:  # of the disk: what is trained is in its checkpoint, what is stored stays
            raise RunError(
                f"Results cannot be written to `{self.out}`: {error}. What was stored before is not lost, and what is "
                "trained is not trained again. Mend the disk or make room, and give the same command again."
            ) from error
        finally:
            for claim in claims.values():
                claim.lock.release()
        if failures:
            raise RunError(
                f"{len(failures)} of {len(self.experiments)} experiments failed: {'; '.join(failures)}. The traceback "
                f"is in `{store.path}`. The same command tries them again and keeps what is finished."
            )

    def _claimed(self, claims: dict[str, "_Claim"]) -> Iterator[Experiment | None]:
        """What is missing, a training at a time, each claimed so that other processes with the same folder leave it
        alone; what they work on is looked at again when they are done. `None`: they work on all that is left.

        Whoever has stored the outcomes of all members of a claim gives it up.
        """
        done = self._done()
        waiting: dict[str, list[Experiment]] = {}
        for experiment in self.experiments:
            waiting.setdefault(experiment.training.key, []).append(experiment)
        waiting = {key: whole for key, whole in waiting.items() if self._pending(whole, done)}
        while waiting:
            busy = {}
            for key, whole in waiting.items():
                lock = Lock(self.out / "locks" / f"{key}.lock")
                if not lock.claim():
                    busy[key] = whole
                    continue
                # Another process may have done it, or a part of it, since this one looked.
                known = done.get(key, Done()) | self.store.done(key).get(key, Done())
                missing = self._pending(whole, {key: known})
                if not missing:
                    lock.release()
                    continue
                claims[key] = _Claim(lock, sum(len(experiment.members) for experiment in missing), len(missing))
                yield from missing
            if len(busy) == len(waiting):
                yield None
            waiting = busy

    def _summary(self, outcome: Outcome) -> str:
        """How well it went: `score 0.993 (best of 2 members), 12 s`."""
        trained = {State.DIVERGED: 0, State.FAILED: 0}
        for row in outcome.trained:
            trained[row.state] = trained.get(row.state, 0) + 1
        headline = self.suite.headline
        found = [one.measures[headline] for _, rows in outcome.scored for one in rows if headline in one.measures]
        best = f"{headline} {max(found):.3f}" if found else ""
        if len(found) > 1:
            best += f" (best of {counted(len(found), 'member')})"
        bad = [f"{count} {state.value}" for state, count in trained.items() if count and state is not State.FINISHED]
        if outcome.error is not None and not trained[State.FAILED]:
            bad.append("scoring failed")
        seconds = sum(row.seconds for row in outcome.trained)
        seconds += sum(one.seconds for _, rows in outcome.scored for one in rows)
        return ", ".join(filter(None, [best or "finished" * (not bad), *bad, duration(seconds)]))

    def _keep(self, store: Store, outcome: Outcome) -> None:
        """Writes weights first, then the rows that speak of them; what was half done goes last."""
        training = outcome.experiment.training
        for member, arrays in outcome.weights:
            about = {"training": training.key, "member": dict(member)}
            checkpoints.write(weights_path(self.out, training, member), arrays, about)
        store.add(training, outcome.trained, outcome.scored, format=self.suite.format)
        if outcome.checkpoints is not None:
            shutil.rmtree(outcome.checkpoints, ignore_errors=True)

    def _tidy(self) -> None:
        """Removes what killed processes have left of trainings that are done: checkpoints that nobody needs, and locks.

        A checkpoint is of one group of members. Those of other requests may be half done, and stay.
        """
        pending = {experiment.training.key for experiment in self.pending()}
        for experiment in self.experiments:
            training, members = experiment.training, experiment.members
            lock = Lock(self.out / "locks" / f"{training.key}.lock")
            left = set((self.out / "checkpoints").glob(f"{training.key}-*"))
            if training.key in pending or not (left or lock.path.exists()) or not lock.claim():
                continue
            try:
                # Members are trained together that were missing together, or in halves of these: runs of neighbours.
                ends = range(len(members) + 1) if len(members) <= MOST_TIDIED else (0, len(members))
                for first, last in itertools.combinations(ends, 2):
                    folder = checkpoint_folder(self.out, training, members[first:last])
                    if folder in left:
                        shutil.rmtree(folder, ignore_errors=True)
            finally:
                lock.release()

    def records(self) -> list[dict[str, Any]]:
        """The results of this study as flat records."""
        return [asdict(record) for record in records(self.suite, self._scores())]

    def table(self) -> str:
        """The results in the paper's layout, as text."""
        return as_text(tables(self.suite, self._scores()))

    def _scores(self) -> list[Scores]:
        """Those of this study's trainings and evaluations; members of other requests that share a cell are there, too:
        which members compete is decided by their settings, not by who asked for them."""
        if not (self.out / "results.db").exists():
            return []
        keys = {e.key_for(one.training) for one in self.experiments for e in one.evaluations}
        found = Store.open(self.out, upgrade).scores(self.suite.name)
        return [scores for scores in found if scores.evaluation.key_for(scores.training) in keys]


@dataclass
class _Claim:
    """A training that this process works on: how many of its members have no outcome yet, of how many experiments."""

    lock: Lock
    members: int
    experiments: int


def plan(
    suite: str,
    *,
    tasks: str | Sequence[str] = (),
    models: str | Sequence[str] = (),
    preset: str = "quick",
    seeds: int | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | Path = "results",
    experiments: str | Sequence[str] = (),
    match_parameters: bool = False,
) -> Study:
    """A study, ready to run. Names and values are checked before anything is written.

    **Arguments:**

    - `suite`, `preset`: their names. `tasks`, `models`: names, or one name; those of the preset if there are none. A
      model of your own is named by its file: `my_file.py:MyGRU` (see `humboldt.outside_models`).
    - `seeds`: how many seeds each experiment has. `settings`: changes, as `--set` makes them on the command line.
    - `out`: the folder of the results.
    - `experiments`: ids, as `humboldt plan` lists them; all experiments if there are none.
    - `match_parameters`: whether our models are given hidden sizes that make them as large as your own.
    """
    load_installed()
    named = tuple(register_reference(name) if is_reference(name) else name for name in _names("models", models))
    request = Request(_names("tasks", tasks), named, preset, _count(seeds), _changes(settings))
    if not isinstance(out, str | Path) or not str(out):
        raise UsageError(f"out={out!r} is not a folder. Give a path, e.g. out='results'.")
    its_suite = suites.get(suite)
    if match_parameters:
        request = replace(request, of_models=_matched(its_suite, request))
    study = Study(its_suite, request, tuple(its_suite.plan(request)), Path(out))
    ids = _names("experiments", experiments)
    return study.only(ids) if ids else study


def _matched(suite: AbstractSuite, request: Request) -> Mapping[str, Mapping[str, Any]]:
    own = [name for name in request.models if is_reference(name)]
    others = [name for name in request.models if not is_reference(name)]
    if len(own) != 1 or not others:
        raise UsageError(
            "--match-parameters gives our models the size of yours. Name one model of your own and at least one of "
            "ours, e.g. --model my_file.py:GRU --model lstm."
        )
    return matched(suite, request, own[0], others)


def _names(argument: str, value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{argument}={value!r} is not a list of names. Write e.g. {argument}=['parity_check'].")
    return tuple(names)


def _count(seeds: Any) -> int | None:
    if seeds is not None and (isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1):
        raise UsageError(f"seeds={seeds!r}: an experiment needs at least one seed. Give a whole number of 1 or more.")
    return seeds


def _changes(settings: Any) -> dict[str, Any]:
    if settings is not None and not isinstance(settings, Mapping):
        raise UsageError(f"settings={settings!r} are not pairs of name and value. Write settings={{'steps': 100}}.")
    return dict(settings or {})


def run(
    suite: str,
    *,
    progress: Callable[[str, Event], None] | bool = True,
    save_every: float = 30.0,
    keep: Keep = "best",
    executor: AbstractExecutor | None = None,
    **options: Any,
) -> Study:
    """Plans a study, runs what is missing, and returns it. Takes the arguments of `plan`.

    **Arguments:**

    - `progress`: whether to show it; or a function of the name of an experiment and an event (`humboldt.events`).
    - `save_every`: seconds between checkpoints; more if saving would take a tenth of the time.
    - `keep`: which trained members are kept.
    - `executor`: where experiments run; in this process if there is none.

    ```python
    study = humboldt.run("chomsky", tasks=["parity_check"], models=["rnn"], preset="quick", out="results")
    study.records()
    print(study.table())
    ```
    """
    study = plan(suite, **options)
    study.check_memory()
    with shown(len(study.pending())) if progress is True else nullcontext() as view, stop_on_interrupt() as should_stop:

        def sink(experiment: Experiment) -> AbstractSink:
            if view is not None:
                return Shown(experiment.name, view, should_stop)
            return _Told(experiment.name, progress if callable(progress) else None, should_stop)

        study.run(sink, save_seconds=save_every, keep=keep, executor=executor)
    return study


@dataclass(frozen=True)
class _Told(AbstractSink):
    """Tells a function, if there is one, and can be stopped."""

    name: str
    progress: Callable[[str, Event], None] | None
    asked: Callable[[], bool]

    def send(self, event: Event) -> None:
        if self.progress is not None:
            self.progress(self.name, event)

    def should_stop(self) -> bool:
        return self.asked()


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
