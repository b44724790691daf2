"""Scores files of predictions by each of the tests."""

from collections.abc import Callable
from typing import Any

from humboldt.errors import UsageError, unknown_name
from humboldt.languages.pcfg_set import exception_places, exception_targets, num_functions
from humboldt.measures.pcfg_set._accuracy import held_out_pairs_of, sequence_accuracy, sizes_of
from humboldt.measures.pcfg_set._consistency import consistency
from humboldt.measures.pcfg_set._localism import localism_consistency, longest_intermediate
from humboldt.measures.pcfg_set._overgeneralisation import overgeneralisation_profile
from humboldt.measures.pcfg_set._predictions import (
    File,
    Row,
    check_same_sources,
    disagreements,
    read_predictions,
    replaced_functions,
)

MOST_DISAGREEMENTS = 100  # that are listed; all are counted


def score_predictions(test: str, predictions: File, twin: File | None = None) -> dict[str, Any]:
    """The score of a file of predictions, as plain data.

    Outputs are compared with what the sources mean; targets of the file that say otherwise are listed, by line, under
    `disagreements` (the first 100; `num_disagreements` counts all).

    **Arguments:**

    - `test`: task_accuracy, systematicity, productivity, substitutivity, overgeneralisation or localism.
    - `twin`: for substitutivity the outputs for the same items with synonyms; for localism the final outputs of the
      unrolled evaluation. A column `longest_intermediate` of the latter holds the length of the longest output that was
      fed back; without it, that of the right ones is used.

    The file of the overgeneralisation test may have a column `epoch`: whole numbers in the order of training.
    """
    if test not in TESTS:
        raise unknown_name("test of pcfg_set", test, TESTS)
    needs_twin = test in NEED_TWIN
    if needs_twin and twin is None:
        raise UsageError(
            f"The test {test!r} compares two outputs for each item. Give the twin file: {NEED_TWIN[test]}."
        )
    if twin is not None and not needs_twin:
        raise UsageError(f"The test {test!r} has no twin file; only {' and '.join(NEED_TWIN)} do. Leave it out.")
    rows = read_predictions(predictions)
    twins = read_predictions(twin) if twin is not None else []
    result = TESTS[test](rows, twins, predictions.name, twin.name if twin is not None else "")
    wrong = disagreements([*rows, *twins], exceptions=test == "overgeneralisation")
    return {
        "test": test,
        **result,
        "num_disagreements": len(wrong),
        "disagreements": [vars(disagreement) for disagreement in wrong[:MOST_DISAGREEMENTS]],
    }


def _accuracy(rows: list[Row], twins: list[Row], name: str, twin_name: str) -> dict[str, Any]:
    sources = [row.source for row in rows]
    return _score_accuracy(rows, sizes_of(sources))


def _score_accuracy(rows: list[Row], by: dict[str, Any]) -> dict[str, Any]:
    return sequence_accuracy([row.meaning for row in rows], [row.prediction for row in rows], by=by).to_json()


def _systematicity(rows: list[Row], twins: list[Row], name: str, twin_name: str) -> dict[str, Any]:
    sources = [row.source for row in rows]
    pairs = held_out_pairs_of(sources)
    for row, found in zip(rows, pairs, strict=True):
        if not found:
            raise UsageError(
                f"{name}, line {row.line}: {row.source!r} has no held-out pair of functions. Every item of the "
                "systematicity test has one. Score other items as task_accuracy."
            )
    return _score_accuracy(rows, {"pair": pairs, **sizes_of(sources)})


def _productivity(rows: list[Row], twins: list[Row], name: str, twin_name: str) -> dict[str, Any]:
    for row in rows:
        count = num_functions(row.source)
        if count < 9:
            raise UsageError(
                f"{name}, line {row.line}: {row.source!r} has {count} functions. Items of the productivity test have "
                "nine or more. Score others as task_accuracy."
            )
    return _accuracy(rows, twins, name, twin_name)


