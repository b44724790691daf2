"""The command line. Thin: it parses, calls, prints. Results on stdout, everything else on stderr."""

import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from humboldt import __version__
from humboldt._progress import Progress, progress
from humboldt.errors import HumboldtError, Interrupted, UsageError, is_out_of_memory
from humboldt.report.tables import as_csv, as_json, as_text
from humboldt.report.words import counted, duration
from humboldt.store import Store
from humboldt.study import Study, plan, stop_on_interrupt
from humboldt.suites import suites
from humboldt.suites._base import Experiment, Watcher
from humboldt.suites._settings import parse_assignments

app = typer.Typer(
    help="Does a sequence model make infinite use of finite means? Five published benchmarks, one command.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Out = Annotated[Path, typer.Option("--out", help="Folder for results and checkpoints.")]
Settings = Annotated[list[str], typer.Option("--set", help="key=value; may be repeated.", metavar="KEY=VALUE")]


class Listing(StrEnum):
    """What can be listed."""

    SUITES = "suites"
    TASKS = "tasks"
    MODELS = "models"


@app.command("list")
def list_(
    what: Annotated[Listing, typer.Argument(help="suites, tasks or models.")] = Listing.SUITES,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What there is: suites, tasks, models."""
    found: list[dict[str, str]] = []
    for name in suites.names():
        suite = suites.get(name)
        if what is Listing.SUITES:
            about = {"question": suite.question, "measure": suite.measure, "paper": suite.paper}
            found.append({"name": name, **about, "presets": ", ".join(suite.presets)})
        else:
            names = suite.tasks() if what is Listing.TASKS else suite.models()
            found.extend({"suite": name, "name": one} for one in names)
    if as_records:
        print(as_json(found), end="")
        return
    for entry in found:
        if what is Listing.SUITES:
            print(f"{entry['name']:10} {entry['question']:40} {entry['measure']:32} presets: {entry['presets']}")
            print(f"{'':10} {entry['paper']}")
        else:
            print(f"{entry['suite']}/{entry['name']}")


@app.command()
def run(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")],
    task: Annotated[list[str], typer.Option(help="A task; may be repeated. Default: all.")] = [],  # noqa: B006
    model: Annotated[list[str], typer.Option(help="A model; may be repeated. Default: all.")] = [],  # noqa: B006
    preset: Annotated[str, typer.Option(help="quick or paper.")] = "quick",
    seeds: Annotated[int | None, typer.Option(help="Seeds per experiment. Default: the preset's.")] = None,
    set_: Settings = [],  # noqa: B006
    out: Out = Path("results"),
    save_every: Annotated[float, typer.Option(min=0, help="Seconds between checkpoints.")] = 30.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run and how long, and stop.")] = False,
) -> None:
    """Run experiments. The same command again does only what is missing."""
    study = plan(suite, tasks=task, models=model, preset=preset, seeds=seeds, settings=parse_assignments(set_), out=out)
    _announce(study)
    if not dry_run:
        _execute(study, save_every)
        print(study.table())


@app.command()
def demo(out: Out = Path("demo-results")) -> None:
    """Every suite with its quick preset (or a part of it): the story in minutes."""
    studies = [plan(name, out=out, **asdict(suites.get(name).demo)) for name in suites.names()]
    for study in studies:
        _announce(study)
        _execute(study)
    print("\n\n".join(study.table() for study in studies))


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="A folder with results.", metavar="DIR")],
    suite: Annotated[str | None, typer.Option(help="Only this suite.")] = None,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON records.")] = False,
    as_rows: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Show results in the papers' tables, ours beside theirs."""
    if as_records and as_rows:
        raise UsageError("--json and --csv were both given, but there is one output. Choose one of them.")
    if suite is not None:
        suites.get(suite)
    runs = Store.open(folder).runs(suite)
    names = list(dict.fromkeys(run.suite for run, _ in runs))
    grouped = [(suites.get(name), [pair for pair in runs if pair[0].suite == name]) for name in names]
    records = [asdict(record) for one, pairs in grouped for record in one.records(pairs)]
    if as_records:
        print(as_json(records), end="")
    elif as_rows:
        print(as_csv(records), end="")
    else:
        print("\n\n".join(as_text(one.tables(pairs)) for one, pairs in grouped) or "No results yet.")


@app.command()
def data(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")],
    task: Annotated[str, typer.Argument(help="The task, e.g. parity_check.")],
    split: Annotated[str | None, typer.Option(help="Which split, for suites that have them.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many examples.")] = 10,
    length: Annotated[int | None, typer.Option(min=1, help="Input symbols per example.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same strings.")] = 0,
    after: Annotated[int | None, typer.Option(min=0, help="Strings that come next after this size (bliss).")] = None,
    format_: Annotated[str, typer.Option("--format", help="jsonl; bliss also has released.")] = "jsonl",
    set_: Settings = [],  # noqa: B006
) -> None:
    """Print examples of a task as JSON lines: {"input": "...", "target": "..."}."""
    settings = parse_assignments(set_)
    if after is not None:  # a suite that does not know these settings says so
        settings["after"] = str(after)
    if format_ != "jsonl":
        settings["format"] = format_
    pairs = suites.get(suite).data(task, split=split, count=count, length=length, seed=seed, settings=settings)
    if format_ == "released":  # `#aabb#`, one per line, no newline at the end
        for number, (source, target) in enumerate(pairs):
            print("\n" * (number > 0) + "".join([*source, target[-1]]), end="")
        return
    for source, target in pairs:
        print(json.dumps({"input": " ".join(source), "target": " ".join(target)}, ensure_ascii=False))


@app.command()
def check(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")],
    task: Annotated[str, typer.Argument(help="The task, e.g. parity_check.")],
    file: Annotated[Path, typer.Argument(help='Somebody else\'s examples: JSON lines {"input": ..., "target": ...}.')],
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say whether somebody else's examples of a task agree with our definition. Exit 1 if they do not."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{file}` cannot be read: {error}. Give a text file of JSON lines.") from error
    report = suites.get(suite).check(task, lines)
    print(json.dumps(report.to_dict(), ensure_ascii=False) if as_records else str(report))
    if not report.agrees:
        raise typer.Exit(1)


def _announce(study: Study) -> None:
    """What will run, how it differs from the paper, and how long it will take."""
    pending = study.pending()
    members = sum(len(experiment.members) for experiment in pending)
    total = sum(len(experiment.members) for experiment in study.experiments)
    preset = study.suite.preset(study.request.preset)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    experiments = counted(len(study.experiments), "experiment")
    say(f"{study.suite.name}, preset {preset.name}: {experiments}, {counted(total, 'member')} in all.")
    different = dict.fromkeys(text for experiment in study.experiments for text in experiment.departures)
    if different:
        say("Not the paper's setting: " + "; ".join(different) + ".")
    if not pending:
        say(f"All of it is finished in `{study.out}`. Nothing to do.")
        return
    if members < total:
        say(f"Finished in `{study.out}`: {counted(total - members, 'member')}. Left: {members:,}.")
    try:
        seconds = study.suite.estimate(pending)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        for experiment in pending:
            say(f"  {experiment.name}: {counted(len(experiment.members), 'member')} x {experiment.work}")
        say("Not measured: some of these members do not fit into memory together. They will be trained in groups.")
        return
    for experiment, estimate in zip(pending, seconds, strict=True):
        size = counted(len(experiment.members), "member")
        say(f"  {experiment.name}: {size} x {experiment.work}, about {duration(estimate)}")
    say(f"About {duration(sum(seconds))} in all, on this machine.")


def _execute(study: Study, save_seconds: float = 30.0) -> None:
    with progress() as shown, stop_on_interrupt() as should_stop:
        try:
            study.run(lambda experiment: _watcher(experiment, shown, should_stop, save_seconds))
        except (Interrupted, KeyboardInterrupt):
            again = shlex.join(["humboldt", *sys.argv[1:]])
            raise Interrupted(f"Stopped; everything so far is saved. To go on, run again: {again}") from None


def _watcher(experiment: Experiment, shown: Progress, should_stop: Callable[[], bool], save_seconds: float) -> Watcher:
    def tell(phase: str, done: int, total: int, remark: str) -> None:
        shown.update(f"{experiment.name} · {phase}", done, total, remark)

    return Watcher(tell, lambda message: shown.say(f"Warning: {message}"), should_stop, save_seconds)


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
