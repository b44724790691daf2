"""What the papers' printed tables say of themselves: checks that need none of our runs. One line for each.

python reproductions/printed_tables.py
"""

from humboldt import published


def repeated_syntax_cells() -> tuple[int, int]:
    """Cells of Table 3 of the pseudo-languages that equal those of Table 2, and how many there are."""
    tables: dict[str, dict[tuple[str, ...], str]] = {"table_2": {}, "table_3": {}}
    for row in published.rows("syntax"):
        place = (row["language"], row["terminals"], row["architecture"], row["split"])
        tables[row["paper_table"]][place] = row["accuracy"]
    zipf, uniform = tables.values()
    return sum(float(zipf[place]) == float(uniform[place]) for place in uniform), len(uniform)


def quartered_cells() -> tuple[int, int]:
    """Non-zero L of Table 6c of FIND at dropout 0.5 that are a quarter of Table 1c's, and how many there are."""
    rows = [row for row in published.rows("bias") if row["metric"] == "L"]
    standard = {(r["model"], r["rule"]): float(r["value"]) for r in rows if r["paper_table"] == "table_1c"}
    default = [r for r in rows if r["paper_table"] == "table_6c" and r["parameter_value"] == "0.5"]
    beside = [(float(r["value"]), standard[r["model"], r["rule"]]) for r in default if float(r["value"])]
    return sum(abs(4 * quarter - whole) < 0.005 for quarter, whole in beside), len(beside)


def means_above_maxima() -> list[tuple[str, str, float, float]]:
    """Places in the Chomsky tables where the mean over seeds (B.5) exceeds the best seed (B.4): task, model, both."""
    rows = published.rows("chomsky")
    best = {(r["task"], r["architecture"]): float(r["value"]) for r in rows if r["paper_table"] == "table_b4"}
    means = {
        (r["task"], r["architecture"]): float(r["value"])
        for r in rows
        if r["paper_table"] == "table_b5" and r["statistic"] == "mean"
    }
    return [(*place, mean, best[place]) for place, mean in means.items() if mean > best[place]]


def recurrent_weights(size: int, hidden: int, *, layers: int = 1, directions: int = 1) -> int:
    """Weights and two biases of PyTorch's LSTM."""
    sizes = [size] + [hidden * directions] * (layers - 1)
    return sum(directions * 4 * hidden * (inputs + hidden + 2) for inputs in sizes)


def transformer_weights(width: int, feed_forward: int, layers: int) -> int:
    """Weights, biases and normalisations of PyTorch's Transformer layers."""
    return layers * (4 * (width * width + width) + 2 * width * feed_forward + feed_forward + width + 4 * width)


def main() -> None:
    """Prints what was found."""
    print("Syntax, cells of Table 3 equal to Table 2: {} of {}".format(*repeated_syntax_cells()))
    print("FIND, cells of Table 6c (dropout 0.5) that are a quarter of Table 1c: {} of {}".format(*quartered_cells()))
    for task, model, mean, best in means_above_maxima():
        print(f"Chomsky, mean above maximum: {task}, {model}, mean {mean} (B.5), maximum {best} (B.4)")
    print("Syntax, weights as stated, as fit, printed:")
    print(f"  LSTM {recurrent_weights(256, 256):,} / {recurrent_weights(256, 256, layers=2):,} (2 layers) / 1.05M")
    bilstm = recurrent_weights(128, 128, directions=2), recurrent_weights(128, 256, directions=2)
    print(f"  BiLSTM {bilstm[0]:,} / {bilstm[1]:,} (hidden 256) / 791k")
    transformer = transformer_weights(128, 1024, 3), transformer_weights(128, 1024, 4)
    print(f"  Transformers {transformer[0]:,} / {transformer[1]:,} (4 layers) / 1.32M")


if __name__ == "__main__":
    main()
