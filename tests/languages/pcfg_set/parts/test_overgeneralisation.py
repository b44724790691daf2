"""Exceptions to the rules: Table 6, and every item of the four corpora."""

import pytest
from pcfg_set_support import by_hand

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    EXCEPTIONS,
    RATES,
    exception_targets,
    interpret,
    num_functions,
    overgeneralisation_splits,
    string_arguments,
)

PAIRS = [" ".join(pair) for pair in EXCEPTIONS]


def count_pairs(source: str) -> int:
    padded = f" {source} "
    return sum(padded.count(f" {pair} ") for pair in PAIRS)


@pytest.fixture(scope="module")
def regular(full) -> list[tuple[str, str]]:
    """What of the corpus has no pair."""
    return [item for item in [*full.train, *full.test] if not count_pairs(item[0])]


@pytest.fixture(scope="module")
def holding(full) -> dict[str, int]:
    """How many training items hold each function."""
    names = {name for pair in EXCEPTIONS for name in pair}
    return {name: sum(f" {name} " in f" {source}" for source in full.train.sources) for name in names}


@pytest.mark.parametrize(
    ("source", "original", "exception"),
    [
        ("reverse echo A B C", "C C B A", "A B C C"),
        ("prepend remove_first A , B , C", "C B", "A B"),
        ("echo remove_first A , B C", "B C C", "A B C"),
        ("prepend reverse A B , C", "C B A", "A B B"),
    ],
)
def test_table_6(source, original, exception):
    assert interpret(source) == original
    assert exception_targets(source) == (exception,)


def test_meanings_inside_larger_expressions():
    assert exception_targets("copy A B") == ()
    assert exception_targets("repeat reverse echo A B") == ("A B B A B B",)
    # Two pairs that share a function: either can be remapped.
    assert exception_targets("prepend reverse echo A B , C") == ("A B B B", "C A B B")


@pytest.mark.parametrize("rate", RATES)
def test_every_item(full, regular, holding, rate):
    data = overgeneralisation_splits(full, rate)
    exceptions = set(data.test.sources)
    # All that is exceptional in the training data are the exceptions, with their exceptional targets.
    assert data.train.sources[-len(data.test) :] == data.test.sources
    assert data.train.targets[-len(data.test) :] == data.test.targets
    assert list(data.train)[: -len(data.test)] == regular
    assert len(exceptions) == len(data.test)
    for (source, target), original, pair, is_primitive in zip(
        data.test, data.original_targets, data.pairs, data.primitive, strict=True
    ):
        assert count_pairs(source) == 1 and f" {' '.join(pair)} " in f" {source} "
        assert by_hand(source) == original != target
        replaced = f" {source} ".replace(f" {' '.join(pair)} ", f" {' '.join(EXCEPTIONS[pair])} ").strip()
        assert by_hand(replaced) == target
        assert is_primitive == (num_functions(source) == 2)
    for pair in EXCEPTIONS:
        rarer = min(holding[name] for name in pair)
        kinds = [p for p, found in zip(data.primitive, data.pairs, strict=True) if found == pair]
        assert len(kinds) == round(rate * rarer)
        assert sum(kinds) - (len(kinds) - sum(kinds)) in (0, 1)  # half primitive, half complex
    # 9, 59, 125 and 554 are released.
    released = dict(zip(RATES, (9, 59, 125, 554), strict=True))[rate]
    assert released <= len(data.test) < 1.4 * released
    strings = [string for source in data.train.sources[-len(data.test) :] for string in string_arguments(source)]
    assert len(set(strings)) == len(strings)


def test_new_primitive_exceptions_have_new_strings(full):
    data = overgeneralisation_splits(full, 0.005)
    known = set(full.train.sources) | set(full.test.sources)
    added = [source for source in data.test.sources if source not in known]
    assert 0 < len(added) < len(data.test) / 2
    assert not {string for source in added for string in string_arguments(source)} & full.string_arguments


def test_validation_and_repetition(small):
    data = overgeneralisation_splits(small, 0.01)
    assert data.validation is small.validation and overgeneralisation_splits(small, 0.01) == data
    clean = overgeneralisation_splits(small, 0.01, clean_validation=True)
    assert list(clean.validation) == [item for item in small.validation if not count_pairs(item[0])]
    assert clean.test == data.test


@pytest.mark.parametrize(
    ("rate", "text"), [(0, "must be above 0 and at most 1"), (0.0001, "asks for 0 exceptions"), (0.9, "asks for")]
)
def test_rates_that_cannot_be(small, rate, text):
    with pytest.raises(UsageError) as error:
        overgeneralisation_splits(small, rate)
    assert text in str(error.value)
