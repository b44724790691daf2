"""Table 3 and Figure 4 of the paper, which describe the data: no training is needed.

    python reproductions/pcfg_set/data_tables.py > reproductions/pcfg_set/table_3.json
    python reproductions/pcfg_set/data_tables.py FIGURE.svg [PAIRS]

Without arguments: the depths, lengths and numbers of functions of our corpus (seed 0), each beside the printed number.
With a file (SVG, PNG or PDF): lengths and depths of our corpus and of the released items, drawn as in Figure 4. PAIRS
is a text file with the length and the depth of a sentence in each line, such as those of the 3,004 sentences of WMT in
the authors' generator, which has no licence and so is not copied here; they are drawn beside the others.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from humboldt import published
from humboldt.languages.pcfg_set import Examples, corpus, productivity_splits, released_histogram, statistics
from humboldt.report.figures import Axis, Figure, Kind

PROPERTIES = {"depth": "depth", "length": "length", "n_functions": "num_functions"}
STATISTICS = {"min": "smallest", "max": "largest", "avg": "mean"}


def described(examples: Examples) -> dict[tuple[str, str], float]:
    """Returns the statistics of a set of expressions by the names of the published table."""
    found = statistics(examples.sources)
    return {
        (name, printed): round(getattr(getattr(found, own), statistic), 3)
        for name, own in PROPERTIES.items()
        for printed, statistic in STATISTICS.items()
    }


def table_3(seed: int = 0) -> list[dict[str, Any]]:
    """Returns the rows of the published table, each with our number beside it."""
    made = corpus(seed)
    productive = productivity_splits(made)
    ours = {
        ("productivity", "train"): described(productive.train),
        ("productivity", "test"): described(productive.test),
        ("pcfg_set", "train"): described(made.train),
        ("pcfg_set", "test"): described(made.test),
    }
    return [
        {
            **{key: row[key] for key in ("dataset", "split", "property", "statistic")},
            "published": float(row["value"]),
            "value": ours[row["dataset"], row["split"]][row["property"], row["statistic"]],
        }
        for row in published.rows("pcfg_set_data")
    ]


def figure_4(expressions: Iterable[str], pairs: Iterable[tuple[int, int]] = ()) -> Figure:
    """Returns lengths and depths of expressions and of the released items, and of other sentences if there are any."""
    ours = statistics(expressions).histogram
    panels: dict[str, Mapping[tuple[int, int], float]] = {
        "our corpus": ours.counts,
        "released PCFG SET items": released_histogram().counts,
    }
    others: dict[tuple[int, int], float] = {}
    for pair in pairs:
        others[pair] = others.get(pair, 0) + 1
    panels |= {"other sentences": others} if others else {}
    rows = [
        {"panel": name, "step": length, "symbol": depth, "value": round(count / sum(cells.values()), 6)}
        for name, cells in panels.items()
        for (length, depth), count in sorted(cells.items())
    ]
    longest, deepest = (max(row[key] for row in rows) for key in ("step", "symbol"))
    return Figure(
        name="lengths-and-depths",
        title="Lengths and depths",
        about="The share of expressions of each length and depth. Figure 4 of the paper.",
        kind=Kind.HEAT,
        rows=tuple({**row, "step": str(row["step"]), "symbol": str(row["symbol"])} for row in rows),
        x=Axis("step", "Length", "category", order=tuple(map(str, range(1, longest + 1)))),
        y=Axis("symbol", "Depth", "category", order=tuple(map(str, range(deepest, 0, -1)))),
        colour="value",
        colour_title="Share",
        panel="panel",
    )


def main(arguments: list[str]) -> None:
    """Prints Table 3 or writes Figure 4."""
    if not arguments:
        print("[" + ",\n ".join(json.dumps(row) for row in table_3()) + "]")
        return
    from humboldt.page.charts import save

    lines = Path(arguments[1]).read_text(encoding="utf-8").split("\n") if len(arguments) > 1 else []
    pairs = [(int(a), int(b)) for a, b in (line.split() for line in lines if line.strip())]
    made = corpus(0)
    save([figure_4((made.train + made.validation + made.test).sources, pairs)], Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
