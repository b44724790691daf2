"""Members outside a database: results of every member as lines of JSON, which are read like a store that cannot be
written. A folder is such a store if it has a file `exports.json` that names them.

```json
{"members": ["chomsky/members.jsonl"], "records": ["bliss/results.json"]}
```

`members` have the results of single members; `records` are those of `humboldt show --json`, for what was exported
without its members.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError
from humboldt.identity import Evaluation, Training
from humboldt.results import Result, Scores, State
from humboldt.store import Upgrade, Written

INDEX = "exports.json"
DIGITS = 6  # of measures and details: enough for every table and picture
CURVES = ("training", "accuracy_per_length", "outputs", "by_function")  # which figures alone need: kept with the best
SHARED = ("shortcuts", "parameters")  # details that all members of a training have alike: kept with the first


def is_export(folder: Path) -> bool:
    """Whether a folder is a store of exported members."""
    return (folder / INDEX).is_file() and not (folder / "results.db").exists()


def exported(scores: Scores, *, format: int, headline: str) -> dict[str, Any]:
    """All members of one training under one evaluation. Curves are those of the member that is best by `headline`."""
    finished = [result for result in scores.results if result.state is State.FINISHED]
    best = max(finished, key=lambda result: result.measures.get(headline, float("-inf")), default=None)
    return {
        "training": {name: getattr(scores.training, name) for name in _TRAINING},
        "format": format,
        "evaluation": {name: getattr(scores.evaluation, name) for name in ("name", "setting", "version")},
        "environments": [dict(environment) for environment in _distinct(r.environment for r in scores.results)],
        "results": [
            _result(result, scores.results, is_best=result is best, is_first=bool(finished) and result is finished[0])
            for result in scores.results
        ],
    }


_TRAINING = ("suite", "task", "model", "engine", "setting", "versions")


def _distinct(environments: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    return list({json.dumps(dict(one), sort_keys=True): one for one in environments}.values())


def _result(result: Result, everyone: tuple[Result, ...], *, is_best: bool, is_first: bool) -> dict[str, Any]:
    environments = _distinct(one.environment for one in everyone)
    left_out = {*(() if is_best else CURVES), *(() if is_first else SHARED)}
    detail = {key: value for key, value in result.detail.items() if key not in left_out}
    return {
        "member": dict(result.member),
        "state": result.state.value,
        "measures": _rounded(dict(result.measures)),
        "seconds": round(result.seconds, 2),
        "environment": next(i for i, one in enumerate(environments) if one == result.environment),
        **({"detail": _rounded(dict(detail))} if detail else {}),
    }


def _rounded(value: Any) -> Any:
    """The same with shorter numbers."""
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def as_lines(entries: Iterable[Mapping[str, Any]]) -> str:
    """Exported members as text, a training and evaluation in each line."""
    return "".join(json.dumps(entry, ensure_ascii=False, sort_keys=True) + "\n" for entry in entries)


def read_members(folder: Path, upgrade: Upgrade) -> list[Scores]:
    """All exported members of a folder, in today's words."""
    return [_scores(entry, upgrade, where) for where, entry in _entries(folder)]


def _entries(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in _listed(folder, "members"):
        for number, line in enumerate(_text(path).splitlines(), 1):
            try:
                yield f"{path}, line {number}", json.loads(line)
            except ValueError as error:
                raise UsageError(f"`{path}`, line {number} is not JSON: {error}. Restore the file.") from error


def _scores(entry: Mapping[str, Any], upgrade: Upgrade, where: str) -> Scores:
    try:
        training, _ = upgrade(Written(Training(**entry["training"]), entry["format"]))
        results = [
            Result(
                one["member"],
                State(one["state"]),
                one["measures"],
                one["seconds"],
                one.get("detail", {}),
                entry["environments"][one["environment"]],
            )
            for one in entry["results"]
        ]
        return Scores(training, Evaluation(**entry["evaluation"]), tuple(results))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UsageError(f"{where} is no exported training: {error!r}. Restore the file.") from error


def read_records(folder: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Records of a folder that were exported without their members, by file."""
    if not is_export(folder):
        return []
    return [(str(path.relative_to(folder)), json.loads(_text(path))) for path in _listed(folder, "records")]


def _listed(folder: Path, kind: str) -> list[Path]:
    try:
        names = json.loads(_text(folder / INDEX)).get(kind, [])
    except (ValueError, AttributeError) as error:
        raise UsageError(f"`{folder / INDEX}` does not name exports: {error}. See docs/report.md.") from error
    return [folder / name for name in names]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"`{path}` cannot be read: {error}.") from error
