"""Trained members on the authors' own development set, which was not drawn by our generator.

    python reproductions/pcfg_set/released.py RESULTS FOLDER

RESULTS is a folder of `humboldt run pcfg_set --keep all`, FOLDER holds `dev.src` and `dev.tgt`. Prints a JSON record
for each kept member of the base task: its sequence accuracy there, beside that on our own test set.
"""

import json
import sys
from pathlib import Path

from humboldt import checkpoints
from humboldt.languages.pcfg_set import to_paper_spelling
from humboldt.measures.pcfg_set import sequence_accuracy
from humboldt.store import weights_path
from humboldt.suites import suites
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.suites.reading import stored


def main(results: Path, folder: Path) -> None:
    """Prints the records."""
    sources = [to_paper_spelling(line) for line in (folder / "dev.src").read_text().splitlines()]
    targets = (folder / "dev.tgt").read_text().splitlines()
    suite = suites.get("pcfg_set")
    for scores in stored(results, "pcfg_set"):
        if scores.training.task != "task_accuracy" or scores.evaluation.name != "accuracy":
            continue
        parts = suite.restore(scores.training, scores.evaluation)
        kept = [r for r in scores.results if weights_path(results, scores.training, r.member).is_file()]
        if not kept:
            continue
        paths = [weights_path(results, scores.training, result.member) for result in kept]
        job = suite.job(parts, [result.member for result in kept])
        predictor = suite.engine(parts.contender).restore(job, [checkpoints.read(path)[0] for path in paths])
        problem = job.problem
        assert isinstance(problem, Expressions)
        for result, outputs in zip(kept, problem.outputs(predictor, sources), strict=True):
            record = {
                "model": scores.training.model,
                "training": scores.training.key,
                "member": dict(result.member),
                "released_development_set": sequence_accuracy(targets, outputs).value,
                "own_test_set": result.measures["sequence_accuracy"],
                "items": len(targets),
            }
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
