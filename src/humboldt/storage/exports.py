"""Exported members: results of every member as lines of JSON, read like a read-only store. A folder is such a store if
it has a file `exports.json` that names them.

```json
{"members": ["chomsky/members.jsonl"], "records": ["bliss/results.json"]}
```

`members` have the results of single members; `records` are those of `humboldt show --json`, for results that were
exported without their members.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result, Scores, State, end_of_training
from humboldt.errors import UsageError
from humboldt.storage.databases import BadCell, number
from humboldt.storage.output import write_file
from humboldt.storage.store import Upgrade, Written

INDEX = "exports.json"
REPORTED = "reported"  # the folder in a store for exported members from elsewhere
DIGITS = 6  # of measures and details: enough for every table and picture
CURVES = ("training", "accuracy_per_length", "outputs")  # needed only by figures: exported with the best member
SHARED = ("shortcuts", "parameters")  # details that are equal for all members of a training: exported with the first


def is_export(folder: Path) -> bool:
    """Returns whether a folder is a store of exported members."""
    return os.path.isfile(folder / INDEX) and not os.path.exists(folder / "results.db")  # of any name, however long


def exported(scores: Scores, *, format: int, headline: str) -> dict[str, Any]:
    """Returns all members of one training under one evaluation. Curves are those of the best member by `headline`."""
    finished = [result for result in scores.results if result.state is State.FINISHED]
    best = max(finished, key=lambda result: result.measures.get(headline, float("-inf")), default=None)
    numbers: dict[str, int] = {}  # of environments, which are equal for nearly all members
    environments: list[dict[str, str]] = []
    by_identity: dict[int, int] = {}
    results = []
    for result in scores.results:
        place = by_identity.get(id(result.environment))
        if place is None:
            environment = dict(result.environment)
            place = numbers.setdefault(json.dumps(environment, sort_keys=True), len(numbers))
            environments += [environment] * (place == len(environments))
            by_identity[id(result.environment)] = place
        is_first = bool(finished) and result is finished[0]
        results.append(_result(result, place, is_best=result is best, is_first=is_first))
    return {
        "training": {name: getattr(scores.training, name) for name in _TRAINING},
        "format": format,
        "evaluation": {name: getattr(scores.evaluation, name) for name in ("name", "setting", "version")},
        "environments": environments,
        "results": results,
    }


_TRAINING = ("suite", "task", "model", "engine", "setting", "versions")


def _result(result: Result, environment: int, *, is_best: bool, is_first: bool) -> dict[str, Any]:
    left_out = {*(() if is_best else CURVES), *(() if is_first else SHARED)}
    detail = {key: value for key, value in result.detail.items() if key not in left_out}
    if "training" in result.detail and not is_best:  # answers of a bench need to know what was learnt
        detail["end"] = end_of_training(result)
    return {
        "member": dict(result.member),
        "state": result.state.value,
        "measures": _rounded(dict(result.measures)),
        "seconds": round(result.seconds, 2),
        "environment": environment,
        **({"detail": _rounded(dict(detail))} if detail else {}),
    }


def _rounded(value: Any) -> Any:
    """Returns the value with rounded numbers."""
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def as_lines(entries: Iterable[Mapping[str, Any]]) -> str:
    """Returns exported members as text, a training and evaluation in each line."""
    return "".join(json.dumps(entry, ensure_ascii=False, sort_keys=True) + "\n" for entry in entries)


def read_members(folder: Path, upgrade: Upgrade) -> list[Scores]:
    """Reads all exported members of a folder, upgraded to current settings."""
    return [scores_of(entry, upgrade, where) for where, entry in _entries(folder)]


def add_reported(path: Path, out: Path, upgrade: Upgrade) -> int:
    """Copies a file of exported members into a store, apart from its own results. Returns the number of members."""
    count = sum(len(scores_of(entry, upgrade, where).results) for where, entry in _lines(path))
    try:
        (out / REPORTED).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"`{out / REPORTED}` cannot be made: {error.strerror}. Choose another folder.") from error
    write_file(out / REPORTED / path.name, _text(path), "--out")
    return count


def read_reported(folder: Path, upgrade: Upgrade) -> list[Scores]:
    """Reads the reported members of a store, upgraded to current settings."""
    paths = sorted((folder / REPORTED).glob("*.jsonl"))
    return [scores_of(entry, upgrade, where) for path in paths for where, entry in _lines(path)]


def read_file(path: Path, upgrade: Upgrade) -> list[Scores]:
    """Reads a file of exported members, which may be compressed (`.gz`), upgraded to current settings."""
    return [scores_of(entry, upgrade, where) for where, entry in _lines(path)]


def place(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the keys of the training and the evaluation of an exported line."""
    training = Training(**entry["training"])
    return training.key, Evaluation(**entry["evaluation"]).key_for(training)


def union(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Returns two exported lines of one training and evaluation as one. A member of both is taken from `after`."""
    environments = [*before["environments"], *after["environments"]]
    moved = [{**line, "environment": line["environment"] + len(before["environments"])} for line in after["results"]]
    members = {str(sorted(line["member"].items())): line for line in [*before["results"], *moved]}
    results = sorted(members.values(), key=lambda line: sorted((k, str(v)) for k, v in line["member"].items()))
    used = sorted({line["environment"] for line in results})
    renumbered = [{**line, "environment": used.index(line["environment"])} for line in results]
    return {**after, "environments": [environments[i] for i in used], "results": renumbered}


def _entries(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in _listed(folder, "members"):
        yield from _lines(path)


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, line in enumerate(_text(path).splitlines(), 1):
        try:
            yield f"{path}, line {place}", json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"`{path}`, line {place} is not JSON: {error}. Restore the file.") from error


def scores_of(entry: Mapping[str, Any], upgrade: Upgrade, where: str) -> Scores:
    """Reads one exported training, upgraded to current settings. `where` names its place in messages."""
    try:
        training = upgrade(Written(Training(**entry["training"]), entry["format"]))
        results = [
            Result(
                one["member"],
                State(one["state"]),
                {name: number(value, f"measures.{name}") for name, value in one["measures"].items()},
                number(one["seconds"], "seconds"),
                one.get("detail", {}),
                entry["environments"][one["environment"]],
            )
            for one in entry["results"]
        ]
        return Scores(training, Evaluation(**entry["evaluation"]), tuple(results))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, BadCell) as error:
        raise UsageError(f"{where} is not an exported training: {error!r:.300}. Restore the file.") from error


def read_records(folder: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Reads the records of a folder that were exported without their members, by file."""
    if not is_export(folder):
        return []
    return [(str(path.relative_to(folder)), _records(path)) for path in _listed(folder, "records")]


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"`{path}` is not JSON: {error}. Restore the file.") from error


def _listed(folder: Path, kind: str) -> list[Path]:
    try:
        names = json.loads(_text(folder / INDEX)).get(kind, [])
    except (ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"`{folder / INDEX}` does not name exports: {error}. See docs/report.md.") from error
    return [folder / name for name in names]


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {error}.") from error
