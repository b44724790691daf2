"""Do two versions of the code look for stored results under the same keys? Compares the plans of all presets.

    python benchmarks/same_identities.py OLD [NEW]

OLD and NEW are checkouts; without NEW it is this one. Every experiment of every preset that OLD has is planned with the
code of each. Prints one JSON record: how many experiments have the same id, and the same keys of evaluations, and the
others, grouped by what differs: versions, settings, the members, or that only one of both plans has the experiment.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from _record import report

# Runs with the code of a checkout: prints all experiments of all presets of all suites.
PLANS = """
import json, sys
import humboldt
from humboldt.suites import suites

plans = {}
for name in suites.names():
    for preset in suites.get(name).presets:
        rows = []
        for experiment in humboldt.plan(name, preset=preset, out="unused").experiments:
            training = experiment.training
            keys = [evaluation.key_for(training) for evaluation in experiment.evaluations]
            rows.append({
                "id": experiment.id, "training": training.key, "task": training.task, "model": training.model,
                "engine": training.engine, "setting": dict(training.setting), "versions": dict(training.versions),
                "members": sorted(json.dumps(dict(member), sort_keys=True) for member in experiment.members),
                "evaluations": {
                    json.dumps([e.name, dict(e.setting)], sort_keys=True, default=str): [e.version, e.key_for(training)]
                    for e in experiment.evaluations
                },
            })
        plans[f"{name} {preset}"] = rows
print(json.dumps(plans, default=str))
"""
Row = dict[str, Any]


def plans(checkout: Path) -> dict[str, list[Row]]:
    """Returns the experiments of every preset, planned with the code of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", PLANS]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def compare(old: list[Row], new: list[Row]) -> dict[str, Any]:
    """Returns what is the same and what is not in two plans of one preset."""
    ids = {row["id"]: row for row in new}
    matched = [(row, ids[row["id"]]) for row in old if row["id"] in ids]
    rest = [row for row in new if row["id"] not in {row["id"] for row in old}]
    differences: Counter[str] = Counter()
    for row in old:
        if row["id"] in ids:
            continue
        nearest = min(
            (theirs for theirs in rest if (theirs["task"], theirs["model"]) == (row["task"], row["model"])),
            key=lambda theirs: len(changed(row, theirs)),
            default=None,
        )
        if nearest is None:
            differences[f"{row['task']} {row['model']}: only in the old plan"] += 1
            continue
        rest.remove(nearest)
        differences[f"{row['task']} {row['model']}: {'; '.join(changed(row, nearest))}"] += 1
    for row in rest:
        differences[f"{row['task']} {row['model']}: only in the new plan"] += 1
    return {
        "experiments": [len(old), len(new)],
        "same_id": len(matched),
        "same_id_and_evaluations": sum(row["evaluations"] == theirs["evaluations"] for row, theirs in matched),
        "evaluations_that_differ": dict(Counter(text for pair in matched for text in changed_evaluations(*pair))),
        "differences": dict(sorted(differences.items())),
    }


def changed(old: Row, new: Row) -> list[str]:
    """Returns what differs between two experiments, in words.

    >>> row = {"engine": "jax", "versions": {"task": 1}, "setting": {"steps": 3}, "members": ["a"]}
    >>> changed(row, {**row, "versions": {"task": 2}, "setting": {"steps": 3, "beam": 1}})
    ['version of task 1 -> 2', 'setting beam: none -> 1']
    """
    parts = [f"engine {old['engine']} -> {new['engine']}"] if old["engine"] != new["engine"] else []
    for name, word in (("versions", "version of"), ("setting", "setting")):
        theirs = {**flat(new[name])}
        ours = {**flat(old[name])}
        colon = ":" if name == "setting" else ""
        parts += [
            f"{word} {key}{colon} {ours.get(key, 'none')} -> {theirs.get(key, 'none')}"
            for key in sorted({*ours, *theirs})
            if ours.get(key) != theirs.get(key)
        ]
    if old["members"] != new["members"]:
        parts.append(f"members {len(old['members'])} -> {len(new['members'])}")
    return parts


def changed_evaluations(old: Row, new: Row) -> list[str]:
    """Returns which evaluations of an experiment differ, in words."""
    ours, theirs = old["evaluations"], new["evaluations"]
    names = [json.loads(name)[0] for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)]
    only = {True: "only in the new plan", False: "in the old plan, not in the new one"}
    return [
        f"{json.loads(name)[0]}: {only[name not in ours]}"
        if (name in ours) != (name in theirs)
        else f"{name}: another key"
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name) and json.loads(name)[0] in names
    ]


def flat(values: Row, above: str = "") -> dict[str, Any]:
    """Returns nested dictionaries as one, with dotted names.

    >>> flat({"model": {"size": 3}, "steps": 1})
    {'model.size': 3, 'steps': 1}
    """
    result: dict[str, Any] = {}
    for key, value in values.items():
        result.update(flat(value, f"{above}{key}.") if isinstance(value, dict) else {f"{above}{key}": value})
    return result


def main() -> None:
    """Prints the record."""
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    checkouts = [Path(name).resolve() for name in [*sys.argv[1:], Path(__file__).parents[1]][:2]]
    old, new = map(plans, checkouts)
    presets = {name: compare(rows, new.get(name, [])) for name, rows in old.items()}
    total = {
        "experiments_of_the_old_plans": sum(map(len, old.values())),
        "same_id": sum(entry["same_id"] for entry in presets.values()),
        "same_id_and_evaluations": sum(entry["same_id_and_evaluations"] for entry in presets.values()),
        "presets_that_are_new": sorted(set(new) - set(old)),
    }
    report("same_identities", {**total, "presets": presets})


if __name__ == "__main__":
    main()
