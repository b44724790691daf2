"""Adds results from another machine to the references and to the records of the papers' tables.

    python reproductions/integrate.py FILE ...

A file is one that `humboldt archive` wrote, compressed (`.gz`) or not. Whole suites of a bench preset become references
(`humboldt references --add`); everything else is added to `SUITE/members.jsonl` beside this script: a training and
evaluation that is there gets the union of its members. Then `python docs/generated.py` renews the generated tables.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from humboldt.core.results import Scores, State
from humboldt.errors import UsageError
from humboldt.storage.exports import INDEX, as_lines, exported, place, read_file, union
from humboldt.suites import benched, suites
from humboldt.suites.bench import BUDGETS
from humboldt.suites.reading import upgrade

HERE = Path(__file__).parent
REFERENCES = HERE.parent / "src/humboldt/references"


def of_papers(results: Sequence[Scores]) -> list[Scores]:
    """Returns the results that are not of a bench preset, without trainings of which no member has finished."""
    of_bench = [
        (scores.training.key, scores.evaluation.name)
        for preset in BUDGETS
        for answers in benched.answers_of(results, preset)
        for scores in answers.scores
    ]
    return [
        scores
        for scores in results
        if (scores.training.key, scores.evaluation.name) not in of_bench
        and any(result.state is State.FINISHED for result in scores.results)
    ]


def add_members(results: Sequence[Scores], folder: Path) -> dict[str, int]:
    """Adds results to the records of their suites in a folder; returns the number of lines that changed, by file."""
    changed: dict[str, int] = {}
    for name in dict.fromkeys(scores.training.suite for scores in results):
        suite, path = suites.get(name), folder / name / "members.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        known: dict[tuple[str, str], Mapping[str, Any]] = {}
        for entry in map(json.loads, lines):
            known[place(entry)] = entry
        before = dict(known)
        for scores in results:
            if scores.training.suite == name:
                entry = exported(scores, format=suite.format, headline=suite.headline)
                entry["results"] = [without_end(line) for line in entry["results"]]
                old = known.get(place(entry))
                known[place(entry)] = entry if old is None else union(old, entry)
        changed[f"{name}/members.jsonl"] = sum(before.get(key) != entry for key, entry in known.items())
        path.parent.mkdir(exist_ok=True)
        path.write_text(as_lines(known.values()), encoding="utf-8")
    index = folder / INDEX
    listed = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {"members": []}
    listed["members"] += [name for name in changed if name not in listed["members"]]
    index.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    return changed


def without_end(line: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a member without the end of its training, which only answers of a bench need."""
    detail = {key: value for key, value in line.get("detail", {}).items() if key != "end"}
    rest = {key: value for key, value in line.items() if key != "detail"}
    return {**rest, "detail": detail} if detail else rest


def main(paths: Sequence[str]) -> None:
    """Adds files; see above."""
    for path in map(Path, paths):
        command = [sys.executable, "-m", "humboldt", "references", "--add", str(path), "--to", str(REFERENCES)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr, sep="", end="")  # a file without references is no error
        try:
            results = of_papers(read_file(path, upgrade))
        except UsageError as error:
            sys.exit(f"Error: {error}")
        for name, count in add_members(results, HERE).items():
            print(f"reproductions/{name}: {count} lines are new or have more members")
    subprocess.run([sys.executable, "docs/generated.py"], cwd=HERE.parent, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
