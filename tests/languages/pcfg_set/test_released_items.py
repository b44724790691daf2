"""The corpus beside the released one: their items cannot be told apart, and corpora drawn in other ways can."""

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from pcfg_set_support import released, released_test_sources

from humboldt.languages.pcfg_set import (
    Corpus,
    CorpusSettings,
    RandomProductions,
    authors_productions,
    corpus,
    productivity_splits,
    released_histogram,
    released_productions,
    systematicity_splits,
    to_paper_spelling,
)

FOLDER = Path(__file__).parents[3] / "reproductions/pcfg_set"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"pcfg_set_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ITEMS = script("items")
RELEASED = ITEMS.load(FOLDER / "released_items.json")


def sources(made: Corpus) -> tuple[str, ...]:
    return made.train.sources + made.validation.sources + made.test.sources


def p_values(found: dict[str, Counter[str]]) -> dict[str, float]:
    return {name: ITEMS.chi_squared(RELEASED[name], found[name])[2] for name in RELEASED}


def test_items_by_hand():
    found = ITEMS.count_items(["append swap F G H , repeat I J", "copy A B"])
    assert found["functions"] == {"2 1": 1, "1 0": 1} and found["strings"] == {"2 1": 1, "1 1": 1}
    children = "append 1 swap", "append 2 repeat", "swap 1 string", "repeat 1 string", "copy 1 string"
    assert found["children"] == Counter(children)
    assert found["shapes"] == {"ff": 1} and found["roots"] == {"append": 1, "copy": 1}
    assert found["string_lengths"] == {"3": 1, "2": 2}
    assert found["lengths"] == {"9": 1, "3": 1} and found["depths"] == {"2": 1, "1": 1}
    assert ITEMS.count_items(["remove_first copy A B , C D"])["shapes"] == {"fs": 1}


def test_chi_squared_by_hand():
    value, freedom, p = ITEMS.chi_squared(Counter(a=30, b=70), Counter(a=50, b=50))
    assert value == pytest.approx(25 / 3) and freedom == 1 and p == pytest.approx(0.00389, abs=1e-5)
    # What is rare is taken together.
    assert ITEMS.chi_squared(Counter(a=50, b=1, c=2, d=3), Counter(a=50, e=6))[1] == 1


def test_the_corpus_cannot_be_told_from_the_released_one(full):
    """All 97,203 items against 14,581: every p would be near 0 if the distributions differed as those below do."""
    counts = ITEMS.count_items(sources(full))
    assert min(p_values(counts).values()) > 0.01, p_values(counts)
    ours, theirs = ITEMS.summarise(counts), ITEMS.summarise(RELEASED)
    # Two deviations of the released numbers and more: 14,581 items, about 1,200 with five functions, 660 with eight.
    for name, margin in {
        "variance_of_unary_functions_among_5": 0.13,
        "variance_of_unary_functions_among_8": 0.35,
        "nine_functions_or_more": 0.006,
        "functions": 0.06,
        "unary_functions": 0.006,
        "binary_with_two_functions": 0.007,
        "strings_of_two_letters": 0.005,
    }.items():
        assert ours[name] == pytest.approx(theirs[name], abs=margin), name


def test_one_set_of_probabilities_is_told_apart():
    """The corpus of version 1, at a tenth of the size."""
    counts = ITEMS.count_items(sources(corpus(0, CorpusSettings(size=10_000, productions=released_productions()))))
    found = p_values(counts)
    assert max(found[name] for name in ("functions", "strings", "children", "shapes")) < 1e-10, found
    summary = ITEMS.summarise(counts)
    assert summary["variance_of_unary_functions_among_8"] < 2 and summary["binary_with_two_functions"] > 0.27


@pytest.mark.parametrize("lengths", ["early", "late", "mean"])
def test_strings_that_never_run_out_are_told_apart(lengths):
    known = authors_productions()
    assert known.late_string_lengths is not None
    string_lengths = {
        "early": known.string_lengths,
        "late": known.late_string_lengths,
        "mean": released_productions().string_lengths,
    }[lengths]
    productions = RandomProductions(known.functions, string_lengths)
    made = corpus(0, CorpusSettings(size=20_000, productions=productions))
    assert p_values(ITEMS.count_items(sources(made)))["strings"] < 1e-10


def test_the_splits_have_about_the_released_sizes(full):
    """11,333 and 10,175 in the released data, from 92,343 items: within three deviations."""
    assert len(productivity_splits(full).test) == pytest.approx(11_333, abs=3 * 141)
    assert len(systematicity_splits(full).test) == pytest.approx(10_175, abs=3 * 135)


def test_the_counts_are_those_of_the_released_files():
    lines = [*released("dev.src").read_text().splitlines(), *released_test_sources()]
    assert len(lines) == 14_581
    assert ITEMS.count_items(map(to_paper_spelling, lines)) == RELEASED
    assert {int(n): count for n, count in RELEASED["lengths"].items()} == _marginal(0)
    assert {int(d): count for d, count in RELEASED["depths"].items()} == _marginal(1)


def _marginal(place: int) -> dict[int, int]:
    counts: Counter[int] = Counter()
    for cell, count in released_histogram().counts.items():
        counts[cell[place]] += count
    return dict(counts)
