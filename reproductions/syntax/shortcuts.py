"""What classifiers reach that see no structure, and what random draws have in common: the numbers of docs/syntax.md.

python reproductions/syntax/shortcuts.py > reproductions/syntax/shortcuts.json
"""

import json
import sys
from typing import Any

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.syntax import Split, SplitSettings, splits
from humboldt.measures.shortcuts import shortcut_audit

LANGUAGES = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")


def balanced(split: Split, categories: np.ndarray) -> float:
    """The share of negatives that have as many verbs as nouns of every class."""
    classes = categories.max() // 2 + 1
    wrong = np.flatnonzero(split.labels == 0)
    inside = np.arange(split.tokens.shape[1])[None] < split.lengths[wrong, None]
    of = categories[split.tokens[wrong]]
    counts = np.stack([((of == category) & inside).sum(1) for category in range(2 * classes)], 1)
    return float((counts[:, :classes] == counts[:, classes:]).all(1).mean())


def shared(task: Any) -> float:
    """The share of test strings that are in `train` as well if each split is a plain random draw."""
    drawn = splits(task, seed=0, settings=SplitSettings(disjoint=False))

    def strings(split: Split) -> list[bytes]:
        return [row[:length].tobytes() for row, length in zip(split.tokens, split.lengths, strict=True)]

    seen = set(strings(drawn["train"]))
    return float(np.mean([string in seen for string in strings(drawn["test"])]))


def main() -> None:
    """Prints one JSON list."""
    found = []
    for name in LANGUAGES:
        for terminals in (2, 100):
            language: Any = tasks.get(f"syntax/{name}")
            task = language(terminals=terminals)
            drawn = splits(task, seed=0)
            scored = {split: drawn[split] for split in ("test", "long")}
            audit: dict[str, dict[str, float]] = {}
            for one in shortcut_audit(drawn["train"], scored, categories=task.symbol_categories):
                audit.setdefault(one.classifier, {})[one.split] = round(100 * one.accuracy, 2)
            entry = {"task": name, "terminals": terminals, "strings": len(drawn["test"]), "accuracy": audit}
            if name.endswith("dependency"):
                entry["balanced_negatives"] = {
                    split: round(100 * balanced(scored[split], task.symbol_categories), 2) for split in scored
                }
            if terminals == 2:
                entry["in_train_too"] = round(100 * shared(task), 1)
            found.append(entry)
            print(entry, file=sys.stderr, flush=True)
    print("[" + ",\n".join(json.dumps(entry) for entry in found) + "]")


if __name__ == "__main__":
    main()
