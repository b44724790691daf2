"""`humboldt score`: anybody's predictions, scored without any framework."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from humboldt.commands.options import Plugins, Settings
from humboldt.errors import UsageError, unknown_name
from humboldt.plugins import load_files
from humboldt.scoring import score as score_model
from humboldt.settings import parse_assignments
from humboldt.suites import suites
from humboldt.suites.capabilities import FileRequest, OffersScore
from humboldt.suites.outside import Looked, Recorded

FROM_OUTPUTS = ("accuracy", "substitutivity", "overgeneralisation", "preference")  # what a file in any order can answer


def score(
    suite: Annotated[str, typer.Argument(help="The suite, e.g. chomsky.")],
    task: Annotated[str, typer.Argument(help="The task or test, e.g. parity_check.")],
    file: Annotated[list[Path], typer.Argument(help="Predictions (.jsonl, .tsv, .parquet); a file for each seed.")],
    twin: Annotated[Path | None, typer.Option(help="A second file, for tests that compare two outputs.")] = None,
    split: Annotated[
        str | None, typer.Option(help="The split of the file, for suites with several splits (syntax).")
    ] = None,
    preset: Annotated[str, typer.Option(help="The preset of the test strings: paper or quick.")] = "paper",
    set_: Settings = [],  # noqa: B006
    name: Annotated[
        str | None, typer.Option(help="The name of the model in tables. Default: the name of the file.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="With --out: the seed of the first file.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A folder with results; the scores are added to it.")] = None,
    plugin: Plugins = [],  # noqa: B006
) -> None:
    """Score anybody's predictions; print JSON."""
    load_files(plugin)
    its_suite, changes = suites.get(suite), parse_assignments(set_)
    for path in file:
        if not path.is_file():
            raise UsageError(f"`{path}` cannot be read: it is no file. Give a file of predictions.")
    its_own = isinstance(its_suite, OffersScore)
    about: dict[str, Any] = {"name": name or file[0].stem, "preset": preset, "settings": changes, "seed": seed}
    if its_own and split is not None:
        raise UsageError(f"--split {split}: {suite} needs no split to score a file. Leave it out.")
    if its_own:
        result = its_suite.score_file(FileRequest(task, file, twin, changes, preset))
        if out is not None:
            models = [one for path in file for one in Looked.read(path, *([twin] if twin else []))]
            possible = [e for e in FROM_OUTPUTS if e in _evaluations(suite, task)]
            if not possible:
                raise UsageError(
                    f"--out {out}: a file of {suite}/{task} tells too little for a table. Leave --out out, or use "
                    "`humboldt.score` in Python."
                )
            score_model(suite, models, tasks=task, evaluations=possible, out=out, **about)
    else:
        if twin is not None:
            raise UsageError(f"--twin {twin}: {suite} has no test that compares two outputs. Leave it out.")
        known = ("scored", *its_suite.test_sets) if its_suite.test_sets else ()
        if split is not None and split not in known:
            raise unknown_name(
                f"test set of {suite}", split, known, hint="" if known else "It has one. Leave --split out."
            )
        covers = None if split in (None, "scored") else (split,)
        if covers and out is not None:
            raise UsageError(f"--split {split} --out {out}: a table needs all splits. Score --split scored.")
        models = [Recorded(path, covers) for path in file]
        card = score_model(suite, models, tasks=task, out=out, **about)
        result = {"suite": suite, "task": task, "model": about["name"], "readings": card.readings()}
    print(json.dumps(result, ensure_ascii=False, indent=1))


def _evaluations(suite: str, task: str) -> list[str]:
    its_suite = suites.get(suite)
    return [one.name for one in its_suite.evaluations(its_suite.protocol(), its_suite.trained_task(task))]
