"""Systematicity, productivity and localism, on every item of a corpus of the paper's size."""

import itertools
from collections import Counter

import pytest
from pcfg_set_support import name_of, released

from humboldt.languages.pcfg_set import (
    HELD_OUT_PAIRS,
    localism_splits,
    num_functions,
    pairs_in,
    productivity_splits,
    systematicity_splits,
    to_paper_spelling,
)


def neighbours(source: str) -> set[tuple[str, str]]:
    tokens = [name_of(token) for token in source.split()]
    return set(itertools.pairwise(tokens))


def test_the_four_pairs_of_the_paper():
    assert {" ".join(pair) for pair in HELD_OUT_PAIRS} == {
        "swap repeat",
        "append remove_second",
        "repeat remove_second",
        "append swap",
    }


def test_pairs_are_neighbouring_tokens():
    assert pairs_in("reverse repeat remove_second A B , C D") == (("repeat", "remove_second"),)  # section 6.2.1
    assert pairs_in("repeat reverse remove_second A B , C D") == ()
    assert pairs_in("append A B , swap C D") == ()
    assert pairs_in("append swap repeat A B , C D") == (("swap", "repeat"), ("append", "swap"))


def test_systematicity_on_every_item(full):
    splits = systematicity_splits(full)
    held_out = set(HELD_OUT_PAIRS)
    assert not any(neighbours(source) & held_out for source in splits.train.sources)
    assert all(neighbours(source) & held_out for source in splits.test.sources)
    # Nothing is lost, nothing comes twice.
    assert Counter([*splits.train, *splits.test]) == Counter([*full.train, *full.test])
    # 82,168 and 10,175 are released.
    assert 81_000 < len(splits.train) < 83_000 and 9_500 < len(splits.test) < 11_500
    by_pair = Counter(pair for source in splits.test.sources for pair in pairs_in(source))
    assert by_pair.total() > len(splits.test) and min(by_pair.values()) > 1_500


def test_productivity_on_every_item(full):
    splits = productivity_splits(full)
    assert {num_functions(source) for source in splits.train.sources} == set(range(1, 9))
    assert min(num_functions(source) for source in splits.test.sources) == 9
    assert Counter([*splits.train, *splits.test]) == Counter([*full.train, *full.test])
    # 81,010 and 11,333 are released.
    assert 78_000 < len(splits.train) < 82_500 and 10_000 < len(splits.test) < 14_000


def test_localism_tests_what_can_be_unrolled(full):
    splits = localism_splits(full)
    assert splits.train is full.train
    assert all(num_functions(source) >= 2 for source in splits.test.sources)
    assert len(full.test) - len(splits.test) == sum(num_functions(source) == 1 for source in full.test.sources)


@pytest.mark.parametrize("split", [systematicity_splits, productivity_splits])
def test_validation_is_that_of_the_base_corpus_unless_a_clean_one_is_asked_for(small, split):
    def is_fit(source: str) -> bool:
        if split is systematicity_splits:
            return not neighbours(source) & set(HELD_OUT_PAIRS)
        return num_functions(source) <= 8

    assert split(small).validation is small.validation
    clean = split(small, clean_validation=True).validation
    assert list(clean) == [item for item in small.validation if is_fit(item[0])]
    assert 0 < len(clean) < len(small.validation)


def test_the_released_validation_set_is_not_clean():
    sources = [to_paper_spelling(source) for source in released("dev.src").read_text().splitlines()]
    assert sum(bool(pairs_in(source)) for source in sources) == 521
    assert sum(num_functions(source) >= 9 for source in sources) == 611


def test_other_pairs_and_other_bounds(small):
    splits = systematicity_splits(small, pairs=[("copy", "copy")])
    assert all(" copy copy " in f" {source} " for source in splits.test.sources) and len(splits.test)
    assert {num_functions(source) for source in productivity_splits(small, most_functions=2).train.sources} == {1, 2}
