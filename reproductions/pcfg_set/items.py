"""Counts of what expressions are made of, by which a corpus of ours is compared with the released one.

    python reproductions/pcfg_set/items.py DEV.SRC TEST.SRC > reproductions/pcfg_set/released_items.json

DEV.SRC and TEST.SRC as for `estimate.py`. The output is counts; no expression is copied. Tests import this file.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.stats import chi2

from humboldt.languages.pcfg_set import PCFG_SET, to_paper_spelling

Counts = dict[str, Counter[str]]  # by statistic, then by value

STATISTICS = {
    "functions": "items by their numbers of unary and of binary functions",
    "strings": "items by their numbers of strings (9: or more) and of strings of two letters (5: or more)",
    "children": "arguments by function, place and what they are: a function or a string",
    "shapes": "binary functions by whether each argument is a function (f) or a string (s)",
    "roots": "items by their outermost function",
    "string_lengths": "strings by their number of letters",
    "lengths": "items by their number of tokens",
    "depths": "items by their deepest nesting",
}


def count_items(expressions: Iterable[str]) -> Counts:
    """All statistics of some expressions, in the paper's spelling."""
    arity = {function.name: function.arity for function in PCFG_SET.functions}
    counts: Counts = {name: Counter() for name in STATISTICS}
    for expression in expressions:
        tokens = expression.split()
        # From right to left: what is complete lies on a stack, as (what it is, its depth).
        stack: list[tuple[str, int]] = []
        letters, strings, functions = 0, [], Counter[int]()
        for token in reversed(tokens):
            if letters and (token in arity or token == ","):
                strings.append(letters)
                stack.append(("string", 0))
                letters = 0
            if token in arity:
                arguments = [stack.pop() for _ in range(arity[token])]
                counts["children"].update(f"{token} {place} {kind}" for place, (kind, _) in enumerate(arguments, 1))
                if len(arguments) == 2:
                    counts["shapes"]["".join("s" if kind == "string" else "f" for kind, _ in arguments)] += 1
                functions[len(arguments)] += 1
                stack.append((token, 1 + max(depth for _, depth in arguments)))
            elif token != ",":
                letters += 1
        ((root, depth),) = stack
        counts["functions"][f"{functions[1]} {functions[2]}"] += 1
        counts["strings"][f"{min(len(strings), 9)} {min(strings.count(2), 5)}"] += 1
        counts["roots"][root] += 1
        counts["string_lengths"].update(map(str, strings))
        counts["lengths"][str(len(tokens))] += 1
        counts["depths"][str(depth)] += 1
    return counts


def summarise(counts: Counts) -> dict[str, float]:
    """The numbers that are shown: means, shares, and variances of the number of unary functions."""
    rows = np.array([[*map(int, key.split()), count] for key, count in counts["functions"].items()])
    unary, binary, items = rows.T
    total = unary + binary

    def variance(functions: int) -> float:
        values = np.repeat(unary[total == functions], items[total == functions])
        return float(values.var())

    return {
        "items": int(items.sum()),
        "variance_of_unary_functions_among_5": round(variance(5), 3),
        "variance_of_unary_functions_among_8": round(variance(8), 3),
        "nine_functions_or_more": round(float(items[total >= 9].sum() / items.sum()), 4),
        "functions": round(float((total * items).sum() / items.sum()), 3),
        "unary_functions": round(float((unary * items).sum() / (total * items).sum()), 4),
        "binary_with_two_functions": round(counts["shapes"]["ff"] / counts["shapes"].total(), 4),
        "strings_of_two_letters": round(counts["string_lengths"]["2"] / counts["string_lengths"].total(), 4),
    }


def chi_squared(first: Counter[str], second: Counter[str]) -> tuple[float, int, float]:
    """Pearson's test of whether two samples have one distribution: the statistic, its degrees of freedom, and p.

    Values that are expected fewer than five times in either sample are taken together.
    """
    a, b = first.total(), second.total()
    share = min(a, b) / (a + b)
    rare = {key for key in first | second if (first[key] + second[key]) * share < 5}
    pairs = [(first[key], second[key]) for key in sorted((first | second).keys() - rare)]
    if rare:
        pairs.append((sum(first[key] for key in rare), sum(second[key] for key in rare)))
    value = sum((n * np.sqrt(b / a) - m * np.sqrt(a / b)) ** 2 / (n + m) for n, m in pairs)
    return float(value), len(pairs) - 1, float(chi2.sf(value, len(pairs) - 1))


def load(path: Path) -> Counts:
    """Counts that this script wrote."""
    return {name: Counter(counts) for name, counts in json.loads(path.read_text("utf-8"))["counts"].items()}


def main() -> None:
    """Prints the counts of the released items."""
    lines = [line for source in sys.argv[1:] for line in Path(source).read_text("utf-8").splitlines()]
    counts = count_items(to_paper_spelling(line) for line in lines)
    ordered = {name: dict(sorted(found.items())) for name, found in counts.items()}
    record = {
        "source": f"released development and test sets of PCFG SET, {len(lines)} expressions",
        "script": "reproductions/pcfg_set/items.py",
        "statistics": STATISTICS,
        "summary": summarise(counts),
    }
    text = json.dumps(record, indent=1).removesuffix("\n}")
    tables = ",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in ordered.items())
    print(f'{text},\n "counts": {{\n{tables}\n }}\n}}')


if __name__ == "__main__":
    main()
