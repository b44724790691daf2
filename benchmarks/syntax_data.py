"""How fast are the splits of the pseudo-languages drawn, and their shortcuts audited?

    OPENBLAS_NUM_THREADS=1 python benchmarks/syntax_data.py [--terminals 100] [--repeats 5]

Prints one JSON record. `splits_s` is the time for all 100,000 strings of the paper's four splits of one language,
`baseline_s` the time for as many strings from a plain loop over strings and symbols (measured on fewer and scaled),
`audit_s` the time for the full shortcut audit of one language.
"""

import argparse
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from _record import measure, report

from humboldt.languages import tasks
from humboldt.languages.syntax import AbstractPseudoLanguage, SplitSettings, splits
from humboldt.measures.shortcuts import shortcut_audit

STRINGS = 100_000


def timed(work: Callable[[], Any], repeats: int, times: int = 1) -> dict[str, float]:
    """Minimum and median in seconds, as if the work were done so many times."""
    seconds = measure(work, repeats=repeats)
    return {name: round(times * seconds[name], 4) for name in ("min", "median")}


def plain_loop(task: AbstractPseudoLanguage, count: int) -> None:
    """Algorithm 1 of the paper as it is written, one symbol at a time, with a negative for each positive."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, task.terminals + 1)
    weights /= weights.sum()
    for _ in range(count // 2):
        half = int(rng.integers(2, 16))
        classes = rng.integers(0, 5, half)
        skeleton = [f"NP{i}" for i in classes] + [f"VP{i}" for i in classes[::-1]]
        string = [f"{category}_{rng.choice(task.terminals, p=weights)}" for category in skeleton]
        for place in rng.choice(half, int(rng.integers(1, half + 1)), replace=False):
            other = (int(classes[half - 1 - place]) + int(rng.integers(1, 5))) % 5
            string[half + place] = f"VP{other}_{rng.choice(task.terminals, p=weights)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terminals", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()

    languages = {name: tasks.get(name)(**{"terminals": given.terminals}) for name in tasks.names("syntax/")}
    small = SplitSettings(train=500, validation=50, test=50, long=50)
    for task in languages.values():  # warm-up: compiles the audit, builds the tables of terminals
        assert isinstance(task, AbstractPseudoLanguage)
        drawn = splits(task, 0, small)
        shortcut_audit(drawn["train"], {"test": drawn["test"]}, categories=task.symbol_categories)
    drawing, audit = {}, {}
    for name, task in languages.items():
        assert isinstance(task, AbstractPseudoLanguage)
        drawing[name] = timed(lambda task=task: splits(task, 0), given.repeats)
        drawn = splits(task, 0)
        audit[name] = timed(
            lambda task=task, drawn=drawn: shortcut_audit(drawn["train"], drawn, categories=task.symbol_categories),
            min(given.repeats, 3),
        )
    nested = languages["syntax/nested_dependency"]
    assert isinstance(nested, AbstractPseudoLanguage)
    report(
        "syntax_data",
        {
            "strings": STRINGS,
            "terminals": given.terminals,
            "repeats": given.repeats,
            "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "not set"),
            "splits_s": drawing,
            "audit_s": audit,
            "baseline_s": timed(lambda: plain_loop(nested, STRINGS // 100), 3, times=100),
        },
    )


if __name__ == "__main__":
    main()
