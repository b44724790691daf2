"""What holds for every pseudo-language: recogniser against definition, samplers against recogniser, negatives."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humboldt.errors import UsageError
from humboldt.languages import ProblemKind
from humboldt.languages.syntax.base import choose

from .helpers import NAMES, categories, decode, make, skeletons, strings


@pytest.mark.parametrize("name", NAMES)
def test_declares_a_classification(name):
    task = make(name, terminals=3)
    assert task.problem is ProblemKind.CLASSIFICATION
    assert task.output_alphabet.symbols == ("ungrammatical", "grammatical")
    assert task.symbol_categories is not None
    assert len(task.input_alphabet) == 3 * len(task.categories) == len(task.symbol_categories)
    for symbol, category in zip(task.input_alphabet.symbols, task.symbol_categories, strict=True):
        assert symbol.startswith(task.categories[category] + "_")


@pytest.mark.parametrize("name", NAMES)
def test_oracle_agrees_with_the_worked_examples(name):
    task = make(name)
    for string, answer in task.examples:
        assert task.oracle(string.split()) == [answer]


@pytest.mark.parametrize("name", NAMES)
def test_recogniser_equals_the_definition_on_all_short_strings(name):
    """All strings over the alphabet with one or two terminals, up to the length that still takes a second."""
    terminals, longest = (2, 6) if len(make(name).categories) == 2 else (1, 4)
    task = make(name, terminals=terminals)
    for length in range(longest + 1):
        language = strings(name, length, terminals)
        for string in itertools.product(task.input_alphabet.symbols, repeat=length):
            assert task.accepts(string) == (string in language)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("distribution", ["zipf", "uniform"])
def test_positives_are_all_strings_of_the_language(name, distribution):
    task = make(name, terminals=2, distribution=distribution)
    length = 4
    language = strings(name, length, 2)
    tokens = task.positives(np.random.default_rng(0), np.full(60 * len(language), length))
    assert set(decode(task, tokens, np.full(len(tokens), length))) == language


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), terminals=st.integers(1, 40), data=st.data())
def test_samplers_against_the_recogniser(name, seed, terminals, data):
    task = make(name, terminals=terminals, distribution=data.draw(st.sampled_from(["zipf", "uniform"])))
    low = data.draw(st.integers(2, 20))
    high = data.draw(st.integers(low + 1, low + 30))
    rng = np.random.default_rng(seed)
    lengths = rng.choice(task.lengths_between(low, high), 20)
    good = task.positives(rng, lengths)
    bad, bad_lengths = task.negatives(rng, good, lengths, (low, high))
    assert all(task.accepts(string) for string in decode(task, good, lengths))
    assert not any(task.accepts(string) for string in decode(task, bad, bad_lengths))
    assert ((low <= bad_lengths) & (bad_lengths <= high)).all()
    for tokens, counts in ((good, lengths), (bad, bad_lengths)):
        assert tokens.dtype == np.int32
        assert not tokens[np.arange(tokens.shape[1]) >= counts[:, None]].any()


@pytest.mark.parametrize("name", NAMES)
def test_positives_have_categories_uniform_over_the_skeletons(name):
    task = make(name, terminals=3)
    drawn = decode(task, task.positives(np.random.default_rng(1), np.full(5000, 4)), np.full(5000, 4))
    found, counts = np.unique([" ".join(categories(string)) for string in drawn], return_counts=True)
    assert set(found) == {" ".join(skeleton) for skeleton in skeletons(name, 4)}
    expected = 5000 / len(found)
    assert ((counts - expected) ** 2 / expected).sum() < 60  # 24 degrees of freedom at most: far in the tail


@pytest.mark.parametrize("name", NAMES)
def test_padding_of_the_positives_changes_nothing(name):
    task = make(name)
    lengths = np.full(50, 6)
    good = task.positives(np.random.default_rng(0), lengths)
    plain = task.negatives(np.random.default_rng(5), good, lengths, (4, 9))
    padded = task.negatives(
        np.random.default_rng(5), np.pad(good, ((0, 0), (0, 7)), constant_values=3), lengths, (4, 9)
    )
    np.testing.assert_array_equal(plain[0], padded[0])
    np.testing.assert_array_equal(plain[1], padded[1])


@pytest.mark.parametrize("name", NAMES)
def test_randomness_comes_from_the_generator_alone(name):
    task = make(name)
    state = np.random.get_state()[1].copy()  # pyright: ignore
    draws = [task.positives(np.random.default_rng(seed), np.full(20, 8)) for seed in (7, 7, 8)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()
    np.testing.assert_array_equal(state, np.random.get_state()[1])  # pyright: ignore


@pytest.mark.parametrize("name", NAMES)
def test_nothing_asked_nothing_given(name):
    task = make(name)
    rng = np.random.default_rng(0)
    none = np.zeros(0, int)
    good = task.positives(rng, none)
    bad, lengths = task.negatives(rng, good, none, (4, 30))
    assert len(good) == len(bad) == len(lengths) == 0


def test_choose_takes_every_set_equally_often():
    eligible = np.tile([True, False, True, True, True], (6000, 1))
    chosen = choose(np.random.default_rng(0), eligible, np.full(6000, 2))
    assert not chosen[:, 1].any()
    assert (chosen.sum(1) == 2).all()
    sets, counts = np.unique(chosen @ (1 << np.arange(5)), return_counts=True)
    assert len(sets) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 25  # 5 degrees of freedom


@pytest.mark.parametrize("name", NAMES[1:])
def test_odd_lengths_are_refused(name):
    with pytest.raises(UsageError, match=r"no string of length 7\. Its lengths are 0, 2, 4 and so on"):
        make(name).positives(np.random.default_rng(0), np.array([6, 7]))


def test_the_empty_string_has_no_noun():
    with pytest.raises(UsageError, match=r"no string of length 0\. Its lengths are 1, 2, 3"):
        make("adj_n_np").positives(np.random.default_rng(0), np.array([0]))


@pytest.mark.parametrize("symbol", ["ADJ_10", "ADJ_-1", "ADJ_01", "ADJ", "VP_0", "", "ADJ_²", "ADJ_٣", "NP1_0"])
def test_unknown_symbols_are_named(symbol):
    with pytest.raises(UsageError, match=r"at position 1 is not in the alphabet: .* a number from 0 to 9"):
        make("adj_n_np").accepts(["ADJ_0", symbol, "NP_0"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("within", [(1, 5), (9, 8), (-3, 4)])
def test_ranges_without_negatives_are_refused(name, within):
    with pytest.raises(UsageError, match="Use 2 <= first <= last"):
        make(name).check_range(within)


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_range_without_strings_is_refused(name):
    with pytest.raises(UsageError, match=r"no string of a length from 5 to 5\. .*widen the range"):
        make(name).check_range((5, 5))


def test_a_positive_outside_the_range_is_refused():
    task = make("np_n_vp_n")
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="A positive has length 8, which is not within"):
        task.negatives(rng, task.positives(rng, np.array([8])), np.array([8]), (4, 6))
