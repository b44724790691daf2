"""`humboldt plan`, `run` and `demo`: plan and run experiments."""

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from humboldt.arguments import seconds
from humboldt.commands.options import (
    ModelNames,
    NoEstimate,
    Out,
    Plugins,
    PresetName,
    Seeds,
    Settings,
    SuiteName,
    TaskNames,
)
from humboldt.commands.report import write_report
from humboldt.errors import Abandoned, Interrupted, MissingExtra, UsageError
from humboldt.plugins import load_files
from humboldt.report.tables import as_json, as_text
from humboldt.report.words import counted, file_size, tell
from humboldt.running.bench import study_answers
from humboldt.running.cluster.executor import Ray
from humboldt.running.planning import announce, setting_records, settings_text, slurm_script
from humboldt.running.run import run_study
from humboldt.running.study import Study, plan
from humboldt.settings import parse_assignments
from humboldt.suites import catalogue, profile, suites
from humboldt.suites.bench import BUDGETS, QUICK
from humboldt.suites.benched import answers_of, model_title, reference_scores

UNSAVED = (
    "it was not saved again. Finished experiments and earlier checkpoints are kept; the training since the last "
    "checkpoint is lost"
)


class RunCommand(typer.core.TyperCommand):
    """Accepts `--ray` with or without an address, which Typer's options cannot."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Inserts `local` after a `--ray` without an address. An address is `auto`, `local`, or has a colon."""
        whole = []
        for i, text in enumerate(args):
            following = args[i + 1] if i + 1 < len(args) else ""
            is_address = following in ("auto", "local") or (":" in following and not following.startswith("-"))
            whole += [text, "local"] if text == "--ray" and not is_address else [text]
        return super().parse_args(ctx, whole)


class Kept(StrEnum):
    """Choice of trained members to save."""

    BEST = "best"
    ALL = "all"
    NONE = "none"


class RoadName(StrEnum):
    """See `humboldt.training.base.Road`."""

    AUTO = "auto"
    STACKED = "stacked"
    GRAPHS = "graphs"
    PROCESSES = "processes"
    THREADS = "threads"
    IN_TURN = "in_turn"


class CompileName(StrEnum):
    """See `humboldt.training.base.Compile`."""

    SETTING = "setting"
    AUTO = "auto"


def plan_(
    suite: SuiteName,
    task: TaskNames = [],  # noqa: B006
    model: ModelNames = [],  # noqa: B006
    preset: PresetName = "quick",
    seeds: Seeds = None,
    set_: Settings = [],  # noqa: B006
    out: Out = Path("results"),
    plugin: Plugins = [],  # noqa: B006
    no_estimate: NoEstimate = False,
    as_records: Annotated[bool, typer.Option("--json", help="Print the experiments as JSON.")] = False,
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Print a script for sbatch, with a task for each experiment.")
    ] = False,
    settings: Annotated[
        bool, typer.Option("--settings", help="Print the value of every setting, and where it comes from.")
    ] = False,
) -> None:
    """Show what `run` would do, and the estimated time."""
    if slurm and (as_records or settings):
        option = "--json" if as_records else "--settings"
        raise UsageError(f"{option} and --slurm were both given, but there is one output. Choose one of them.")
    load_files(plugin)
    study = _planned(suite, task, model, preset, seeds, set_, out)
    if settings:
        print(as_json(setting_records(study)) if as_records else settings_text(study), end="")
        return
    planned = announce(study, estimate="none" if no_estimate else "measured", with_ids=True)
    if as_records:
        print(as_json([each.record() for each in planned]), end="")
    elif slurm and any(each.missing for each in planned):
        print(slurm_script(study, planned, plugin), end="")


def run(
    suite: SuiteName,
    task: TaskNames = [],  # noqa: B006
    model: ModelNames = [],  # noqa: B006
    preset: PresetName = "quick",
    seeds: Seeds = None,
    set_: Settings = [],  # noqa: B006
    out: Out = Path("results"),
    save_every: Annotated[
        float, typer.Option(min=0, help="Seconds between checkpoints; more if saving would take a tenth of the time.")
    ] = 30.0,
    keep: Annotated[
        Kept, typer.Option(help="Trained members to keep: the best by the suite's measure, all, or none.")
    ] = Kept.BEST,
    plugin: Plugins = [],  # noqa: B006
    experiment: Annotated[
        list[str],
        typer.Option(
            "--experiment", help="Run only the experiment with this id (see `humboldt plan`); may be repeated."
        ),
    ] = [],  # noqa: B006
    match_parameters: Annotated[
        bool, typer.Option("--match-parameters", help="Give our models as many parameters as your own model has.")
    ] = False,
    references: Annotated[
        bool, typer.Option("--references", help="Show the references beside the results of a bench preset.")
    ] = False,
    no_estimate: NoEstimate = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and the estimated time, then exit.")
    ] = False,
    road: Annotated[
        RoadName, typer.Option(help="PyTorch: how members are trained; auto takes the fastest way that a trial allows.")
    ] = RoadName.AUTO,
    compile: Annotated[
        CompileName,
        typer.Option(help="PyTorch: with auto, torch.compile is tried, and used where it is faster and agrees."),
    ] = CompileName.SETTING,
    fused: Annotated[
        bool,
        typer.Option(
            help="JAX, on a GPU: whether loops over time and attention may run as one kernel; see `humboldt plan`."
        ),
    ] = True,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", help="Run on a Ray cluster: HOST:PORT, or auto. Without an address, start Ray on this machine."
        ),
    ] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="With --ray: cores for each experiment. Default: 1.")] = None,
    gpus: Annotated[float | None, typer.Option(min=0, help="With --ray: GPUs for each experiment. Default: 0.")] = None,
) -> None:
    """Run experiments. The same command again does only what is missing."""
    if ray is None and (cores, gpus) != (None, None):
        raise UsageError("--cores and --gpus set the resources of an experiment on a Ray cluster. Give --ray, too.")
    seconds("save_every", save_every)  # raises before the plan is shown
    executor = None if ray is None else Ray(None if ray == "local" else ray, cores=cores or 1, gpus=gpus or 0)
    load_files(plugin)
    study = _planned(suite, task, model, preset, seeds, set_, out, experiment, match_parameters=match_parameters)
    if references:
        _check_references(study)
    if dry_run:
        announce(study, estimate="none" if no_estimate else "measured", with_ids=True)
        return
    with resumable():
        run_study(
            study,
            save_every=save_every,
            keep=keep.value,
            executor=executor,
            road=road.value,
            compile=compile.value,
            fused=fused,
            announces=True,
        )
    _print_saved(study)
    print(study.table())
    if references:
        print("\n" + beside_references(study))


