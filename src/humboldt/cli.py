"""The command line. Thin: it parses, calls, prints. Results on stdout, everything else on stderr."""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from humboldt import __version__, files, listing
from humboldt._progress import Shown, progress
from humboldt.cluster.executor import Ray
from humboldt.errors import HumboldtError, Interrupted, MissingExtra, UsageError
from humboldt.execution import AbstractExecutor, Here
from humboldt.export_command import export
from humboldt.kept import load
from humboldt.merging import merge
from humboldt.model_check import ModelCheck, check_model, check_network
from humboldt.outside_models import register_reference
from humboldt.planning import Planned, announce, slurm_script
from humboldt.plugins import attribute_of_file, load_files, load_installed, makes_networks
from humboldt.prove_command import prove
from humboldt.report.tables import Table, as_csv, as_json, as_text, write_records
from humboldt.report.words import counted, file_size
from humboldt.report_command import archive, plot, report, write_report
from humboldt.score_command import score
from humboldt.settings import parse_assignments
from humboldt.store import Store
from humboldt.study import Study, plan, stop_on_interrupt
from humboldt.suites import suites
from humboldt.suites.capabilities import Conformance, OffersCheck, OffersData
from humboldt.suites.long_form import curve_rows, member_rows
from humboldt.suites.reading import chosen, stored, unknown_suite_tables
from humboldt.suites.reading import records as records_of
from humboldt.suites.reading import tables as tables_of

