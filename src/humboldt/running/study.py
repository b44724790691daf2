"""A study: the experiments of one command, their missing work, and their results."""

import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from humboldt.arguments import checked_arguments, flag, folder, mapping, optional, text, texts, whole
from humboldt.core.events import Finished, Warned
from humboldt.core.identity import Evaluation, Member, canonical
from humboldt.core.results import Scores, State
from humboldt.errors import RunError, UsageError, named_extras, unknown_name
from humboldt.models.own import is_reference, known_name
from humboldt.plugins import load_installed
from humboldt.report.tables import as_text
from humboldt.report.words import counted, duration, gigabytes
from humboldt.running import estimates
from humboldt.running.claims import Claims, tidy
from humboldt.running.execution import AbstractExecutor, ExperimentOutcome, Here, Keep, Options, Sinks
from humboldt.running.matching import matched
from humboldt.storage import checkpoints
from humboldt.storage.store import Done, Store, weights_path
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.departures import departures, sentence
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.own_tasks import register_languages
from humboldt.suites.reading import records, tables, upgrade, warn
from humboldt.suites.resolving import resolved
from humboldt.training.abilities import lacks
from humboldt.training.base import Compile, Road

MOST_GROUPS = 16  # most groups in which members are trained one after the other
WAIT_SECONDS = 0.5  # between checks of the work of other processes