@contextmanager
def resumable() -> Iterator[None]:
    """Adds the command that resumes to an interruption."""
    try:
        yield
    except (Interrupted, KeyboardInterrupt) as error:
        is_saved = isinstance(error, Interrupted) and not isinstance(error, Abandoned)
        state = "everything so far is saved" if is_saved else UNSAVED
        again = shlex.join(["humboldt", *sys.argv[1:]])
        raise Interrupted(f"Stopped; {state}. To resume, run:\n  {again}") from None


def _check_references(study: Study) -> None:
    """Raises an error if there cannot be references beside the results of a study."""
    preset = study.request.preset
    if preset not in BUDGETS:
        raise UsageError(
            f"--references: references are results of the presets {', '.join(BUDGETS)}, and this is {preset}. Add "
            f"--preset {QUICK}."
        )
    if study.request.settings:
        changed = ", ".join(f"{key}={value}" for key, value in study.request.settings.items())
        raise UsageError(f"--references: no reference has {changed}. Leave --set or --references out.")


def beside_references(study: Study) -> str:
    """Returns the answers of a study's models, and of the references to the same tasks, as tables."""
    preset, tasks = study.request.preset, {experiment.training.task for experiment in study.experiments}
    theirs = [
        replace(each, tasks=tuple(task for task in each.tasks if task.task in tasks))
        for each in answers_of(reference_scores(), preset, suite_names=[study.suite.name])
    ]
    return as_text(profile.tables(study_answers(study, preset), theirs, model_title))


def _print_saved(study: Study) -> None:
    """Prints how many members are saved, and their size."""
    sizes = [path.stat().st_size for path in (study.out / "weights").glob("*/*.weights")]
    if sizes:
        saved = f"{counted(len(sizes), 'trained member')}, {file_size(sum(sizes))}"
        tell(f"Kept in `{study.out / 'weights'}`: {saved}.")


def _planned(
    suite: str,
    tasks: Sequence[str],
    models: Sequence[str],
    preset: str,
    seeds: int | None,
    assignments: Sequence[str],
    out: Path,
    experiments: Sequence[str] = (),
    *,
    match_parameters: bool = False,
) -> Study:
    names = {"tasks": tasks, "models": models, "experiments": experiments}
    options = {"preset": preset, "seeds": seeds, "settings": parse_assignments(assignments), "out": out}
    return plan(suite, **names, **options, match_parameters=match_parameters)  # pyright: ignore[reportArgumentType]


def demo_studies(out: Path) -> list[Study]:
    """Plans the studies of `humboldt demo`: the demo requests of every suite."""
    parts = [(name, part) for name in catalogue.suite_names() for part in suites.get(name).demo]
    return [
        plan(name, tasks=part.tasks, models=part.models, preset=part.preset, settings=part.settings, out=out)
        for name, part in parts
    ]


def demo(out: Out = Path("demo-results")) -> None:
    """Run a small part of every suite; write the results as a page."""
    studies, answers = demo_studies(out), []
    with resumable():
        for study in studies:
            begun = time.monotonic()
            run_study(study, announces=True)
            if study.request.preset == QUICK:
                answers += study_answers(study, QUICK)
                seconds = time.monotonic() - begun
                tell(profile.progress_line(answers[-1], model_title(answers[-1].model), seconds))
    print("\n\n".join(study.table() for study in studies if study.request.preset != QUICK))
    if answers:
        references = answers_of(reference_scores(), QUICK)
        print("\n" + as_text(profile.tables(answers, references, model_title)))
    try:
        tell(f"The same as a page, with figures: `{write_report(out)}`. Open it in a browser.")
    except MissingExtra:
        page = shlex.join(["humboldt", "report", str(out)])
        tell(f"For a page with figures: pip install 'humboldt[report]', then {page}")
