"""`humboldt bench` and `humboldt references`: one model on all suites, among the references."""

from pathlib import Path
from typing import Annotated

import typer

from humboldt.commands.options import NoEstimate, Out, Plugins, Seeds, Settings, folder, refuse
from humboldt.commands.report import write_report
from humboldt.commands.run import resumable
from humboldt.core.results import Scores
from humboldt.errors import MissingExtra, UsageError
from humboldt.plugins import load_files
from humboldt.report.tables import Table, TableCell, as_json, as_text
from humboldt.report.words import counted, tell
from humboldt.running import bench as running
from humboldt.running.cluster.executor import Ray
from humboldt.running.planning import announce
from humboldt.running.references import add_references, check_size, missing_tasks
from humboldt.settings import parse_assignments
from humboldt.storage.exports import read_file
from humboldt.storage.output import check_output
from humboldt.suites import benched, profile, suites
from humboldt.suites.answers import ModelAnswers
from humboldt.suites.bench import BUDGETS, PREFIX
from humboldt.suites.profile_figure import profile_figure
from humboldt.suites.reading import explained, stored, upgrade
from humboldt.suites.resolving import is_current

SuiteNames = Annotated[list[str], typer.Option("--suite", help="Suite; may be repeated. Default: all that fit.")]


def bench(
    model: Annotated[
        list[str], typer.Argument(help="Families, or your own model: `my_file.py:MyGRU`.", metavar="MODEL...")
    ],
    preset: Annotated[str, typer.Option(help="quick: 2 cores. standard: one GPU.")] = "quick",
    suite: SuiteNames = [],  # noqa: B006
    seeds: Seeds = None,
    parameters: Annotated[
        int | None, typer.Option(min=1, help="Parameters of a family's body, without embedding and readout.")
    ] = None,
    set_: Settings = [],  # noqa: B006
    out: Out = Path("results"),
    plugin: Plugins = [],  # noqa: B006
    no_estimate: NoEstimate = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, then exit.")] = False,
    ray: Annotated[str | None, typer.Option("--ray", help="Run on a Ray cluster: HOST:PORT, auto or local.")] = None,
) -> None:
    """Train a model on every suite; compare it with the references.

    The same command again does only what is missing.
    """
    executor = None if ray is None else Ray(None if ray == "local" else ray, cores=1, gpus=0)
    load_files(plugin)
    changes = _by_suite(parse_assignments(set_))
    options = {"preset": preset, "suites": suite, "seeds": seeds, "parameters": parameters, "settings": changes}
    planned = running.plan_bench(model, **options, out=out)
    for name, reason in planned.left_out.items():
        tell(f"Left out: {name}: {reason}.")
    if dry_run:
        for study in planned.studies:
            announce(study, estimate="none" if no_estimate else "measured", with_ids=True)
        return

    def answered(answers: ModelAnswers, seconds: float) -> None:
        tell(profile.progress_line(answers, benched.model_title(answers.model), seconds))

    with resumable():
        running.run_bench(planned, executor=executor, announces=True, answered=answered)
    with explained(out):
        table = planned.table()
    print(table)
    try:
        tell(f"The same as a page, with figures: `{write_report(out)}`. Open it in a browser.")
    except MissingExtra:
        tell("For a page with figures: pip install 'humboldt[report]'")


def _by_suite(changes: dict[str, str]) -> dict[str, dict[str, str]]:
    """Returns changes by suite: `chomsky.steps=100` is a change for one suite."""
    by_suite: dict[str, dict[str, str]] = {}
    for key, value in changes.items():
        suite, dot, name = key.partition(".")
        if not dot:
            raise UsageError(
                f"{key}={value}: a bench has several suites, so a setting needs one, e.g. --set chomsky.steps=100. A "
                "changed setting is another one than that of the references, so results are not compared with them."
            )
        by_suite.setdefault(suites.get(suite).name, {})[name] = value
    return by_suite


