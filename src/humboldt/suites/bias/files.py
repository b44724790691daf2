"""Anybody's outputs and nats, from files: one file for each seed, or a field `seed`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humboldt import files
from humboldt.errors import UsageError
from humboldt.languages.bias import AbstractBiasTask


def score_files(task: AbstractBiasTask, name: str, paths: Sequence[Path]) -> dict[str, Any]:
    """Agreement with each rule from hold-out predictions; description length where the rows have nats."""
    from humboldt.measures.bias import score_nats, score_predictions

    records: list[dict[str, Any]] = []
    places: list[str] = []
    for seed, path in enumerate(paths):
        for row in files.read(path, ("input",)):
            fields = dict(row.fields)
            if len(paths) > 1 and "seed" in fields:
                raise UsageError(
                    f"{row.place}: a field `seed`, and {len(paths)} files. Give one file for each seed, or one file "
                    "with a field `seed`."
                )
            if len(paths) > 1:
                fields["seed"] = seed
            records.append(fields)
            places.append(row.place)
    if not records:
        raise UsageError(f"{' and '.join(path.name for path in paths)}: there is no row. Give one for each input.")
    has_nats = "nats" in records[0]
    found = (score_nats if has_nats else score_predictions)(task, records, places)
    about = {"suite": "bias", "task": name, "measure": "description length" if has_nats else "agreement"}
    return {**about, **found.to_dict()}