@dataclass(frozen=True)
class Study:
    """The experiments of a request, and the folder of their results."""

    suite: AbstractSuite
    request: Request
    experiments: tuple[Experiment, ...]
    out: Path

    @cached_property
    def store(self) -> Store:
        """The store of the results. Its folder is created on first use."""
        return Store(self.out, upgrade)

    def done(self) -> Mapping[str, Done]:
        """Returns the stored members and scores, by key of the training."""
        store = self._opened()
        return {} if store is None else store.done()

    def _opened(self) -> Store | None:
        """Returns the store, opened for reading unless it is open already; `None` if there is none yet."""
        if "store" in self.__dict__:
            return self.store
        return Store.open(self.out, upgrade) if (self.out / "results.db").exists() else None

    def pending(self) -> list[Experiment]:
        """Returns the experiments with missing work, each with only the members and evaluations that are missing.

        Members that are trained and saved are only scored.
        """
        return self.missing_of(self.experiments, self.done())

    def missing_of(self, experiments: Sequence[Experiment], done: Mapping[str, Done]) -> list[Experiment]:
        """Returns the missing work of some experiments; see `pending`."""
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
                    is_saved = state is not None and weights_path(self.out, experiment.training, member).is_file()
                    if not is_saved:  # then the members to save are chosen again, by the first evaluation
                        left = dict(list(wanted.items())[:1]) | left
                    missing |= left
                    groups.setdefault((is_saved, tuple(left)), []).append(member)
            for (is_saved, keys), members in groups.items():
                evaluations = tuple(missing[key] for key in keys)
                pending.append(
                    replace(experiment, members=tuple(members), evaluations=evaluations, score_only=is_saved)
                )
        return pending

    @checked_arguments(ids=texts)
    def only(self, ids: Sequence[str]) -> "Study":
        """Returns the study with only these experiments; raises a usage error for unknown ids."""
        by_id = {experiment.id: experiment for experiment in self.experiments}
        for wanted in ids:
            if wanted not in by_id:
                hint = "`humboldt plan` with the same options lists them."
                raise unknown_name("experiment", wanted, by_id, hint=hint)
        experiments = tuple(experiment for key, experiment in by_id.items() if key in ids)
        return replace(self, experiments=experiments)

    def departures(self) -> str:
        """Returns all departures from the paper in words; empty if there are none."""
        parts = [(each.training, e, each.members) for each in self.experiments for e in each.evaluations]
        return sentence(departures(self.suite, parts), parts)

    def check_abilities(self) -> None:
        """Raises a usage error if the suite cannot score the models of an engine."""
        for experiment in self.experiments:
            contender = resolved(experiment).contender
            missing = [need for need in self.suite.needs if need not in catalogue.engine_of(contender).abilities]
            if missing:
                raise lacks(f"{contender.title}, trained by the engine {contender.engine},", missing[0])

    def check_memory(self) -> None:
        """Raises a usage error if an experiment needs more memory than this machine has. Called before a run.

        Members can be trained in groups, so only far too many members are an error. Of experiments with equal settings
        for several tasks one is checked: alphabets hardly change the size of a network.
        """
        kinds: dict[tuple[str, str, int], Experiment] = {}
        for experiment in self.pending():
            training = experiment.training
            key = (training.model, canonical(training.setting), len(experiment.members))
            kinds.setdefault(key, experiment)
        for experiment in kinds.values():
            objects = resolved(experiment)
            job = self.suite.job(objects, experiment.members[:1])
            with named_extras():
                memory = catalogue.engine_of(objects.contender).memory(job)
            count = len(experiment.members)
            if memory is None:
                continue
            single, groups = memory.shared + memory.each, memory.each * count / MOST_GROUPS
            if max(single, groups) > memory.available:
                needed = f"One member of {experiment.name} needs at least {gigabytes(single)}"
                if single <= memory.available:
                    needed = (
                        f"The {count:,} members of {experiment.name} need at least {gigabytes(memory.each * count)}"
                    )
                raise UsageError(
                    f"{needed}, and this machine has {gigabytes(memory.available)}. Use smaller sizes or fewer seeds, "
                    "or a larger machine; `humboldt plan` works here."
                )

    def estimate(self, experiments: Sequence[Experiment]) -> Iterator[estimates.Estimate]:
        """Yields the measured time of each experiment on this machine; see `humboldt.running.estimates`."""
        return estimates.measured(self.suite, experiments)

    def run(
        self,
        sinks: Sinks,
        *,
        save_seconds: float = 30.0,
        keep: Keep = "best",
        executor: AbstractExecutor | None = None,
        road: Road = "auto",
        compile: Compile = "setting",
        fused: bool = True,
    ) -> None:
        """Runs all missing work. Failures are stored and reported at the end; the other experiments go on."""
        store = self.store  # raises before the work if the folder cannot be written
        failures = []
        options = Options(self.out, save_seconds, keep, road=road, compile=compile, fused=fused)
        claims = Claims(self)
        try:
            for outcome in (executor or Here()).run(claims.missing(), options, sinks):
                if outcome is None:  # other processes work on all that is left
                    time.sleep(WAIT_SECONDS)
                    sinks(self.experiments[0]).stop_if_requested()
                    continue
                if outcome.error is not None:
                    failures.append(f"{outcome.experiment.name}: {type(outcome.error).__name__}: {outcome.error}")
                    sinks(outcome.experiment).send(
                        Warned(f"{failures[-1].rstrip('.')}. Continuing with the other experiments.")
                    )
                self._store_outcome(store, outcome)
                if not outcome.is_interim:
                    ended = claims.finish(outcome.experiment)
                    estimates.remember(outcome)
                    sinks(outcome.experiment).send(Finished(self._summary(outcome), ended))
            tidy(self.out, self.experiments, {experiment.training.key for experiment in self.pending()})
        except OSError as error:  # of the disk: trained members are in checkpoints, stored results remain
            raise RunError(
                f"Results cannot be written to `{self.out}`: {error}. What was stored before is not lost, and what is "
                "trained is not trained again. Free some space or repair the disk, then run the same command again."
            ) from error
        finally:
            claims.release()
        if failures:
            raise RunError(
                f"{len(failures)} of {len(self.experiments)} experiments failed: {'; '.join(failures)}. The same "
                "command tries them again and keeps what is finished. For the traceback:\n"
                f"  {shlex.join(['humboldt', 'show', str(self.out), '--failures'])}"
            )

    def _summary(self, outcome: ExperimentOutcome) -> str:
        """Returns one line about an outcome: `score 0.993 (best of 2 members), 12 s`."""
        trained = {State.DIVERGED: 0, State.FAILED: 0}
        for row in outcome.trained:
            trained[row.state] = trained.get(row.state, 0) + 1
        headline = self.suite.headline
        values = [row.measures[headline] for _, rows in outcome.scored for row in rows if headline in row.measures]
        best = f"{headline} {max(values):.3f}" if values else ""
        if len(values) > 1:
            best += f" (best of {counted(len(values), 'member')})"
        bad = [f"{count} {state.value}" for state, count in trained.items() if count and state is not State.FINISHED]
        if outcome.error is not None and not trained[State.FAILED]:
            bad.append("scoring failed")
        return ", ".join(filter(None, [best or "finished" * (not bad), *bad, duration(outcome.seconds)]))

    def _store_outcome(self, store: Store, outcome: ExperimentOutcome) -> None:
        """Writes the weights, then the rows about them, then removes the checkpoints."""
        training = outcome.experiment.training
        for member, arrays in outcome.weights:
            about = {"training": training.key, "member": dict(member)}
            checkpoints.write(weights_path(self.out, training, member), arrays, about)
        store.add(training, outcome.trained, outcome.scored, format=self.suite.format)
        if outcome.checkpoints is not None:
            shutil.rmtree(outcome.checkpoints, ignore_errors=True)

    def records(self) -> list[dict[str, Any]]:
        """Returns the results of this study as flat records."""
        return [asdict(record) for record in records(self.suite, self.scores())]

    def table(self) -> str:
        """Returns the results in the paper's layout, as text."""
        return as_text(tables(self.suite, self.scores()))

    def scores(self) -> list[Scores]:
        """Returns the results of this study's trainings and evaluations, also of members of other requests that share
        a cell: settings decide which members compete."""
        store = self._opened()
        if store is None:
            return []
        keys = {e.key_for(entry.training) for entry in self.experiments for e in entry.evaluations}
        scores = store.scores(self.suite.name)
        for remark in store.remarks:
            warn(remark)
        return [entry for entry in scores if entry.evaluation.key_for(entry.training) in keys]


