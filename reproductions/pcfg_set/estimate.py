"""Writes the production probabilities and the joint histogram of length and depth that corpora are made with.

    python reproductions/pcfg_set/estimate.py DEV.SRC src/humboldt/languages/pcfg_set/naturalised.json

DEV.SRC is the development set that the authors released (i-machine-think/am-i-compositional,
`data/pcfgset/pcfgset/dev.src`, 4,860 lines). The output is a summary of it; no expression is copied.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from humboldt.languages.pcfg_set import estimate, statistics


def main() -> None:
    """Reads the released expressions, writes the summary, prints what Table 3 of the paper would say of them."""
    source, output = map(Path, sys.argv[1:])
    expressions = source.read_text("utf-8").splitlines()
    found = statistics(expressions)
    histogram = sorted((n, d, count) for (n, d), count in found.histogram.counts.items())
    record = {
        "source": f"released development set of PCFG SET, {len(expressions)} expressions",
        "script": "reproductions/pcfg_set/estimate.py",
        "productions": asdict(estimate(expressions)),
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
