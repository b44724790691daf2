"""Trained members on the authors' own development set, which was not drawn by our generator.

    python reproductions/pcfg_set/released.py RESULTS FOLDER [BEAM]

RESULTS is a folder of `humboldt run pcfg_set --keep all`, FOLDER holds `dev.src` and `dev.tgt`. Prints a JSON record
for each kept member of the base task: its sequence accuracy there, beside that on our own test set; with BEAM, also
that of the outputs of a beam search (the paper's published ones have a beam of 5). And the seconds that greedy outputs
of our test set take when everything is compiled.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from humboldt.languages.pcfg_set import to_paper_spelling
from humboldt.measures.pcfg_set import sequence_accuracy
from humboldt.storage import checkpoints
from humboldt.storage.store import weights_path
from humboldt.suites import catalogue, resolving, suites
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.suites.reading import stored


class Searching:
    """A predictor whose outputs are those of a beam search."""

    def __init__(self, predictor: Any, beam: int) -> None:
        self.predictor, self.beam, self.num_members = predictor, beam, predictor.num_members

    def outputs(self, batch: Any, longest: int) -> Any:
        """In place of greedy ones."""
        return self.predictor.beam_outputs(batch, longest, self.beam)


def main(results: Path, folder: Path, beam: int) -> None:
    """Prints the records."""
    sources = [to_paper_spelling(line) for line in (folder / "dev.src").read_text().splitlines()]
    targets = (folder / "dev.tgt").read_text().splitlines()
    suite = suites.get("pcfg_set")
    for scores in stored(results, "pcfg_set"):
        if scores.training.task != "task_accuracy" or scores.evaluation.name != "accuracy":
            continue
        parts = resolving.resolve(suite, scores.training, scores.evaluation)
        kept = [r for r in scores.results if weights_path(results, scores.training, r.member).is_file()]
        if not kept:
            continue
        paths = [weights_path(results, scores.training, result.member) for result in kept]
        job = suite.job(parts, [result.member for result in kept])
        predictor = catalogue.engine_of(parts.contender).restore(job, [checkpoints.read(path)[0] for path in paths])
        problem = job.problem
        assert isinstance(problem, Expressions)
        found = [
            {
                "model": scores.training.model,
                "training": scores.training.key,
                "member": dict(result.member),
                "released_development_set": sequence_accuracy(targets, outputs).value,
                "own_test_set": result.measures["sequence_accuracy"],
                "items": len(targets),
            }
            for result, outputs in zip(kept, problem.outputs(predictor, sources), strict=True)
        ]
        print(json.dumps(found), file=sys.stderr, flush=True)  # should time be up before the rest
        test = problem.splits.test.sources
        for name in ("seconds_test_set_compiling", "seconds_test_set"):
            begun = time.perf_counter()
            problem.outputs(predictor, test)
            found[0][name] = round(time.perf_counter() - begun, 1)
        print(json.dumps(found[0]), file=sys.stderr, flush=True)
        if beam:
            searched = problem.outputs(Searching(predictor, beam), sources)  # pyright: ignore[reportArgumentType]
            for record, outputs in zip(found, searched, strict=True):
                record |= {"beam": beam, "with_beam": sequence_accuracy(targets, outputs).value}
        for record in found:
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