app = typer.Typer(
    help="Does a sequence model make infinite use of finite means? Five published benchmarks, one command.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(score)
app.command()(export)


def _folder(text: str) -> Path:
    if not text:
        raise UsageError("--out '': an empty name is no folder. Give a path, e.g. --out results.")
    return Path(text)


def _complete_suite() -> list[str]:
    return suites.names()


def _names_of(kind: str, context: typer.Context) -> list[str]:
    """Of the suite that was typed before, or of all."""
    typed: str = context.params.get("suite") or ""
    chosen_suites = [typed] if typed in suites else suites.names()
    return [name for suite in chosen_suites for name in getattr(suites.get(suite), kind)()]


def _complete_task(ctx: typer.Context) -> list[str]:
    return _names_of("tasks", ctx)


def _complete_model(ctx: typer.Context) -> list[str]:
    return _names_of("models", ctx)


def _complete_preset() -> list[str]:
    return list(dict.fromkeys(preset for name in suites.names() for preset in suites.get(name).presets))


Out = Annotated[Path, typer.Option("--out", help="Folder for results and checkpoints.", parser=_folder, metavar="DIR")]
Settings = Annotated[
    list[str], typer.Option("--set", help="Change a setting: key=value; may be repeated.", metavar="KEY=VALUE")
]
SuiteName = Annotated[str, typer.Argument(help="The suite, e.g. chomsky.", autocompletion=_complete_suite)]
TaskNames = Annotated[
    list[str],
    typer.Option("--task", help="A task; may be repeated. Default: the preset's.", autocompletion=_complete_task),
]
ModelNames = Annotated[
    list[str],
    typer.Option(
        "--model",
        help="A model, or your own as my_file.py:MyGRU; may be repeated. Default: the preset's.",
        autocompletion=_complete_model,
    ),
]
PresetName = Annotated[str, typer.Option("--preset", help="quick or paper.", autocompletion=_complete_preset)]
Seeds = Annotated[int | None, typer.Option("--seeds", help="Seeds per experiment. Default: the preset's.")]
NoEstimate = Annotated[bool, typer.Option("--no-estimate", help="Do not measure how long it will take.")]
Plugins = Annotated[list[Path], typer.Option("--plugin", help="A Python file that adds tasks, models or suites.")]


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


class Listing(StrEnum):
    """What can be listed."""

    SUITES = "suites"
    TASKS = "tasks"
    MODELS = "models"
    SETTINGS = "settings"


class Kept(StrEnum):
    """Which trained members are kept."""

    BEST = "best"
    ALL = "all"
    NONE = "none"


@app.command("list")
def list_(
    what: Annotated[Listing, typer.Argument(help="suites, tasks, models or settings.")] = Listing.SUITES,
    suite: Annotated[str | None, typer.Argument(help="Only this suite.")] = None,
    task: Annotated[str | None, typer.Option(help="With settings: those of this task.")] = None,
    model: Annotated[str | None, typer.Option(help="With settings: those of this model.")] = None,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """List suites, tasks, models or the settings of a suite."""
    load_files(plugin)
    if suite is not None:
        suites.get(suite)
    if (task or model) and what is not Listing.SETTINGS:
        raise UsageError("--task and --model choose among settings. Write e.g. `humboldt list settings chomsky`.")
    if what is Listing.SETTINGS:
        found = listing.list_settings(listing.needed_suite(suite), task, model)
    else:
        found = {"suites": listing.list_suites, "tasks": listing.list_tasks, "models": listing.list_models}[what]()
        found = [one for one in found if suite in (None, one.get("suite", one["name"]))]
    print(as_json(found) if as_records else f"{listing.as_text(what, found)}\n", end="")


@app.command("plan")
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
    """Show what `run` would do, experiment by experiment, and the estimated time."""
    if as_records and slurm:
        raise UsageError("--json and --slurm were both given, but there is one output. Choose one of them.")
    load_files(plugin)
    study = _planned(suite, task, model, preset, seeds, set_, out)
    planned = announce(study, with_estimate=not no_estimate, with_ids=True)
    if as_records:
        print(as_json([one.record() for one in planned]), end="")
    elif slurm and any(one.missing for one in planned):
        print(slurm_script(study, planned, plugin), end="")


@app.command(cls=RunCommand)
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
        plan(name, tasks=part.tasks, models=part.models, preset=part.preset, out=out) for name, part in parts.items()
    ]


@app.command()
def demo(out: Out = Path("demo-results")) -> None:
    """Run a small part of every suite, in a few minutes, and write a page with the results."""
    studies = demo_studies(out)
    for study in studies:
        _execute(study, announce(study))
    print("\n\n".join(study.table() for study in studies))
    try:
        print(f"The same as a page, with figures: `{write_report(out)}`. Open it in a browser.", file=sys.stderr)
    except MissingExtra:
        page = shlex.join(["humboldt", "report", str(out)])
        print(f"For a page with figures: pip install 'humboldt[report]', then {page}", file=sys.stderr)


@app.command("merge")
def merge_(
    folders: Annotated[list[Path], typer.Argument(help="Folders with results.", metavar="DIR...")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the joined results.", parser=_folder, metavar="DIR")],
) -> None:
    """Join the results and kept weights of several folders. If two folders disagree, nothing is merged."""
    done = merge(folders, out, warn=lambda message: print(f"Warning: {message}", file=sys.stderr))
    added = f"{counted(done.members, 'member')} and {counted(done.weights, 'file')} of weights"
    print(f"Added to `{out}`: {added}.", file=sys.stderr)


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="A folder with results.", metavar="DIR")],
    suite: Annotated[str | None, typer.Option(help="Only this suite.")] = None,
    task: Annotated[list[str], typer.Option(help="Only this task; may be repeated.")] = [],  # noqa: B006
    model: Annotated[list[str], typer.Option(help="Only this model; may be repeated.")] = [],  # noqa: B006
    preset: Annotated[str | None, typer.Option(help="Only results of this preset, with or without changes.")] = None,
    members: Annotated[bool, typer.Option("--members", help="A row for each member: CSV, or --json.")] = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="A row for each point of each curve (by length, by step): CSV, or --json.")
    ] = False,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON records.")] = False,
    as_rows: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write records to a file: .csv, .json or .parquet.", metavar="FILE")
    ] = None,
    failures: Annotated[bool, typer.Option("--failures", help="Print the tracebacks of what failed.")] = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Show results in the layout of the papers' tables, with the papers' numbers beside ours."""
    if sum([as_records, as_rows, output is not None]) > 1:
        raise UsageError("Of --json, --csv and --output only one can be given: there is one output. Choose one.")
    if members and curves:
        raise UsageError("--members and --curves were both given, but they have different columns. Choose one of them.")
    load_files(plugin)
    if suite is not None:
        suites.get(suite)
    if failures:
        told = [f"{f.task} · {f.model} {json.dumps(f.member)}:\n{f.error}" for f in Store.open(folder).failures(suite)]
        print("\n".join(told) or "Nothing has failed.")
        return
    found = chosen(stored(folder, suite), tasks=task, models=model, preset=preset)
    records, tables = [], list[Table]()
    for name in dict.fromkeys(scores.training.suite for scores in found):
        own = [scores for scores in found if scores.training.suite == name]
        if name not in suites:
            tables += unknown_suite_tables(name, own)
            continue
        records += [asdict(record) for record in records_of(suites.get(name), own)]
        tables += tables_of(suites.get(name), own)
    if members or curves:
        records = member_rows(found) if members else curve_rows(found)
    if output is not None:
        write_records(output, records)
        print(f"{counted(len(records), 'record')} in `{output}`.", file=sys.stderr)
    elif as_records:
        print(as_json(records), end="")
    elif as_rows or members or curves:
        print(as_csv(records), end="")
    else:
        print(as_text(tables) or "No results yet.")


@app.command()
def inspect(
    folder: Annotated[Path, typer.Argument(help="A folder with results.", metavar="DIR")],
    input_: Annotated[str, typer.Option("--input", help="A string: symbols with spaces between them.")],
    suite: Annotated[str | None, typer.Option(help="The suite, e.g. chomsky.")] = None,
    task: Annotated[str | None, typer.Option(help="The task, e.g. parity_check.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, e.g. rnn.")] = None,
    member: Annotated[
        list[str], typer.Option(help="Which of several kept members: key=value, may be repeated; or best.")
    ] = [],  # noqa: B006
    set_: Annotated[
        list[str],
        typer.Option("--set", help="Which of several trainings: key=value; may be repeated.", metavar="KEY=VALUE"),
    ] = [],  # noqa: B006
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON, with all numbers.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Draw it: a page (.html), or figures (.pdf, .png, .svg).", metavar="FILE")
    ] = None,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Show what a kept member answers to a string, and what happens inside it."""
    if as_records and output is not None:
        raise UsageError(f"--json and --output {output} were both given, but there is one output. Choose one of them.")
    load_files(plugin)
    chosen = "best" if member == ["best"] else parse_member(member)
    settings = parse_assignments(set_)
    found = load(folder, suite=suite, task=task, model=model, member=chosen, settings=settings).inspect(input_)
    if output is not None:
        from humboldt.page.inside import draw

        draw(found, output)
        print(output)
        return
    print(json.dumps(found.to_dict(), ensure_ascii=False) if as_records else str(found))


