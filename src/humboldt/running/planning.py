"""The plan of a study for people, programs and schedulers: `humboldt plan`, `--dry-run`, the first lines of `run`."""

import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from humboldt.core.identity import canonical
from humboldt.core.results import State
from humboldt.errors import MissingExtra, is_out_of_memory
from humboldt.report.words import counted, duration, tell, wrapped
from humboldt.running import estimates as estimates_module
from humboldt.running.interrupts import acknowledged
from humboldt.running.study import Study
from humboldt.settings import words
from humboldt.storage.store import Done
from humboldt.suites import catalogue
from humboldt.suites.experiments import Experiment
from humboldt.suites.origins import origins
from humboldt.suites.resolving import resolved

MOST_TASKS = 1000  # of a Slurm array; 1001 is Slurm's default limit
SLACK = 2.0  # the time limit of a task, as a multiple of the estimate
STOPPING = "Stopping as soon as this is measured."
QUIET_SECONDS = 2.0  # most seconds without output
LEAST_MINUTES = 10  # of a task: starting also takes time


@dataclass(frozen=True)
class Planned:
    """One experiment of a study, its missing parts, and their estimated time if there is an estimate."""

    experiment: Experiment
    missing: tuple[Experiment, ...]
    seconds: float | None = None

    @property
    def num_missing(self) -> int:
        """Number of members with missing work."""
        return sum(len(part.members) for part in self.missing)

    def record(self) -> dict[str, Any]:
        """Returns a flat record for JSON."""
        training = self.experiment.training
        return {
            "id": self.experiment.id,
            "suite": training.suite,
            "task": training.task,
            "model": training.model,
            "engine": training.engine,
            "name": self.experiment.name,
            "members": len(self.experiment.members),
            "missing": self.num_missing,
            "work": self.experiment.work,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            "training": training.key,
        }


def announce(
    study: Study, *, estimate: Literal["none", "remembered", "measured"] = "measured", with_ids: bool = False
) -> list[Planned]:
    """Prints the plan on stderr: experiments, departures from the paper, and estimated times. Returns it as data.

    `estimate`: whether times are omitted, taken from earlier runs, or measured, which may take a while.
    """
    done = study.done()
    plan = [Planned(experiment, tuple(study.missing_of([experiment], done))) for experiment in study.experiments]
    total = sum(len(experiment.members) for experiment in study.experiments)
    missing = sum(planned.num_missing for planned in plan)
    experiments = counted(len(study.experiments), "experiment")
    tell(f"{study.suite.name}, preset {study.request.preset}: {experiments}, {counted(total, 'member')} in all.")
    if different := study.departures():
        tell(different)
    if recipes := _recipes_of_other_models(study):
        tell(recipes)
    if diverged := _num_diverged(study, done):
        tell(f"{counted(diverged, 'member')} diverged before. They are not trained again: change a setting.")
    if not missing:
        tell(f"Everything is already finished in `{study.out}`. There is nothing to do.")
        return plan
    if missing < total:
        tell(f"{total - missing:,} of {counted(total, 'member')} are already finished in `{study.out}`.")
    pending = [(i, part) for i, planned in enumerate(plan) for part in planned.missing]
    lines = [_line(part, plan[i].experiment.id if with_ids else None) for i, part in pending]
    print_lines = {"none": _plain, "remembered": _remembered_lines, "measured": _measured_lines}[estimate]
    estimates = print_lines(study, [part for _, part in pending], lines)
    if estimates is None:
        return plan
    tell(f"About {duration(sum(estimates))} in all, on this machine.")
    if estimate == "measured":
        _say_roads(study, [part for _, part in pending])
    taken = [0.0] * len(plan)
    for (i, _), seconds in zip(pending, estimates, strict=True):
        taken[i] += seconds
    return [Planned(each.experiment, each.missing, seconds) for each, seconds in zip(plan, taken, strict=True)]


def _recipes_of_other_models(study: Study) -> str:
    """Returns a sentence about the optimiser and the learning rates of models that are not the paper's."""
    recipes: dict[str, dict[str, None]] = {}
    for experiment in study.experiments:
        model, objects = experiment.training.model, resolved(experiment)
        if model in study.suite.contenders or objects.contender.engine not in catalogue.OPEN_ENGINES:
            continue
        rates = words(getattr(objects.protocol, "learning_rates", ()) or "none")
        recipe = f"optimiser {getattr(objects.protocol, 'optimiser', 'adam')}, learning_rates {rates}"
        recipes.setdefault(model, {})[recipe] = None
    return " ".join(f"{model} is trained with {'; or '.join(found)}." for model, found in recipes.items())