def references(
    add: Annotated[
        Path | None,
        typer.Option("--add", help="Add the bench results of a folder, or of a file of `archive`, to --to."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder with reference files.", parser=folder, metavar="DIR")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the answers of all references: .svg, .png or .pdf.", metavar="FILE")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="With --picture: quick or standard. Default: quick.")] = None,
    as_records: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the shipped reference results, and commands for the rest."""
    if picture is not None:
        refuse("references --picture", {"--add": add, "--to": to, "--json": as_records})
        _draw(picture, "quick" if preset is None else preset)
        return
    refuse("references without --picture", {"--preset": preset})
    if (add is None) != (to is None):
        raise UsageError("--add and --to belong together: results of one folder are added to files in another.")
    if add is not None and to is not None:
        refuse("references --add", {"--json": as_records})
        of_presets = []
        with explained(add):
            added = read_file(add, upgrade) if add.is_file() else stored(add)
            asked = [(preset, answers) for preset in BUDGETS for answers in benched.answers_of(added, preset)]
        for preset, answers in asked:
            missing = missing_tasks(answers)
            if missing:
                parts = f"{answers.suite}, {answers.model}, {preset}"
                tell(f"Left out: {parts}: no results of {', '.join(missing)}.")
                continue
            check_size(answers.scores[0], preset)
            of_presets.append((preset, answers))
        results = [scores for _, answers in of_presets for scores in answers.scores]
        if not results:
            raise UsageError(f"`{add}` has no whole suite of a bench preset. Make one with `humboldt bench`.")
        for path in add_references(results, to):
            print(path)
        return
    rows = _reference_rows()
    if as_records:
        print(as_json(rows), end="")
        return
    columns = ("Model", "Preset", *benched.benched_suites())
    lines = tuple(
        (
            benched.model_title(str(row["model"])),
            str(row["preset"]),
            *(TableCell(value=row[suite], form=".0f") for suite in benched.benched_suites()),
        )
        for row in rows
    )
    stale = sum(map(_is_stale, benched.reference_scores()))
    note = f"Tasks with reference members, by suite. {counted(stale, 'result')} of superseded versions left out."
    print(as_text([Table("References", columns, lines, (note,), labels=2)]))
    if commands := [f"  {row['command']}" for row in rows if row["command"]]:
        print("\n".join(["", "Commands for what is missing:", *commands]))


def _draw(path: Path, preset: str) -> None:
    """Draws the answers of the references under a bench preset, of families that have them in every suite."""
    from humboldt.page.charts import kind_of, save

    kind_of(path)
    check_output(path)
    full = running.full_preset(preset)
    answers = benched.answers_of(benched.reference_scores(), full)
    if not answers:
        raise UsageError(
            f"--preset {preset}: no references ship for it yet. `humboldt references` lists those that do."
        )
    suites_of = {each.model: {other.suite for other in answers if other.model == each.model} for each in answers}
    whole = [each for each in answers if suites_of[each.model] == set.union(*suites_of.values())]
    save([profile_figure(full, [], whole or answers)], path)
    print(path)


def _is_stale(scores: Scores) -> bool:
    return not is_current(suites.get(scores.training.suite), scores.training, scores.evaluation)


def _reference_rows() -> list[dict[str, str | int | None]]:
    rows = []
    for preset in BUDGETS:
        by_model: dict[str, dict[str, int]] = {}
        for answers in benched.answers_of(benched.reference_scores(), preset):
            by_model.setdefault(answers.model, {})[answers.suite] = len(answers.tasks)
        for family in benched.families():
            name = f"{benched.FAMILY}{family}"
            counts = by_model.get(name, {})
            missing = [suite for suite in benched.benched_suites() if suite not in counts]
            if counts:  # without references, the command names no suite, and leaves out those that do not fit
                missing = [suite for suite in missing if not running.misfit(suite, name, preset)]
            short = preset.removeprefix(PREFIX)
            suite_options = "".join(f" --suite {suite}" for suite in missing) if counts else ""
            command = f"humboldt bench {family} --preset {short} --seeds 5{suite_options}" if missing else ""
            of_suites = {suite: counts.get(suite) for suite in benched.benched_suites()}
            rows.append({"model": name, "preset": short, **of_suites, "command": command})
    return rows
