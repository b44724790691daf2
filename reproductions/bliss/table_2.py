"""Table 2 with the number of members behind each B, from the records beside this file, as the page shows it.

python reproductions/bliss/table_2.py

A B of 1 or more is met at |C| = 1000 / B: the column beside it counts the members trained on that many strings. Behind
<1 stand the members of all four sizes. Counts at ε = 0.005 are exact where verdicts.json has every member of that size,
or where nobody meets the criterion; elsewhere they are lower bounds, since a member was not asked any more once another
one of its experiment had met the criterion. Intervals are Wilson's, of 95%.
"""

import json
from pathlib import Path
from typing import Any

from scipy.stats import binomtest, fisher_exact

HERE = Path(__file__).parent
LANGUAGES = ("an_bn", "an_bn_cn", "an_bn_cn_dn", "an_bm_cn_plus_m", "dyck_1", "dyck_2")
MODELS = {"lstm": "LSTM", "stack_lstm": "Stack-LSTM", "baby_ntm": "Baby-NTM"}
ORDERS = {"shuffled": "paper", "corpus": "paper, string_order=corpus"}
SEEDS = (100, 101, 102)  # the paper's


def load(name: str) -> Any:
    """A record beside this file."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def interval(count: int, members: int) -> str:
    """The count and what it says of the share: `2 of 12 (5-45%)`."""
    low, high = binomtest(count, members).proportion_ci(method="wilson")
    return f"{count} of {members} ({100 * low:.0f}-{100 * high:.0f}%)"


def verdicts(task: str, model: str, train_size: int, order: str) -> list[dict[str, Any]]:
    """The members of one cell of the table that were asked at both margins."""
    cell, keys = (task, model, train_size, order), ("task", "model", "train_size", "string_order")
    return [entry for entry in load("verdicts.json") if tuple(entry[key] for key in keys) == cell]


def met_members(task: str, model: str, train_size: int, order: str, epsilon: float) -> int:
    """How many members are known to meet the criterion."""
    return sum(
        any(s["met_over_test_set"] and s["epsilon"] <= epsilon for s in entry["scores"])
        for entry in load("met.json")
        if (entry["task"], entry["model"], entry["train_size"], entry["setting"])
        == (task, model, train_size, ORDERS[order])
    )


def behind(record: dict[str, Any], members: dict[str, int], order: str) -> str:
    """How many members stand behind a B, given how many were trained on each number of strings."""
    margin = record["setting"].rpartition("=")[2]
    if record["value"] == "<1":
        return interval(0, record["members"])
    size = 1000 // int(record["value"])
    cell = (record["task"], record["model"], size, order)
    known = met_members(*cell, float(margin))
    asked = [entry for entry in verdicts(*cell) if entry["seed"] in SEEDS]
    if len(asked) == members[str(size)]:
        met = sum(entry["met"][margin] for entry in asked)
        assert met >= known, cell
        return interval(met, len(asked))
    return interval(known, members[str(size)]) if margin == "0" else f"at least {known} of {members[str(size)]}"


def rows() -> list[list[str]]:
    """The rows of the table."""
    records = {(r["task"], r["model"], r["measure"], r["setting"]): r for r in load("results.json")}
    found = []
    for task in LANGUAGES:
        for model, title in MODELS.items():
            for order, label in ORDERS.items():
                if (task, model, "b_index", f"{label} epsilon=0") not in records:
                    continue
                sizes = {
                    size: records[task, model, "largest_n", f"{label} train_size={size}"]["members"]
                    for size in ("1000", "500", "250", "100")
                }
                name = title if order == "shuffled" else f"{title}, strings in the corpus's order"
                line = [f"`{task}`", name]
                for margin in ("0.005", "0"):
                    record = records[task, model, "b_index", f"{label} epsilon={margin}"]
                    paper = records[task, model, "b_index", f"paper epsilon={margin}"]["published"]
                    value = record["value"] if record["value"] == paper else f"**{record['value']}**"
                    line += [value, paper, behind(record, sizes, order)]
                    if margin == "0.005":
                        line += [records[task, model, "b_index", f"{label} epsilon={margin} per_string"]["value"]]
                found.append(line)
    return found


def orders() -> list[list[str]]:
    """The two orders on a^n b^n with 100 strings, all seeds of verdicts.json, and Fisher's exact test."""
    found = []
    for margin in ("0.005", "0"):
        cells = [verdicts("an_bn", "stack_lstm", 100, order) for order in ORDERS]
        counts = [(sum(entry["met"][margin] for entry in cell), len(cell)) for cell in cells]
        test: Any = fisher_exact([[met, members - met] for met, members in counts])
        found.append([margin, *(interval(*count) for count in counts), f"{test.pvalue:.2f}"])
    return found


if __name__ == "__main__":
    for line in (*rows(), *orders()):
        print("| " + " | ".join(line) + " |")
