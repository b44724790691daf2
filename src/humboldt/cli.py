"""The command line. Thin: it parses, calls, prints. Results on stdout, everything else on stderr."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from humboldt import __version__
from humboldt._progress import Progress as Bar
from humboldt._progress import progress
from humboldt.errors import HumboldtError, Interrupted, MissingExtra, UsageError, is_out_of_memory
from humboldt.events import AbstractSink, Event, Progress
from humboldt.kept import load
from humboldt.plugins import load_files, load_installed
from humboldt.prove_command import prove
from humboldt.report.tables import Table, as_csv, as_json, as_text
from humboldt.report.words import counted, duration, file_size
from humboldt.report_command import export, plot, report, write_report
from humboldt.score_command import score
from humboldt.store import Store
from humboldt.study import Study, plan, stop_on_interrupt
from humboldt.suites import suites
from humboldt.suites.base import Experiment
from humboldt.suites.capabilities import OffersCheck, OffersData
from humboldt.suites.reading import records as records_of
from humboldt.suites.reading import stored, unknown_suite_tables
from humboldt.suites.reading import tables as tables_of

app = typer.Typer(
    help="Does a sequence model make infinite use of finite means? Five published benchmarks, one command.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(score)


def _folder(text: str) -> Path:
    if not text:
        raise UsageError("--out '': an empty name is no folder. Give a path, e.g. --out results.")
    return Path(text)


Out = Annotated[Path, typer.Option("--out", help="Folder for results and checkpoints.", parser=_folder, metavar="DIR")]
Settings = Annotated[list[str], typer.Option("--set", help="key=value; may be repeated.", metavar="KEY=VALUE")]
SuiteName = Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")]
TaskNames = Annotated[list[str], typer.Option("--task", help="A task; may be repeated. Default: the preset's.")]
ModelNames = Annotated[
    list[str],
    typer.Option(
        "--model", help="A model, or one of your own as my_file.py:MyGRU; may be repeated. Default: the preset's."
    ),
]
PresetName = Annotated[str, typer.Option("--preset", help="quick or paper.")]
Seeds = Annotated[int | None, typer.Option("--seeds", help="Seeds per experiment. Default: the preset's.")]
Plugins = Annotated[list[Path], typer.Option("--plugin", help="A Python file that adds tasks, models or suites.")]


class Listing(StrEnum):
    """What can be listed."""

    SUITES = "suites"
    TASKS = "tasks"
    MODELS = "models"


class Kept(StrEnum):
    """Which trained members are kept."""

    BEST = "best"
    ALL = "all"
    NONE = "none"


@app.command("list")
def list_(
    what: Annotated[Listing, typer.Argument(help="suites, tasks or models.")] = Listing.SUITES,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """List suites, tasks or models."""
    load_files(plugin)
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
) -> None:
    """Show what `run` would do and the estimated time, then exit."""
    load_files(plugin)
    _announce(_planned(suite, task, model, preset, seeds, set_, out))


@app.command()
def run(
    suite: SuiteName,
    task: TaskNames = [],  # noqa: B006
    model: ModelNames = [],  # noqa: B006
    preset: PresetName = "quick",
    seeds: Seeds = None,
    set_: Settings = [],  # noqa: B006
    out: Out = Path("results"),
    save_every: Annotated[float, typer.Option(min=0, help="Seconds between checkpoints.")] = 30.0,
    keep: Annotated[
        Kept, typer.Option(help="Which trained members to keep: best by the suite's measure, all, none.")
    ] = Kept.BEST,
    plugin: Plugins = [],  # noqa: B006
    no_estimate: Annotated[bool, typer.Option("--no-estimate", help="Do not measure how long it will take.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and the estimated time, then exit.")
    ] = False,
) -> None:
    """Run experiments. The same command again does only what is missing."""
    load_files(plugin)
    study = _planned(suite, task, model, preset, seeds, set_, out)
    if not dry_run:
        study.store  # noqa: B018  an error now, not after the estimate, if the folder cannot be written
        study.check_memory()
    _announce(study, with_estimate=not no_estimate)
    if not dry_run:
        _execute(study, save_every, keep)
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
) -> Study:
    changes = parse_assignments(assignments)
    return plan(suite, tasks=tasks, models=models, preset=preset, seeds=seeds, settings=changes, out=out)


def parse_assignments(assignments: Sequence[str], option: str = "--set") -> dict[str, str]:
    """`["steps=100"]` to `{"steps": "100"}`.

    >>> parse_assignments(["steps=100", "train_lengths=1,20"])
    {'steps': '100', 'train_lengths': '1,20'}
    """
    parsed: dict[str, str] = {}
    example = f"{option} {'steps=100' if option == '--set' else 'seed=0'}"
    for assignment in assignments:
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not equals or not key:
            raise UsageError(f"{option} got {assignment!r}, which is not of the form key=value. Write e.g. {example}.")
        if parsed.get(key, value) != value:
            raise UsageError(f"{option} {key} was given twice, as {parsed[key]!r} and as {value!r}. Give it once.")
        parsed[key] = value
    return parsed


@app.command()
def demo(out: Out = Path("demo-results")) -> None:
    """Every suite with its quick preset (or a part of it): the story in minutes."""
    studies = [plan(name, out=out, **asdict(suites.get(name).demo)) for name in suites.names()]
    for study in studies:
        _announce(study)
        _execute(study)
    print("\n\n".join(study.table() for study in studies))
    try:
        print(f"The same as a page, with figures: `{write_report(out)}`. Open it in a browser.", file=sys.stderr)
    except MissingExtra:
        page = shlex.join(["humboldt", "report", str(out)])
        print(f"For a page with figures: pip install 'humboldt[report]', then {page}", file=sys.stderr)


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="A folder with results.", metavar="DIR")],
    suite: Annotated[str | None, typer.Option(help="Only this suite.")] = None,
    as_records: Annotated[bool, typer.Option("--json", help="Print JSON records.")] = False,
    as_rows: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    failures: Annotated[bool, typer.Option("--failures", help="Print the tracebacks of what failed.")] = False,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Show results in the papers' tables, ours beside theirs."""
    if as_records and as_rows:
        raise UsageError("--json and --csv were both given, but there is one output. Choose one of them.")
    load_files(plugin)
    if suite is not None:
        suites.get(suite)
    if failures:
        told = [f"{f.task} · {f.model} {json.dumps(f.member)}:\n{f.error}" for f in Store.open(folder).failures(suite)]
        print("\n".join(told) or "Nothing has failed.")
        return
    found = stored(folder, suite)
    records, tables = [], list[Table]()
    for name in dict.fromkeys(scores.training.suite for scores in found):
        own = [scores for scores in found if scores.training.suite == name]
        if name not in suites:
            tables += unknown_suite_tables(name, own)
            continue
        records += [asdict(record) for record in records_of(suites.get(name), own)]
        tables += tables_of(suites.get(name), own)
    if as_records:
        print(as_json(records), end="")
    elif as_rows:
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
    count: Annotated[int, typer.Option(min=1, help="How many examples.")] = 10,
    length: Annotated[int | None, typer.Option(min=1, help="Input symbols per example.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same strings.")] = 0,
    after: Annotated[int | None, typer.Option(min=0, help="Strings that come next after this size (bliss).")] = None,
    format_: Annotated[str, typer.Option("--format", help="jsonl; bliss also has released.")] = "jsonl",
    set_: Settings = [],  # noqa: B006
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Print examples of a task as JSON lines: {"input": "...", "target": "..."}."""
    settings: dict[str, str] = parse_assignments(set_)
    if after is not None:  # a suite that does not know these settings says so
        settings["after"] = str(after)
    if format_ != "jsonl":
        settings["format"] = format_
    load_files(plugin)
    its_suite = suites.get(suite)
    if not isinstance(its_suite, OffersData):
        raise UsageError(f"The suite {suite} does not print examples of its tasks.")
    pairs = its_suite.data(task, split=split, count=count, length=length, seed=seed, settings=settings)
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
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Say whether somebody else's examples of a task agree with our definition. Exit 1 if they do not."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()  # a byte order mark is no part of the first line
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{file}` cannot be read: {error}. Give a text file of JSON lines.") from error
    load_files(plugin)
    its_suite = suites.get(suite)
    if not isinstance(its_suite, OffersCheck):
        able = [name for name in suites.names() if isinstance(suites.get(name), OffersCheck)]
        raise UsageError(f"The suite {suite} has no conformance check. These have one: {', '.join(able)}.")
    report = its_suite.check(task, lines)
    print(json.dumps(report.to_dict(), ensure_ascii=False) if as_records else str(report))
    if not report.agrees:
        raise typer.Exit(1)


app.command()(prove)
app.command()(report)
app.command()(plot)
app.command()(export)


def _announce(study: Study, *, with_estimate: bool = True) -> None:
    """What will run, how it differs from the paper, and how long it will take."""
    pending = study.pending()
    members = sum(len(experiment.members) for experiment in pending)
    total = sum(len(experiment.members) for experiment in study.experiments)
    preset = study.suite.preset(study.request.preset)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    experiments = counted(len(study.experiments), "experiment")
    say(f"{study.suite.name}, preset {preset.name}: {experiments}, {counted(total, 'member')} in all.")
    if different := study.departures():
        say(different)
    if not pending:
        say(f"All of it is finished in `{study.out}`. Nothing to do.")
        return
    if members < total:
        say(f"{total - members:,} of {counted(total, 'member')} are already finished in `{study.out}`.")
    lines = [
        f"  {e.name}: {counted(len(e.members), 'member')} x {'scoring only' if e.kept else e.work}" for e in pending
    ]
    if not with_estimate:
        say("\n".join(lines))
        return
    try:
        estimates = list(study.estimate(pending))
    except MissingExtra as error:
        say("\n".join(lines))
        say(f"No estimate: {error}")
        return
    except Exception as error:  # of a user's model, say: the run itself will record it
        say("\n".join(lines))
        if is_out_of_memory(error):
            say("No estimate: some of these members do not fit into memory together. They will be trained in groups.")
        else:
            say(f"No estimate: {type(error).__name__}: {error}")
        return
    for line, seconds in zip(lines, estimates, strict=True):
        say(f"{line}, about {duration(seconds)}")
    say(f"About {duration(sum(estimates))} in all, on this machine.")


def _execute(study: Study, save_seconds: float = 30.0, keep: Kept = Kept.BEST) -> None:
    with progress() as bar, stop_on_interrupt() as should_stop:
        try:
            study.run(
                lambda experiment: _Shown(experiment, bar, should_stop), save_seconds=save_seconds, keep=keep.value
            )
        except (Interrupted, KeyboardInterrupt):
            again = shlex.join(["humboldt", *sys.argv[1:]])
            raise Interrupted(f"Stopped; everything so far is saved. To go on, run again: {again}") from None


@dataclass(frozen=True)
class _Shown(AbstractSink):
    """Events of one experiment, shown to a person."""

    experiment: Experiment
    bar: Bar
    asked: Callable[[], bool]

    def send(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.bar.update(f"{self.experiment.name} · {event.phase}", event.done, event.total, event.remark)
        else:
            self.bar.say(f"Warning: {event.message}")

    def should_stop(self) -> bool:
        return self.asked()


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
