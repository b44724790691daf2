"""A corpus of the paper's size, item by item."""

import hashlib
import itertools
from typing import Any

import numpy as np
import pytest
from pcfg_set_support import by_hand

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.pcfg_set import (
    Corpus,
    CorpusSettings,
    JointHistogram,
    Language,
    corpus,
    interpret,
    parse_functions,
    released_histogram,
    statistics,
    string_arguments,
    uniform_productions,
)


def items(made: Corpus) -> list[tuple[str, str]]:
    return [*made.train, *made.validation, *made.test]


def digest(made: Corpus) -> str:
    return hashlib.sha256("\n".join("\t".join(item) for item in items(made)).encode()).hexdigest()[:16]


def test_the_released_sizes(full):
    assert (len(full.train), len(full.validation), len(full.test)) == (82_622, 4_860, 9_721)
    assert CorpusSettings(size=100_000).sizes == (85_000, 5_000, 10_000)


def test_every_target_is_the_meaning_of_its_source(full):
    assert all(by_hand(source) == target for source, target in items(full))


def test_no_string_argument_occurs_twice(full):
    strings = [string for source, _ in items(full) for string in string_arguments(source)]
    assert len(strings) > 250_000
    assert len(set(strings)) == len(strings) == len(full.string_arguments)
    lengths = {len(string.split()) for string in strings}
    assert lengths == {2, 3, 4, 5}
    assert len({letter for string in strings for letter in string.split()}) == 520


def test_all_pairs_are_distinct(full):
    assert len(set(items(full))) == len(items(full))


def test_lengths_and_depths_are_those_of_the_released_data(full):
    found = statistics(full.validation.sources + full.test.sources)
    assert found.depth.mean == pytest.approx(4.40, abs=0.06) and found.depth.deviation == pytest.approx(2.03, abs=0.06)
    assert found.length.mean == pytest.approx(18.3, abs=0.3) and found.depth.smallest == 1
    # A random 14,581 of the corpus; the whole of it has a distance below 1e-4.
    assert found.histogram.distance(released_histogram()) < 0.06


def test_the_whole_corpus_has_the_histogram_asked_for():
    made = corpus(2, CorpusSettings(size=5_000))
    histogram = JointHistogram.of(source for source, _ in items(made))
    assert histogram.distance(released_histogram()) < 0.02


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    settings = CorpusSettings(size=500)
    np.random.seed(3)  # the global state must neither matter nor change
    before = repr(np.random.get_state())
    assert digest(corpus(7, settings)) == digest(corpus(7, settings)) == "94c58d110aba195c"
    assert digest(corpus(8, settings)) != "94c58d110aba195c"
    assert repr(np.random.get_state()) == before


def test_sizes_as_the_grammar_gives_them_are_as_in_version_1():
    """The corpus of the preset `quick`: what is on record of it stays comparable."""
    quick: Any = tasks.get("pcfg_set/task_accuracy")
    made = quick(size=600, letters=60, deepest=3, naturalised=False).corpus(0)
    assert digest(made) == "1ff596565ea266ca"


def test_a_corpus_of_ones_own():
    language = Language(
        parse_functions("middle x -> x[1:-1] x[::2]\nback x -> x[::-1]\nzip x , y -> y[-2:] x[:1]"),
        [f"w{i}" for i in range(50)],
    )
    target = JointHistogram({(n, d): 1 for n, d in itertools.product(range(6, 14), (1, 2, 3))})
    settings = CorpusSettings(
        size=400,
        language=language,
        productions=uniform_productions(language, unary=0.5, function=0.4, string_lengths=(3, 6)),
        histogram=target,
        test=0.25,
    )
    made = corpus(0, settings)
    assert (len(made.train), len(made.validation), len(made.test)) == (280, 20, 100)
    assert all(interpret(source, language) == goal for source, goal in items(made))
    strings = [string for source, _ in items(made) for string in string_arguments(source, language)]
    assert len(set(strings)) == len(strings) and {len(string.split()) for string in strings} == {3, 4, 5, 6}
    assert statistics([source for source, _ in items(made)], language).depth.largest == 3


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"size": 3}, "A corpus of 3 gives splits of (2, 0, 1) items"),
        ({"validation": 0.6, "test": 0.5}, "must leave something to train on"),
        ({"test": -0.1}, "must not be negative"),
    ],
)
def test_settings_that_make_no_corpus(changes, text):
    with pytest.raises(UsageError) as error:
        CorpusSettings(**changes)
    assert text in str(error.value)


def test_letters_run_out():
    language = Language(parse_functions("copy x -> x\nappend x , y -> x y"), "abc")
    settings = CorpusSettings(
        size=1_000, language=language, productions=uniform_productions(language, unary=0.5, function=0.3)
    )
    with pytest.raises(UsageError, match="Use more letters, longer strings or a smaller corpus"):
        corpus(0, settings)
