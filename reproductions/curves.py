"""What the tables leave out, from a results folder: every member's scores, and the curves of the best member.

python reproductions/curves.py FOLDER SUITE MEASURE > curves.json
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from humboldt.core.results import Scores, State
from humboldt.suites import suites
from humboldt.suites.cells import heading_of
from humboldt.suites.reading import stored


def experiment(scores: Scores, measure: str) -> dict[str, Any]:
    """One experiment. Scores and curves are in percent, three digits are enough for a picture."""
    training, results = scores.training, scores.results
    finished = [result for result in results if result.state is State.FINISHED]
    best = max(finished, key=lambda result: result.measures[measure])
    detail = {name: best.detail[name] for name in ("accuracy_per_length", "training")}
    return {
        "task": training.task,
        "model": training.model,
        "setting": str(heading_of(suites.get(training.suite), scores)),
        "members": len(results),
        "states": Counter(result.state.value for result in results),
        "wall_seconds_all_members": round(sum(result.seconds for result in results), 1),
        "environment": best.environment,
        "scored": [result.member for result in finished],
        "scores": {name: [round(100 * r.measures[name], 2) for r in finished] for name in best.measures},
        "best": {"member": best.member, **detail},
    }


def rounded(value: Any) -> Any:
    """The same with shorter numbers."""
    if isinstance(value, dict):
        return {key: rounded(x) for key, x in value.items()}
    if isinstance(value, list):
        return [rounded(x) for x in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main() -> None:
    """Prints one JSON list."""
    folder, suite, measure = sys.argv[1:]
    experiments = [experiment(scores, measure) for scores in stored(Path(folder), suite)]
    print("[" + ",\n".join(json.dumps(rounded(x)) for x in experiments) + "]")


if __name__ == "__main__":
    main()
