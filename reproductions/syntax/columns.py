"""Which columns of the paper's Table 2 resemble each other, and which does each of our models resemble?

First the mean absolute difference, in points, between each two printed columns, over all 24 rows of the paper's table:
it needs none of our runs. Then that between our best members (rows) and the printed columns, over the cells that
members.jsonl has for a model with the stated sizes and all 30 members.

    python reproductions/syntax/columns.py
"""

from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from humboldt import published
from humboldt.suites import suites
from humboldt.suites.cells import cells_of
from humboldt.suites.reading import stored

MODELS = ("transformer_encoder", "transformer_decoder", "bilstm", "lstm")
SPLITS = {"in_dist": "in-dist", "out_of_dist": "out-of-dist"}


def records() -> list[dict[str, Any]]:
    """The flat records of all members, also of those whose initialiser has changed since."""
    suite = suites.get("syntax")
    groups = cells_of(suite, stored(Path(__file__).parents[1], "syntax"))
    return [
        asdict(record) for cells in groups.values() for cell in cells for record in suite.presentation.records(cell)
    ]


def printed(record: dict[str, Any], column: str) -> float:
    """What the paper prints for this cell in the column of some model."""
    terminals = record["setting"].partition("terminals=")[2].partition(",")[0]
    where = {"language": record["task"], "terminals": terminals, "distribution": "zipf", "paper_table": "table_2"}
    accuracy = published.lookup("syntax", "accuracy", architecture=column, split=SPLITS[record["measure"]], **where)
    assert accuracy is not None, record
    return float(accuracy)


def paper_table() -> dict[tuple[str, str, str, str], float]:
    """The paper's Table 2: model, split, language, terminals."""
    return {
        (row["architecture"], row["split"], row["language"], row["terminals"]): float(row["accuracy"])
        for row in published.rows("syntax")
        if row["paper_table"] == "table_2"
    }


def nearer_to_bilstm(split: str) -> tuple[int, int]:
    """In how many rows the printed Decoder is nearer to the printed BiLSTM than to the printed Encoder, and farther."""
    printed = paper_table()
    nearer = farther = 0
    for at in {key[2:] for key in printed}:
        decoder = printed["transformer_decoder", split, *at]
        bilstm, encoder = (abs(decoder - printed[m, split, *at]) for m in ("bilstm", "transformer_encoder"))
        nearer, farther = nearer + (bilstm < encoder), farther + (bilstm > encoder)
    return nearer, farther


def printed_distances() -> dict[tuple[str, str], tuple[float, float]]:
    """For each two columns, how far apart they are in the paper, in and out of distribution."""
    printed = paper_table()
    places = sorted({key[2:] for key in printed})

    def distance(first: str, second: str, split: str) -> float:
        return sum(abs(printed[first, split, *at] - printed[second, split, *at]) for at in places) / len(places)

    inside, out = SPLITS.values()
    return {
        (first, second): (distance(first, second, inside), distance(first, second, out))
        for first, second in combinations(MODELS, 2)
    }


def our_distances() -> dict[tuple[str, str, str], float]:
    """For each split and each two models, how far ours of the first is from the printed column of the second."""
    whole = [r for r in records() if r["statistic"] == "max" and r["members"] == 30 and "sizes" not in r["setting"]]
    found = {}
    for measure in SPLITS:
        for model in MODELS:
            cells = [r for r in whole if r["model"] == model and r["measure"] == measure and "zipf" in r["setting"]]
            for column in MODELS:
                found[measure, model, column] = sum(abs(r["value"] - printed(r, column)) for r in cells) / len(cells)
    return found


def main() -> None:
    """Prints the tables."""
    print(f"{'printed':42}", *(f"{measure:>12}" for measure in SPLITS))
    for (first, second), (inside, out) in printed_distances().items():
        print(f"{first:20} {second:20}  {inside:12.1f} {out:12.1f}")
    for split in SPLITS.values():
        nearer, farther = nearer_to_bilstm(split)
        p = binomtest(nearer, nearer + farther).pvalue
        print(
            f"printed Decoder nearer to BiLSTM than to Encoder: {nearer} rows, farther: {farther}, "
            f"sign test {p:.2f}, {split}"
        )
    ours = our_distances()
    for measure in SPLITS:
        print(f"{measure:20}", *(f"{model:>20}" for model in MODELS))
        for model in MODELS:
            print(f"{model:20}", *(f"{ours[measure, model, column]:20.1f}" for column in MODELS))


if __name__ == "__main__":
    main()
