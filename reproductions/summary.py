"""The table "What is reproduced" of README.md, from the committed records: `python reproductions/summary.py`.

A new reproduction is one more `Rule`: which of its records stand beside a number of the paper, and when the two agree.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt.published import lookup

HERE = Path(__file__).parent
Record = dict[str, Any]  # as `humboldt show --json` writes it


@dataclass(frozen=True)
class Rule:
    """What is compared with the paper.

    - `records`: a file below this folder. `where`: the paper's table.
    - `is_compared`: which records. `place`: the place in the paper's table; of several records for one place the best
      counts, as in the paper.
    - `agrees`: ours and the paper's number. `in_words`: the same for the reader.
    - `read`: makes such records of a file that has another form.
    """

    suite: str
    records: str
    where: str
    is_compared: Callable[[Record], bool]
    place: Callable[[Record], Any]
    agrees: Callable[[Any, Any], bool]
    in_words: str
    read: Callable[[Any], list[Record]] = list

    def pairs(self) -> list[tuple[Any, Any]]:
        """Our number and the paper's, for every place."""
        best: dict[Any, Record] = {}
        for record in self.read(json.loads((HERE / self.records).read_text(encoding="utf-8"))):
            if record["published"] is not None and self.is_compared(record):
                place = self.place(record)
                if place not in best or record["value"] > best[place]["value"]:
                    best[place] = record
        return [(record["value"], record["published"]) for record in best.values()]


def _terminals(record: Record) -> str:
    return record["setting"].partition("terminals=")[2].partition(",")[0]


def _best_searches(file: Any) -> list[Record]:
    """The B-index of the searches by description length, at both margins: the largest b that any of them meets."""
    records = []
    for task in dict.fromkeys(search["task"] for search in file["searches"]):
        own = [search for search in file["searches"] if search["task"] == task]
        for epsilon in ("0.005", "0"):
            met = [search["factor"] for search in own if search["measures"][f"met_{epsilon}"]]
            papers = lookup("bliss", "b_index", language=task, model="mdlrnn", epsilon=epsilon)
            best = str(max(met)) if met else "<1"
            records.append({"task": task, "setting": epsilon, "value": best, "published": papers})
    return records


def _tests(file: Any) -> list[Record]:
    """The p of each share of learners, and the smallest that passes for agreement."""
    tested = [r for r in file if r["statistic"] == "p" and r["measure"].startswith("FPA")]
    return [{**record, "published": 0.01} for record in tested if "without" not in record["measure"]]


RULES = (
    Rule(
        "chomsky",
        "chomsky/records.json",
        "Table 2",
        lambda r: (r["measure"], r["statistic"]) == ("score", "max"),
        lambda r: (r["task"], r["model"]),
        lambda ours, papers: abs(ours - papers) <= 3 and (ours >= 90) == (papers >= 90),
        "within 3 points, and both solved (>= 90) or both not",
    ),
    Rule(
        "bliss",
        "bliss/results.json",
        "Table 2",
        lambda r: r["setting"] in ("paper epsilon=0.005", "paper epsilon=0"),
        lambda r: (r["task"], r["model"], r["setting"]),
        lambda ours, papers: ours == papers,
        "the same B-index",
    ),
    Rule(
        "mdlrnn",
        "bliss/mdlrnn/table_2.json",
        "Table 2, MDLRNN",
        lambda r: True,
        lambda r: (r["task"], r["setting"]),
        lambda ours, papers: ours == papers,
        "the same B-index (ours: best of 3 searches, paper: one search)",
        read=_best_searches,
    ),
    Rule(
        "pcfg_set",
        "pcfg_set/records.json",
        "Table 1",
        lambda r: r["statistic"] == "mean",
        lambda r: (r["task"], r["model"], r["measure"]),
        lambda ours, papers: abs(ours - papers) <= 0.03,
        "within 0.03",
    ),
    Rule(
        "bias",
        "bias/records.json",
        "Tables 1a to 1d, 2",
        lambda r: True,
        lambda r: (r["task"], r["model"], r["setting"], r["measure"]),
        lambda ours, papers: ours > papers,
        "p > 0.01 (Fisher's exact test)",
        read=_tests,
    ),
    Rule(
        "syntax",
        "syntax/records.json",
        "Table 2",
        # Thirty members, as in the paper, of networks of the size that the paper states.
        lambda r: r["statistic"] == "max" and r["members"] == 30 and "sizes" not in r["setting"],
        lambda r: (r["task"], r["model"], r["measure"], _terminals(r)),
        lambda ours, papers: abs(ours - papers) <= 15,
        "within 15 points",
    ),
)


def lines() -> Iterator[str]:
    """The table in Markdown."""
    yield "| suite | the paper's | numbers compared | agree | what counts as agreement | record |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for rule in RULES:
        pairs = rule.pairs()
        agree = sum(rule.agrees(ours, papers) for ours, papers in pairs)
        folder = rule.records.rpartition("/")[0]
        record = f"[page](reproductions/{folder}), [numbers](reproductions/{rule.records})"
        yield f"| `{rule.suite}` | {rule.where} | {len(pairs)} | {agree} | {rule.in_words} | {record} |"


if __name__ == "__main__":
    print("\n".join(lines()))
