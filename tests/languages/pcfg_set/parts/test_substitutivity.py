"""Synonyms: in half of the occurrences, or in primitive contexts only, on every item."""

from collections import Counter

import pytest
from pcfg_set_support import by_hand

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    FUNCTIONS_WITH_SYNONYMS,
    Unit,
    equally_distributed,
    interpret,
    num_functions,
    primitive,
    string_arguments,
)


def occurrences(sources: tuple[str, ...]) -> Counter[str]:
    return Counter(" ".join(sources).split())


def test_half_of_the_occurrences_become_synonyms(full):
    data = equally_distributed(full)
    assert data.train.targets == full.train.targets and data.validation is full.validation
    before, after = occurrences(full.train.sources), occurrences(data.train.sources)
    for name in FUNCTIONS_WITH_SYNONYMS:
        assert after[name + "_syn"] == before[name] // 2 > 10_000
        assert after[name] == before[name] - before[name] // 2
    for old, new in zip(full.train.sources, data.train.sources, strict=True):
        assert new.replace("_syn", "") == old
    both = sum({"swap", "swap_syn"} <= set(source.split()) for source in data.train.sources)
    assert both > 1_000


def test_half_of_the_items_with_all_their_occurrences(small):
    data = equally_distributed(small, unit=Unit.ITEM)
    for name in FUNCTIONS_WITH_SYNONYMS:
        with_name = [source for source in small.train.sources if name in source.split()]
        with_synonym = [source for source in data.train.sources if name + "_syn" in source.split()]
        assert len(with_synonym) == len(with_name) // 2
        assert not any(name in source.split() for source in with_synonym)


def test_primitive_synonyms_are_added(full):
    data = primitive(full)
    assert data.train.sources[: len(full.train)] == full.train.sources
    added = data.train.take(range(len(full.train), len(data.train)))
    assert len(added) == 332  # as released: 83 for each of the four
    assert Counter(source.split()[0] for source in added.sources) == {f"{f}_syn": 83 for f in FUNCTIONS_WITH_SYNONYMS}
    assert all(num_functions(source) == 1 for source in added.sources)
    assert all(by_hand(source) == interpret(source) == target for source, target in added)
    strings = [string for source in added.sources for string in string_arguments(source)]
    assert len(set(strings)) == len(strings) and not set(strings) & full.string_arguments
    assert {len(string.split()) for string in strings} == {2, 3, 4, 5}


@pytest.mark.parametrize("condition", [equally_distributed, primitive])
def test_test_items(full, condition):
    data = condition(full)
    assert len(data.test) == len(data.synonyms) == len(data.functions) == 10_000
    assert Counter(data.functions) == dict.fromkeys(FUNCTIONS_WITH_SYNONYMS, 2_500)
    known = set(full.test)
    for item, synonym, name in zip(data.test, data.synonyms, data.functions, strict=True):
        assert item in known and synonym[1] == item[1]
        # Exactly one function is replaced, wherever it occurs.
        tokens = synonym[0].split()
        assert name not in tokens and name + "_syn" in tokens
        assert [token for token in tokens if token.endswith("_syn")] == [name + "_syn"] * item[0].split().count(name)
        assert [token.removesuffix("_syn") for token in tokens] == item[0].split()
    for name in FUNCTIONS_WITH_SYNONYMS:
        taken = [s for s, f in zip(data.test.sources, data.functions, strict=True) if f == name]
        assert len(set(taken)) == 2_500


def test_both_conditions_have_the_same_test_items(small):
    first, second = equally_distributed(small), primitive(small)
    assert (first.test, first.synonyms, first.functions) == (second.test, second.synonyms, second.functions)
    assert equally_distributed(small).train == first.train and primitive(small).train == second.train
    for name in FUNCTIONS_WITH_SYNONYMS:  # a small corpus gives all it has
        assert first.functions.count(name) == sum(name in source.split() for source in small.test.sources)


def test_a_share_of_less_than_one_item(small):
    with pytest.raises(UsageError, match="less than one item for each synonym"):
        primitive(small, share=0.0001)
