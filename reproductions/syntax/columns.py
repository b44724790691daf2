"""Which column of the paper's Table 2 does each of our models resemble?

The mean absolute difference, in points, between our best members (rows) and the printed columns, over the cells that
records.json has for a model with the stated sizes and all 30 members.

    python reproductions/syntax/columns.py
"""

import json
from pathlib import Path

from humboldt import published

MODELS = ("transformer_encoder", "transformer_decoder", "bilstm", "lstm")
SPLITS = {"in_dist": "in-dist", "out_of_dist": "out-of-dist"}


def printed(record: dict[str, str], column: str) -> float:
    """What the paper prints for this cell in the column of some model."""
    terminals = record["setting"].partition("terminals=")[2].partition(",")[0]
    where = {"language": record["task"], "terminals": terminals, "distribution": "zipf", "paper_table": "table_2"}
    accuracy = published.lookup("syntax", "accuracy", architecture=column, split=SPLITS[record["measure"]], **where)
    assert accuracy is not None, record
    return float(accuracy)


def main() -> None:
    """Prints the two tables."""
    records = json.loads((Path(__file__).parent / "records.json").read_text())
    whole = [r for r in records if r["statistic"] == "max" and r["members"] == 30 and "sizes" not in r["setting"]]
    for measure in SPLITS:
        print(f"{measure:20}", *(f"{model:>20}" for model in MODELS))
        for model in MODELS:
            cells = [r for r in whole if r["model"] == model and r["measure"] == measure]
            gaps = [sum(abs(r["value"] - printed(r, column)) for r in cells) / len(cells) for column in MODELS]
            print(f"{model:20}", *(f"{gap:20.1f}" for gap in gaps))


if __name__ == "__main__":
    main()
