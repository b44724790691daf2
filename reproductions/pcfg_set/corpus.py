"""Corpora of three seeds beside the released one: sizes of all splits, lengths, depths, what items are made of.

    python reproductions/pcfg_set/corpus.py > reproductions/pcfg_set/corpus.json

`corpus_version_1.json` has the same numbers of the corpora of version 1, which the members on record were trained on.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from items import STATISTICS, chi_squared, count_items, load, summarise

from humboldt.languages.pcfg_set import (
    FUNCTIONS_WITH_SYNONYMS,
    RATES,
    Examples,
    Unit,
    corpus,
    equally_distributed,
    localism_splits,
    num_functions,
    overgeneralisation_splits,
    primitive,
    productivity_splits,
    released_histogram,
    statistics,
    string_arguments,
    systematicity_splits,
)

SEEDS = (0, 1, 2)
RELEASED = load(Path(__file__).parent / "released_items.json")


def spreads(examples: Examples) -> dict[str, Any]:
    """What Table 3 of the paper says of a set of expressions."""
    found = statistics(examples.sources)
    return {
        name: {key: round(value, 3) for key, value in asdict(getattr(found, name)).items()}
        for name in ("depth", "length", "num_functions")
    }


def share(flags: list[bool]) -> float:
    """The fraction of true ones."""
    return round(sum(flags) / len(flags), 4)


def against_released(sources: tuple[str, ...]) -> dict[str, Any]:
    """What items are made of, and a test of each statistic against the released items."""
    counts = count_items(sources)
    tests = {}
    for name in STATISTICS:
        value, freedom, p = chi_squared(RELEASED[name], counts[name])
        tests[name] = {"chi_squared": round(value, 1), "freedom": freedom, "p": float(f"{p:.2g}")}
    return {**summarise(counts), "against_released": tests}


def describe(seed: int) -> dict[str, Any]:
    """Everything that is compared, for one seed."""
    made = corpus(seed)
    everything = made.train + made.validation + made.test
    systematic, productive = systematicity_splits(made), productivity_splits(made)
    synonyms = {unit.value: equally_distributed(made, unit=unit) for unit in Unit}
    exceptions = {rate: overgeneralisation_splits(made, rate) for rate in RATES}
    return {
        "seed": seed,
        "sizes": {
            "base": [len(made.train), len(made.validation), len(made.test)],
            "systematicity": [len(systematic.train), len(systematic.test)],
            "productivity": [len(productive.train), len(productive.test)],
            "localism": len(localism_splits(made).test),
            "primitive": len(primitive(made).train),
            "exceptions": {rate: len(data.test) for rate, data in exceptions.items()},
            "primitive_exceptions": {rate: sum(data.primitive) for rate, data in exceptions.items()},
            "overgeneralisation_train": {rate: len(data.train) for rate, data in exceptions.items()},
        },
        "clean_validation": {
            "systematicity": len(systematicity_splits(made, clean_validation=True).validation),
            "productivity": len(productivity_splits(made, clean_validation=True).validation),
        },
        "distance_of_histograms": round(statistics(everything.sources).histogram.distance(released_histogram()), 6),
        "all": spreads(everything),
        "items": against_released(everything.sources),
        "productivity_train": spreads(productive.train),
        "productivity_test": spreads(productive.test),
        "nine_functions_or_more": share([num_functions(source) >= 9 for source in everything.sources]),
        "longest_target": max(len(target.split()) for target in everything.targets),
        "string_arguments": len(made.string_arguments),
        "first_string_is_the_target": share([string_arguments(s)[0] == target for s, target in made.test]),
        "items_with_function": {
            name: share([f" {name} " in f" {source}" for source in made.train.sources])
            for name in FUNCTIONS_WITH_SYNONYMS
        },
        "items_with_function_after_substitution": {
            unit: {
                name: share([f" {name} " in f" {source}" for source in data.train.sources])
                for name in FUNCTIONS_WITH_SYNONYMS
            }
            for unit, data in synonyms.items()
        },
    }


if __name__ == "__main__":
    print(json.dumps([describe(seed) for seed in SEEDS], indent=1))