def parse_member(assignments: Sequence[str]) -> dict[str, object] | None:
    """`["seed=1", "penalty=l1"]` to `{"seed": 1, "penalty": "l1"}`: values that are JSON are read so.

    >>> parse_member(["seed=1", "penalty=l1", "learning_rate=1e-3"])
    {'seed': 1, 'penalty': 'l1', 'learning_rate': 0.001}
    """

    def value(text: str) -> object:
        try:
            return None if text == "none" else json.loads(text)
        except json.JSONDecodeError:
            return text

    return {key: value(text) for key, text in parse_assignments(assignments, "--member").items()} or None


@app.command()
def data(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")],
    task: Annotated[str, typer.Argument(help="The task, e.g. parity_check.")],
    split: Annotated[str | None, typer.Option(help="Which split, for suites that have them.")] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="How many examples. Default: 10; with --split and --output all.")
    ] = None,
    length: Annotated[int | None, typer.Option(min=1, help="Input symbols per example.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same strings.")] = 0,
    after: Annotated[int | None, typer.Option(min=0, help="Only bliss: begin after the strings of this size.")] = None,
    format_: Annotated[str, typer.Option("--format", help="jsonl, or released (only bliss).")] = "jsonl",
    output: Annotated[
        Path | None,
        typer.Option(help="Write a file; its ending says the format: .jsonl, .tsv or .parquet.", metavar="FILE"),
    ] = None,
    preset: Annotated[str, typer.Option("--preset", help="The preset of the settings: paper or quick.")] = "paper",
    set_: Settings = [],  # noqa: B006
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Print examples of a task as JSON lines, {"input": "...", "target": "..."}, or write them to a file."""
    settings: dict[str, str] = parse_assignments(set_)
    load_files(plugin)
    its_suite = suites.get(suite)
    if not isinstance(its_suite, OffersData):
        raise UsageError(f"The suite {suite} does not print examples of its tasks.")
    options = {"after": after, "format": format_ if format_ != "jsonl" else None}
    for name, value in options.items():
        if value is not None:
            if name not in its_suite.data_options:
                raise UsageError(f"--{name} {value}: the suite {suite} has no such option. Leave --{name} out.")
            settings[name] = str(value)
    if output is not None and format_ != "jsonl":
        raise UsageError(f"--format {format_} --output {output}: the ending of a file says its form. Leave one out.")
    wanted = 10 if count is None and (output is None or split is None) else count
    about = {"split": split, "count": wanted, "length": length, "seed": seed, "settings": settings, "preset": preset}
    pairs = its_suite.data(task, **about)  # pyright: ignore[reportArgumentType]
    if format_ == "released":  # `#aabb#`, one per line, no newline at the end
        for number, (source, target) in enumerate(pairs):
            print("\n" * (number > 0) + "".join([*source, target[-1]]), end="")
        return
    rows = ({"input": " ".join(source), "target": " ".join(target)} for source, target in pairs)
    if output is not None:
        print(f"{counted(files.write(output, rows), 'example')} in `{output}`.", file=sys.stderr)
        return
    for row in rows:
        print(files.json_line(row))


@app.command()
def check(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky; or the word model.")],
    task: Annotated[str, typer.Argument(help="The task, e.g. parity_check; of a model, FILE.py:NAME.")],
    file: Annotated[
        Path | None, typer.Argument(help='Other people\'s examples: JSON lines {"input": ..., "target": ...}.')
    ] = None,
    on: Annotated[str | None, typer.Option(help="Check a model on this SUITE/TASK.")] = None,
    preset: Annotated[
        str, typer.Option("--preset", help="The preset of the strings for a model: paper or quick.")
    ] = "quick",
    set_: Settings = [],  # noqa: B006
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Say whether somebody else's examples of a task agree with our definition, or whether a model can be scored.

    Exit 1 if not.
    """
    load_files(plugin)
    if suite == "model":
        report, passed = _checked_model(task, on, preset, parse_assignments(set_))
    else:
        report, passed = _checked_examples(suite, task, file)
    print(json.dumps(report.to_dict(), ensure_ascii=False) if as_records else str(report))
    if not passed:
        raise typer.Exit(1)


