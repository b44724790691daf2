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


def shares_of_few_learners() -> list[tuple[str, str, str, float, list[int]]]:
    """Settings of FIND's Tables 3 to 6 and 8 with a share that 14 to 20 fitting learners cannot have, however it is
    rounded: table, model, value of the setting, the share, and the numbers of at most 20 learners that can have it.

    The shares are of the learners that fit the training set, of 20. The caption of Table 3 says that settings in which
    fewer than 70% do are a dash. Rows with the usual value are copied from Table 1, where there are 100, and left out.
    """
    usual = {"table_3": 1.0, "table_4": 512.0, "table_5": 16.0, "table_6": 0.5}
    found = []
    for row in published.rows("bias"):
        table = row["paper_table"]
        varied = table[:7] in usual and float(row["parameter_value"]) != usual[table[:7]]
        if row["metric"] == "FPA" and row["value"] and (varied or table == "table_8"):
            share = float(row["value"])
            numbers = [n for n in range(1, 21) if any(is_printed(count / n, share) for count in range(n + 1))]
            if not any(number >= 14 for number in numbers):
                found.append((table, row["model"], row["parameter_value"], share, numbers))
    return found


def is_printed(share: float, printed: float) -> bool:
    """Whether a share can be printed with these two digits, rounded or cut off."""
    return abs(share - printed) <= 0.005 + 1e-9 or printed - 1e-9 <= share < printed + 0.01 - 1e-9


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
    for table, model, value, share, numbers in shares_of_few_learners():
        print(f"FIND, {table}, {model} {value}: a share of {share} is one of {numbers or 'no number'} of at most 20")
    print("Syntax, weights as stated, as fit, printed:")
    print(f"  LSTM {recurrent_weights(256, 256):,} / {recurrent_weights(256, 256, layers=2):,} (2 layers) / 1.05M")
    bilstm = recurrent_weights(128, 128, directions=2), recurrent_weights(128, 256, directions=2)
    print(f"  BiLSTM {bilstm[0]:,} / {bilstm[1]:,} (hidden 256) / 791k")
    transformer = transformer_weights(128, 1024, 3), transformer_weights(128, 1024, 4)
    print(f"  Transformers {transformer[0]:,} / {transformer[1]:,} (4 layers) / 1.32M")


if __name__ == "__main__":
    main()