def _substitutivity(rows: list[Row], twins: list[Row], name: str, twin_name: str) -> dict[str, Any]:
    functions = replaced_functions(rows, twins, name, twin_name)
    return consistency(
        [row.meaning for row in rows],
        [row.prediction for row in rows],
        [twin.prediction for twin in twins],
        by={"function": functions},
    ).to_json()


def _localism(rows: list[Row], twins: list[Row], name: str, twin_name: str) -> dict[str, Any]:
    check_same_sources(rows, twins, name, twin_name)
    composed = [(row, twin) for row, twin in zip(rows, twins, strict=True) if num_functions(row.source) > 1]
    if not composed:
        raise UsageError(f"{name} has no item with two functions or more, so there is nothing that could be unrolled.")
    column = "longest_intermediate"
    lengths = []
    for row, twin in composed:
        text = twin.extra.get(column)
        if text is not None and not text.isdecimal():
            raise UsageError(f"{twin_name}, line {twin.line}: {column} is {text!r}, not a whole number of symbols.")
        lengths.append(longest_intermediate(row.source) if text is None else int(text))
    score = localism_consistency(
        [row.meaning for row, _ in composed],
        [row.prediction for row, _ in composed],
        [twin.prediction for _, twin in composed],
        lengths,
        num_functions=[num_functions(row.source) for row, _ in composed],
    )
    return {
        **score.to_json(),
        "intermediate_strings_from": "the model's outputs" if column in composed[0][1].extra else "the right outputs",
        "single_functions_left_out": len(rows) - len(composed),
    }


def _overgeneralisation(rows: list[Row], twins: list[Row], name: str, twin_name: str) -> dict[str, Any]:
    epochs: dict[int, list[Row]] = {}
    for row in rows:
        text = row.extra.get("epoch", "1")
        if not text.isdecimal():
            raise UsageError(f"{name}, line {row.line}: the epoch is {text!r}, not a whole number.")
        epochs.setdefault(int(text), []).append(row)
    numbers = sorted(epochs)
    items = epochs[numbers[0]]
    targets = []
    for row in items:
        possible = exception_targets(row.source)
        if not possible:
            raise UsageError(
                f"{name}, line {row.line}: {row.source!r} has none of the pairs with an exceptional meaning (Table 6), "
                "so it cannot be overgeneralised. Leave it out."
            )
        target = row.target if row.target in possible else possible[0]
        if target == row.meaning:
            raise UsageError(
                f"{name}, line {row.line}: {row.source!r} means {target!r} by the rules and as an exception, so an "
                "output could not tell the two apart. Leave it out."
            )
        targets.append(target)
    for number in numbers[1:]:
        check_same_sources(items, epochs[number], f"{name}, epoch {numbers[0]}", f"{name}, epoch {number}")
    profile = overgeneralisation_profile(
        [row.meaning for row in items],
        targets,
        [[row.prediction for row in epochs[number]] for number in numbers],
        by={
            "kind": ["primitive" if num_functions(row.source) == 2 else "complex" for row in items],
            "pair": [frozenset(" ".join(pair) for _, pair in exception_places(row.source)) for row in items],
        },
    )
    record = profile.to_json()
    for entry, number in zip(record["epochs"], numbers, strict=True):
        entry["epoch"] = number
    return {**record, "peak_epoch": numbers[profile.peak_epoch - 1]}


Scorer = Callable[[list[Row], list[Row], str, str], dict[str, Any]]

TESTS: dict[str, Scorer] = {
    "task_accuracy": _accuracy,
    "systematicity": _systematicity,
    "productivity": _productivity,
    "substitutivity": _substitutivity,
    "overgeneralisation": _overgeneralisation,
    "localism": _localism,
}
NEED_TWIN = {
    "substitutivity": "the outputs for the same items with synonyms",
    "localism": "the final outputs of the unrolled evaluation of the same items",
}