def _checked_model(place: str, on: str | None, preset: str, changes: dict[str, str]) -> tuple[ModelCheck, bool]:
    suite, slash, task = (on or "").partition("/")
    if not slash:
        raise UsageError(f"--on {on}: say what the model is for, as SUITE/TASK, e.g. --on chomsky/parity_check.")
    model = attribute_of_file(place)
    if makes_networks(model):
        name = register_reference(place)
        report = check_network(name, suite, task, preset=preset, settings=changes)
    else:
        report = check_model(model, suite, task, name=place, preset=preset, settings=changes)
    return report, report.passed


def _checked_examples(suite: str, task: str, file: Path | None) -> tuple[Conformance, bool]:
    if file is None:
        raise UsageError(f"check {suite} {task}: there is no file of examples. Give one, as JSON lines.")
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()  # a byte order mark is no part of the first line
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{file}` cannot be read: {error}. Give a text file of JSON lines.") from error
    its_suite = suites.get(suite)
    if not isinstance(its_suite, OffersCheck):
        able = [name for name in suites.names() if isinstance(suites.get(name), OffersCheck)]
        raise UsageError(f"The suite {suite} has no conformance check. These have one: {', '.join(able)}.")
    report = its_suite.check(task, lines)
    return report, report.agrees


app.command()(prove)
app.command()(report)
app.command()(plot)
app.command()(archive)


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


def main() -> None:
    """Entry point: our own errors become a message and an exit code."""
    try:
        app(standalone_mode=True)
    except HumboldtError as error:
        print(f"Error: {error}" if not isinstance(error, Interrupted) else str(error), file=sys.stderr)
        sys.stderr.flush()
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def version(value: bool) -> None:
    """Prints the version and leaves."""
    if value:
        print(f"humboldt {__version__}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Does a sequence model make infinite use of finite means?"""
    del show_version
    load_installed()
