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
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result, Scores, State, end_of_training
from humboldt.errors import UsageError
from humboldt.storage.databases import BadCell, number, short, text
from humboldt.storage.output import reason, shortened, write_file
from humboldt.storage.store import Upgrade, Written

INDEX = "exports.json"
LARGEST = 2**31  # bytes of a file that is read, decompressed
REPORTED = "reported"  # the folder in a store for exported members from elsewhere
DIGITS = 6  # of measures and details: enough for every table and picture
CURVES = ("training", "accuracy_per_length", "outputs")  # needed only by figures: exported with the best member
MOST_DEPTH = 4  # of lists and objects in settings
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


def num_reported(path: Path, upgrade: Upgrade) -> int:
    """Returns the number of members in a file of exported members; raises a usage error if it is damaged."""
    count = sum(len(scores_of(entry, upgrade, where).results) for where, entry in _lines(path))
    if not count:
        raise UsageError(f"`{path}` has no members. Give a file that `humboldt archive` wrote.")
    return count


def add_reported(path: Path, out: Path) -> None:
    """Copies a file of exported members into a store, apart from its own results."""
    text, target = _text(path), out / REPORTED / path.name
    if os.path.lexists(target) and _text(target) != text:
        raise UsageError(
            f"`{target}` is there already, and `{path}` has other members. Rename the new file, or remove the old one."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"`{target.parent}` cannot be made: {error.strerror}. Choose another folder.") from error
    write_file(target, text, "--out")


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
        evaluation, environments = entry["evaluation"], entry["environments"]
        setting, version = _setting(evaluation["setting"]), _version(evaluation["version"])
        training = upgrade(Written(_training(entry["training"]), _whole(entry["format"], "format")))
        environments = [{name: text(value, name) for name, value in part.items()} for part in environments]
        places = [_whole(part["environment"], "environment") for part in entry["results"]]
        results = tuple(_member(part, environments[i]) for part, i in zip(entry["results"], places, strict=True))
        return Scores(training, Evaluation(text(evaluation["name"], "name"), setting, version), results)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, BadCell) as error:
        raise UsageError(f"{where} is not an exported training: {error!r:.300}. Restore the file.") from error


def _training(entry: Mapping[str, Any]) -> Training:
    suite, task, model, engine = (text(entry[name], name) for name in ("suite", "task", "model", "engine"))
    setting = _setting(entry["setting"])
    for part in ("model", "task"):
        _object(setting.get(part, {}), part)
    versions = {name: _version(value) for name, value in _object(entry["versions"], "versions").items()}
    return Training(suite, task, model, engine, setting, versions)


def _member(entry: Mapping[str, Any], environment: Mapping[str, str]) -> Result:
    measures = {name: number(value, f"measures.{name}") for name, value in entry["measures"].items()}
    seconds, detail = number(entry["seconds"], "seconds"), _object(entry.get("detail", {}), "detail")
    member = _plain(_object(entry["member"], "member"), "member", 1)
    return Result(member, State(entry["state"]), measures, seconds, detail, environment)


def _setting(value: Any) -> dict[str, Any]:
    return _plain(_object(value, "setting"), "setting", MOST_DEPTH)


def _plain(value: Any, name: str, depth: int) -> Any:
    """Returns a value that consists of finite numbers, texts, `None`, and lists and objects of at most this depth."""
    if isinstance(value, dict | list):
        if not depth:
            raise BadCell(f"{name} holds {short(value)}, which is nested too deep")
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            _plain(part, f"{name}.{key}", depth - 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number(value, name)
    return value


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadCell(f"{name} holds {short(value)}, which is not a JSON object")
    return value


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise BadCell(f"{name} holds {short(value)}, which is not a whole number from 0")
    return value


def _version(value: Any) -> int | str:
    return value if isinstance(value, str) else _whole(value, "version")


def read_records(folder: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Reads the records of a folder that were exported without their members, by file."""
    if not is_export(folder):
        return []
    return [(str(path.relative_to(folder)), _records(path)) for path in _listed(folder, "records")]


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        records = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"`{path}` is not JSON: {error}. Restore the file.") from error
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise UsageError(f"`{path}` is not a list of records, as `humboldt show --json` prints. Restore the file.")
    return records


def _listed(folder: Path, kind: str) -> list[Path]:
    """Returns the files that an index names; all must be in its folder."""
    try:
        names = json.loads(_text(folder / INDEX)).get(kind, [])
        paths = [Path(name) for name in names]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise UsageError(f"`{folder / INDEX}` does not name exports: {error}. See docs/report.md.") from error
    for path in paths:
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(f"`{folder / INDEX}` names `{shortened(path)}`, which is not in its folder. Correct it.")
    return [folder / path for path in paths]


def _text(path: Path) -> str:
    """Reads a plain file: a pipe or a device could be without end."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UsageError(f"`{path}` is not a file. Give a file that `humboldt archive` wrote.")
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise UsageError(f"`{shortened(path)}` has more than {LARGEST // 2**30} GiB. Give a smaller archive.")
        return data.decode()
    except (OSError, EOFError, zlib.error, ValueError) as error:  # ValueError: not UTF-8, or a null byte in the name
        raise UsageError(f"`{shortened(path)}` cannot be read: {reason(error)}.") from error
