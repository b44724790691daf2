"""`humboldt plan`, `run` and `demo`: experiments."""

import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from humboldt._progress import Shown, progress
from humboldt.cluster.executor import Ray
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
from humboldt.errors import Interrupted, MissingExtra, UsageError
from humboldt.execution import AbstractExecutor, Here
from humboldt.planning import Planned, announce, slurm_script
from humboldt.plugins import load_files
from humboldt.report.tables import as_json
from humboldt.report.words import counted, file_size
from humboldt.settings import parse_assignments
from humboldt.study import Study, plan, stop_on_interrupt
from humboldt.suites import suites


class RunCommand(typer.core.TyperCommand):
    """`--ray` with an address or without one, which Typer's options cannot have."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """An address is `auto`, `local`, or has a colon; anything else after `--ray` is no part of it."""
        whole = []
        for i, text in enumerate(args):
            following = args[i + 1] if i + 1 < len(args) else ""
            is_address = following in ("auto", "local") or (":" in following and not following.startswith("-"))
            whole += [text, "local"] if text == "--ray" and not is_address else [text]
        return super().parse_args(ctx, whole)


class Kept(StrEnum):
    """Which trained members are kept."""

    BEST = "best"
    ALL = "all"
    NONE = "none"


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
) -> None:
    """Show what `run` would do, and the estimated time."""
    if as_records and slurm:
        raise UsageError("--json and --slurm were both given, but there is one output. Choose one of them.")
    load_files(plugin)
    study = _planned(suite, task, model, preset, seeds, set_, out)
    planned = announce(study, with_estimate=not no_estimate, with_ids=True)
    if as_records:
        print(as_json([one.record() for one in planned]), end="")
    elif slurm and any(one.missing for one in planned):
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
        Kept, typer.Option(help="Which trained members to keep: best by the suite's measure, all, none.")
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
    no_estimate: NoEstimate = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and the estimated time, then exit.")
    ] = False,
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
        raise UsageError("--cores and --gpus say what an experiment gets on a Ray cluster. Give --ray, too.")
    load_files(plugin)
    study = _planned(suite, task, model, preset, seeds, set_, out, experiment, match_parameters=match_parameters)
    if not dry_run:
        study.store  # noqa: B018  an error now, not after the estimate, if the folder cannot be written
        if ray is None:
            study.check_memory()
    # How long it takes on other machines cannot be measured here.
    planned = announce(study, with_estimate=not no_estimate and (ray is None or dry_run), with_ids=dry_run)
    if not dry_run:
        executor = Here() if ray is None else Ray(None if ray == "local" else ray, cores=cores or 1, gpus=gpus or 0)
        _execute(study, planned, save_every, keep, executor)
        _tell_kept(study)
        print(study.table())


def _tell_kept(study: Study) -> None:
    """How large what was kept is."""
    sizes = [path.stat().st_size for path in (study.out / "weights").glob("*/*.weights")]
    if sizes:
        kept = f"{counted(len(sizes), 'trained member')}, {file_size(sum(sizes))}"
        print(f"Kept in `{study.out / 'weights'}`: {kept}.", file=sys.stderr)


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
    """What `humboldt demo` runs: of every suite the part that it names."""
    parts = {name: suites.get(name).demo for name in suites.names()}
    return [
        plan(name, tasks=part.tasks, models=part.models, preset=part.preset, settings=part.settings, out=out)
        for name, part in parts.items()
    ]


def demo(out: Out = Path("demo-results")) -> None:
    """Run a small part of every suite, and write a page of it."""
    studies = demo_studies(out)
    for study in studies:
        _execute(study, announce(study))
    print("\n\n".join(study.table() for study in studies))
    try:
        print(f"The same as a page, with figures: `{write_report(out)}`. Open it in a browser.", file=sys.stderr)
    except MissingExtra:
        page = shlex.join(["humboldt", "report", str(out)])
        print(f"For a page with figures: pip install 'humboldt[report]', then {page}", file=sys.stderr)


def _execute(
    study: Study,
    planned: Sequence[Planned],
    save_seconds: float = 30.0,
    keep: Kept = Kept.BEST,
    executor: AbstractExecutor | None = None,
) -> None:
    missing = [part for one in planned for part in one.missing]
    seconds = {one.experiment.name: one.seconds for one in planned if one.seconds is not None and one.missing}
    with progress(len(missing), seconds) as view, stop_on_interrupt() as should_stop:
        try:
            study.run(
                lambda experiment: Shown(experiment.name, view, should_stop),
                save_seconds=save_seconds,
                keep=keep.value,
                executor=executor,
            )
        except (Interrupted, KeyboardInterrupt):
            again = shlex.join(["humboldt", *sys.argv[1:]])
            raise Interrupted(f"Stopped; everything so far is saved. To resume, run: {again}") from None