def _num_diverged(study: Study, done: Mapping[str, Done]) -> int:
    """Returns the number of members of a study that diverged in earlier runs."""
    return sum(
        done[experiment.training.key].trained.get(canonical(member)) is State.DIVERGED
        for experiment in study.experiments
        if experiment.training.key in done
        for member in experiment.members
    )


def _say_roads(study: Study, pending: Sequence[Experiment]) -> None:
    """Prints how members are trained, where the engine has several ways."""
    sentences: dict[str, None] = {}
    for part in pending:
        objects = resolved(part)
        engine = catalogue.engine_of(objects.contender)
        if engine.has_roads and not part.score_only:
            sentence = engine.road(study.suite.job(objects, part.members))
            sentences |= {} if sentence is None else {sentence: None}
    for sentence in sentences:
        tell(sentence)


def _line(part: Experiment, identity: str | None) -> str:
    work = "scoring only" if part.score_only else part.work
    return f"  {identity + '  ' if identity else ''}{part.name}: {counted(len(part.members), 'member')} x {work}"


def _plain(study: Study, pending: Sequence[Experiment], lines: Sequence[str]) -> None:
    """Prints the lines."""
    del study, pending
    tell("\n".join(lines))


def _remembered_lines(study: Study, pending: Sequence[Experiment], lines: Sequence[str]) -> list[float] | None:
    """Prints the lines with times from earlier runs; returns the times if all are known."""
    del study
    seconds = estimates_module.rough(pending)
    for line, estimate in zip(lines, seconds, strict=True):
        tell(line if estimate is None else f"{line}, about {duration(estimate)} (from earlier runs)")
    known = [estimate for estimate in seconds if estimate is not None]
    return known if len(known) == len(seconds) else None


def _measured_lines(study: Study, pending: Sequence[Experiment], lines: Sequence[str]) -> list[float] | None:
    """Prints each line with its measured time and returns the times; prints the reason if one cannot be measured."""
    seconds: list[float] = []
    num_measured = 0
    estimates = study.estimate(pending)
    try:
        for line in lines:
            text = wrapped(line, sys.stderr)
            print(text, end="", file=sys.stderr, flush=True)  # before it is measured, which may take some seconds
            with _signs_of_life(len(text.split("\n")[-1])) as column, acknowledged(STOPPING):
                estimate = next(estimates)
            seconds.append(estimate.seconds)
            num_measured += estimate.is_measured
            roughly = "about" if estimate.is_measured else "roughly"
            tell(_continued(f", {roughly} {duration(estimate.seconds)}", column()))
        if num_measured < len(lines):
            tell(
                f"Measured: {num_measured:,} of {len(lines):,}, within "
                f"{duration(estimates_module.MEASURING_SECONDS)}. The times of the others are extrapolated from these."
            )
        return seconds
    except MissingExtra as error:
        why = str(error)
    except Exception as error:  # e.g. of a user's model; the run itself will record it
        why = f"{type(error).__name__}: {error}"
        if is_out_of_memory(error):
            why = "some of these members do not fit into memory together. They will be trained in groups."
    tell("\n".join(["", *lines[len(seconds) + 1 :]]))
    tell(f"No estimate: {why}")
    return None


@contextmanager
def _signs_of_life(column: int) -> Iterator[Callable[[], int]]:
    """Prints dots while a measurement takes longer than `QUIET_SECONDS`. Yields a function that returns the column of
    the cursor, which was at `column` before."""
    is_done = threading.Event()

    def print_dots() -> None:
        nonlocal column
        text = ", measuring ."
        while not is_done.wait(QUIET_SECONDS):
            text = _continued(text, column)
            print(text, end="", file=sys.stderr, flush=True)
            column = len(text.split("\n")[-1]) + (0 if "\n" in text else column)
            text = "."

    thread = threading.Thread(target=print_dots, daemon=True)
    thread.start()
    try:
        yield lambda: column
    finally:
        is_done.set()
        thread.join()