@checked_arguments(
    suite=text,
    tasks=texts,
    models=texts,
    preset=text,
    seeds=optional(whole(1)),
    settings=optional(mapping),
    out=folder,
    experiments=texts,
    match_parameters=flag,
)
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
    """Plans a study, ready to run. Names and values are checked before anything is written.

    **Arguments:**

    - `suite`, `preset`: their names. `tasks`, `models`: names, or one name; those of the preset if there are none. A
      model of your own is named by its file: `my_file.py:MyGRU` (see `humboldt.models.own`), and so is a language of
      your own: `my.grammar`, `my.automaton`, `my.regex` (see `docs/languages.md`).
    - `seeds`: the number of seeds of each experiment. `settings`: changes, like `--set` on the command line.
    - `out`: the folder of the results.
    - `experiments`: ids, as `humboldt plan` lists them; all experiments if there are none.
    - `match_parameters`: whether Humboldt's models get hidden sizes that make them as large as your own.
    """
    load_installed()
    named = tuple(map(known_name, models))
    its_suite = suites.get(suite)
    request = Request(register_languages(its_suite, tuple(tasks)), named, preset, seeds, dict(settings or {}))
    if match_parameters:
        request = replace(request, of_models=_matched(its_suite, request))
    study = Study(its_suite, request, tuple(plans.plan(its_suite, request)), Path(out))
    study.check_abilities()
    return study.only(experiments) if experiments else study


def _matched(suite: AbstractSuite, request: Request) -> Mapping[str, Mapping[str, Any]]:
    users_models = [name for name in request.models if is_reference(name)]
    others = [name for name in request.models if not is_reference(name)]
    if len(users_models) != 1 or not others:
        raise UsageError(
            "--match-parameters gives our models the size of yours. Name one model of your own and at least one of "
            "ours, e.g. --model my_file.py:GRU --model lstm."
        )
    return matched(suite, request, users_models[0], others)
