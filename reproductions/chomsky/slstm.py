"""Trains the sLSTM of three papers on modular arithmetic without brackets, then changes one setting at a time.

    python reproductions/chomsky/slstm.py plan
    python reproductions/chomsky/slstm.py whole OUT        three configurations, 30 seeds each
    python reproductions/chomsky/slstm.py path OUT         one setting at a time from Beck's to Walker's, 10 seeds each
    python reproductions/chomsky/slstm.py table OUT        who succeeds, of how many, with an interval

The configurations are in `slstm.json`, with what their papers leave open. `--small` shrinks everything: a trial of this
script in minutes on a CPU, whose scores mean nothing. `--steps` and `--seeds` take fewer than the papers' 100,000 steps
and the seeds above, and `--only NAME` one configuration. The same command resumes. The full runs need a GPU.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import humboldt
from humboldt.measures.accuracy import scaled
from humboldt.measures.statistics import share

DATA = json.loads(Path(__file__).with_name("slstm.json").read_text())
MODEL = "family/slstm"
SMALL = {"steps": 20, "batch_size": 8, "strings_per_length": 2, "num_test_lengths": 3, "width": 8}
SOLVED = 0.9  # of accuracy, as in Delétang et al. (2023)


def whole() -> dict[str, dict[str, Any]]:
    """Returns the settings of the three configurations, by name."""
    return {
        name: {"preset": each["preset"], **each["model"], **each["protocol"]}
        for name, each in DATA["configurations"].items()
    }


def path() -> dict[str, dict[str, Any]]:
    """Returns Beck's configuration with one setting of Walker's at a time, by that setting, where the two differ."""
    beck, walker = whole()["beck"], whole()["walker"]
    return {f"beck+{key}": {**beck, key: walker[key]} for key in DATA["path"] if beck[key] != walker[key]}


def study(
    configuration: dict[str, Any], seeds: int, out: Path, *, small: bool, steps: int | None = None
) -> dict[str, Any]:
    """Returns the arguments of `humboldt.plan` and `humboldt.run` for a configuration."""
    settings = {key: value for key, value in configuration.items() if key != "preset"}
    if steps is not None:
        settings["steps"] = steps
    if small:
        settings |= SMALL
        seeds = 2
    return {
        "suite": "chomsky",
        "preset": configuration["preset"],
        "tasks": DATA["task"],
        "models": MODEL,
        "seeds": seeds,
        "settings": settings,
        "out": out,
    }


def table(names: dict[str, dict[str, Any]], seeds: int, out: Path, **options: Any) -> list[dict[str, Any]]:
    """Returns, for each configuration and learning rate, how many members succeed, and their scaled accuracies."""
    rows = []
    for name, configuration in names.items():
        if not (out / name).exists():
            continue
        planned = humboldt.plan(**study(configuration, seeds, out / name, **options))
        resolved = planned.experiments[0].resolved
        assert resolved is not None
        chance = resolved.task.chance
        by_rate: dict[float, list[float]] = {}
        for scores in planned.scores():
            for result in scores.results:
                if "score" in result.measures:
                    by_rate.setdefault(result.member["learning_rate"], []).append(result.measures["score"])
        for rate, values in by_rate.items():
            solved = share(sum(value >= SOLVED for value in values), len(values))
            rows.append(
                {
                    "configuration": name,
                    "learning_rate": rate,
                    "members": solved.total,
                    "solved": solved.count,
                    "interval": [round(solved.low, 3), round(solved.high, 3)],
                    "scaled": sorted(round(scaled(value, chance), 3) for value in values),
                }
            )
    return rows


def main() -> None:
    """Runs one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["plan", "whole", "path", "table"])
    parser.add_argument("out", nargs="?", type=Path, default=Path("slstm"))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--only")
    options = parser.parse_args()
    parts = {"whole": (whole(), DATA["seeds"]["whole"]), "path": (path(), DATA["seeds"]["one_factor"])}
    wanted = parts if options.part in ("plan", "table") else {options.part: parts[options.part]}
    changed = {"small": options.small, "steps": options.steps}
    for configurations, stated in wanted.values():
        names = {name: each for name, each in configurations.items() if options.only in (None, name)}
        seeds = options.seeds or stated
        if options.part == "table":
            for row in table(names, seeds, options.out, **changed):
                print(json.dumps(row))
            continue
        for name, configuration in names.items():
            arguments = study(configuration, seeds, options.out / name, **changed)
            if options.part == "plan":
                experiments = humboldt.plan(**arguments).experiments
                print(name, *(f"{each.id} {len(each.members)} members, {each.work}" for each in experiments))
            else:
                humboldt.run(**arguments)


if __name__ == "__main__":
    main()