def _continued(text: str, column: int) -> str:
    """Returns text that continues a line of `column` characters: on a terminal on a new line if there is no room."""
    width = shutil.get_terminal_size().columns
    if not sys.stderr.isatty() or column + len(text) <= width:
        return text
    comma = "," if text.startswith(",") and column < width else ""
    return f"{comma}\n    {text.lstrip(', ')}"


def setting_records(study: Study) -> list[dict[str, Any]]:
    """Returns every setting of every training of a study as flat records, with the layer that decided it."""
    seen, records = set(), []
    for experiment in study.experiments:
        if experiment.training.key in seen:
            continue
        seen.add(experiment.training.key)
        about = {"suite": study.suite.name, "task": experiment.training.task, "model": experiment.training.model}
        about |= {"training": experiment.training.key}
        for origin in origins(study.suite, resolved(experiment), study.request):
            records.append({**about, **asdict(origin)})
    return records


def settings_text(study: Study) -> str:
    """Returns the settings of a study as text: a block for each training."""
    blocks: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for record in setting_records(study):
        blocks.setdefault((record["task"], record["model"], record["training"]), []).append(record)
    lines = []
    for (task, model, key), records in blocks.items():
        lines.append(f"{study.suite.name}/{task}, {model} ({key})")
        columns = [(record["name"], words(record["value"]), record["of"], record["layer"]) for record in records]
        widths = [max(len(column[i]) for column in columns) for i in range(3)]
        for column in columns:
            padded = "  ".join(text.ljust(width) for text, width in zip(column, widths, strict=False))
            lines.append(f"  {padded}  {column[3]}")
        lines.append("")
    return "\n".join(lines)


def slurm_script(study: Study, planned: Sequence[Planned], plugins: Sequence[Path] = ()) -> str:
    """Returns a script for `sbatch`: an array with a task for each missing experiment, and a folder for each task."""
    missing = [each for each in planned if each.missing]
    tasks = min(len(missing), MOST_TASKS)
    longest = [each.seconds for each in missing if each.seconds is not None]
    rounds = -(-len(missing) // max(1, tasks))
    limit = "# The time was not estimated. If your cluster needs it, add a line: SBATCH --time=MINUTES\n"
    if longest:
        minutes = LEAST_MINUTES + round(max(longest) * rounds * SLACK / 60)
        limit = "# In minutes: twice the longest estimate, which was measured where this was written.\n"
        limit += f"#SBATCH --time={minutes}\n"
    run = shlex.join(command(study, plugins))
    out, here = shlex.quote(str(study.out.resolve())), shlex.quote(str(Path.cwd()))
    ids = "\n".join(f"  {each.experiment.id}  # {each.experiment.name}" for each in missing)
    return f"""#!/bin/bash
#SBATCH --job-name=humboldt-{study.suite.name}
#SBATCH --array=0-{max(0, tasks - 1)}
#SBATCH --output={study.suite.name}-%A_%a.log
# For a GPU each, add a line: SBATCH --gpus=1
#SBATCH --cpus-per-task=2
{limit}# A minute before the time is over the training is saved.
#SBATCH --signal=B:TERM@60

# {counted(len(missing), "experiment")}. Submit it again to go on with what is not finished; then join the results:
#   humboldt merge {out}/parts/* --out {out}
experiments=(
{ids}
)
chosen=()
for ((i = SLURM_ARRAY_TASK_ID; i < ${{#experiments[@]}}; i += {tasks})); do
  chosen+=(--experiment "${{experiments[i]}}")
done
cd {here}
# `exec`, so that the signal reaches the program.
exec {run} --no-estimate --out {out}/parts/"$SLURM_ARRAY_TASK_ID" "${{chosen[@]}}"
"""


def command(study: Study, plugins: Sequence[Path] = ()) -> list[str]:
    """Returns the command that runs this study, without its folder."""
    request = study.request
    parts: list[tuple[str, Any]] = [
        *(("--task", name) for name in request.tasks),
        *(("--model", name) for name in request.models),
        ("--preset", request.preset),
        *([("--seeds", request.seeds)] if request.seeds is not None else []),
        *(("--set", f"{key}={value}") for key, value in request.settings.items()),
        *(("--plugin", path.resolve()) for path in plugins),
    ]
    return ["humboldt", "run", study.suite.name, *(str(text) for part in parts for text in part)]
