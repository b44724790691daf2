"""How much longer and deeper are the test strings than the training strings? One line for each language and size.

python reproductions/bliss/test_sets.py > reproductions/bliss/test_sets.csv

`common_beginning` is the beginning, in symbols, that the test strings of the longest training string's length share
with that string, on average. Depth is that of nested brackets, Dyck only.
"""

import csv
import sys
from itertools import accumulate, takewhile

from humboldt.languages.bliss import get

COLUMNS = (
    *("language", "train_size", "longest_train", "shortest_test", "longest_test", "longer_than_train"),
    *("deepest_train", "deepest_test", "common_beginning"),
)


def depth(string: str) -> int:
    """The most brackets that are open at once."""
    return max(accumulate(1 if symbol in "([" else -1 for symbol in string), default=0)


def common_beginning(first: str, second: str) -> int:
    """How many symbols two strings share before they part."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def row(name: str, factor: int) -> dict[str, object]:
    """One training size and its test set."""
    language = get(name)
    corpus = language.corpus(1000 // factor, seed=100)
    test_set = language.test_set(after=corpus, count=1000 * factor)
    last = corpus.last
    found: dict[str, object] = {
        "language": name,
        "train_size": 1000 // factor,
        "longest_train": max(map(len, corpus.strings)),
        "shortest_test": int(test_set.lengths.min()),
        "longest_test": int(test_set.lengths.max()),
        "longer_than_train": int((test_set.lengths > len(last)).sum()),
    }
    if name.startswith("dyck"):
        alike = [common_beginning(last, string) for string in test_set if len(string) == len(last)]
        found["deepest_train"] = max(map(depth, corpus.strings))
        found["deepest_test"] = max(map(depth, test_set))
        found["common_beginning"] = f"{sum(alike) / len(alike):.1f}"
    return found


def rows() -> list[dict[str, object]]:
    """All six languages, all four sizes of the paper."""
    names = ("an_bn", "an_bn_cn", "an_bn_cn_dn", "an_bm_cn_plus_m", "dyck_1", "dyck_2")
    return [row(name, factor) for name in names for factor in (1, 2, 4, 10)]


if __name__ == "__main__":
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows())
