"""Writes what corpora are made with: a joint histogram of length and depth, and the probabilities of the grammar.

    python reproductions/pcfg_set/estimate.py DEV.SRC TEST.SRC src/humboldt/languages/pcfg_set/naturalised.json

DEV.SRC and TEST.SRC are the development and test items that the authors released (i-machine-think/am-i-compositional,
MIT licence, `data/pcfgset/pcfgset/dev.src` and `test.src`, 4,860 and 9,721 lines). The output is a summary of them; no
expression is copied.

- `histogram`: of both.
- `productions`: one set of probabilities, the relative frequencies of the development set.
- `early`: how many trees the authors' generator drew, for each item of the corpus, before it had used every string of
  two letters. The value of highest likelihood: an item with s strings, of which some have two letters, is early; one
  without is early or late, and how probable each is follows from its length, its depth and s.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from humboldt.languages.pcfg_set import (
    PCFG_SET,
    JointHistogram,
    depth,
    estimate,
    length,
    statistics,
    string_arguments,
    uniform_productions,
)
from humboldt.languages.pcfg_set.parts.sized import SizedTrees


def early_trees(expressions: list[str], histogram: JointHistogram) -> tuple[float, tuple[float, float]]:
    """The estimate, and the interval of 95% (where twice the logarithm of the likelihood is less than 3.84 below)."""
    longest, deepest = (max(values) for values in zip(*histogram.counts, strict=True))
    cells = [(length(e), depth(e)) for e in expressions]
    strings = [[len(string.split()) for string in string_arguments(e)] for e in expressions]
    count, has_two = np.array([len(s) for s in strings]), np.array([min(s) == 2 for s in strings])
    wanted = np.array([histogram.counts[cell] for cell in cells]) / histogram.counts.total()
    rates = []
    for lengths in ((2, 5), (3, 5)):
        productions = uniform_productions(PCFG_SET, unary=0.5, function=0.5, string_lengths=lengths)
        trees = SizedTrees.random(productions, longest, deepest, PCFG_SET)
        rates.append(np.array([trees.rate(*cell) for cell in cells]))
    early_rate, late_rate = rates
    as_early = 0.25**count / early_rate  # what both have in common, the functions, is left out
    as_late = np.where(has_two | (late_rate == 0), 0, (1 / 3) ** count / np.where(late_rate > 0, late_rate, 1))

    def loss(early: float) -> float:
        share = np.where(late_rate > 0, np.minimum(1, early * early_rate / wanted), 1)
        return -float(np.log(share * as_early + (1 - share) * as_late).sum())

    best: Any = minimize_scalar(loss, bounds=(0.5, 20), method="bounded", options={"xatol": 1e-4})
    inside = [value for value in np.arange(0.5, 20, 0.01) if 2 * (loss(value) - best.fun) < 3.84]
    return float(best.x), (float(min(inside)), float(max(inside)))


def main() -> None:
    """Reads the released expressions, writes the summary, prints what Table 3 of the paper would say of them."""
    *sources, output = map(Path, sys.argv[1:])
    development, *others = (source.read_text("utf-8").splitlines() for source in sources)
    expressions = [*development, *(expression for other in others for expression in other)]
    found = statistics(expressions)
    histogram = sorted((n, d, count) for (n, d), count in found.histogram.counts.items())
    early, interval = early_trees(expressions, found.histogram)
    record = {
        "source": f"released development and test sets of PCFG SET, {len(expressions)} expressions "
        f"(productions: the development set, {len(development)})",
        "script": "reproductions/pcfg_set/estimate.py",
        "productions": asdict(estimate(development)),
        "early": round(early, 2),
        "early_interval": [round(end, 2) for end in interval],
        "columns": ["length", "depth", "count"],
        "histogram": histogram,
    }
    text = json.dumps(record, indent=1)
    for n, d, count in histogram:  # one cell to a line
        text = text.replace(f"[\n   {n},\n   {d},\n   {count}\n  ]", f"[{n}, {d}, {count}]")
    output.write_text(text + "\n", "utf-8")
    print(found)


if __name__ == "__main__":
    main()
