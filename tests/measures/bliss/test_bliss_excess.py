"""Excess cross-entropy against sums over strings."""

import math

import numpy as np
import pytest

from humboldt.core.stepping import FromPrefixes
from humboldt.errors import UsageError
from humboldt.languages.bliss import NAMES, get
from humboldt.measures.bliss import Oracle, Uniform, evaluate, excess_cross_entropy


@pytest.mark.parametrize("name", NAMES)
def test_the_language_itself_has_none(name):
    language = get(name)
    found = excess_cross_entropy(language, Oracle(language, 0.2), 0.2)
    assert found.bits_per_symbol == pytest.approx(0, abs=1e-12)
    assert 0.9 < found.coverage <= 1
    other = excess_cross_entropy(language, Oracle(language, 0.3), 0.2)
    assert other.bits_per_symbol > 1e-3
    test_set = language.test_set(after=3, count=50)
    assert evaluate(test_set, Oracle(language)).test_set_divergence == pytest.approx(0, abs=1e-12)
    assert evaluate(test_set, Oracle(language, 0.2)).test_set_divergence > 1e-4


@pytest.mark.parametrize("name", ["an_bn", "an_bn_cn", "an_bm_cn_plus_m"])
def test_against_the_sum_over_strings(name):
    """(H(P, Q) - H(P)) / E|s#| with Q uniform, over so many strings that the rest does not count."""
    language, p = get(name), 0.5
    vocabulary = len(language.input_alphabet)
    numerator = symbols = mass = 0.0
    for string in language.test_set(after=0, count=1600 if name == "an_bm_cn_plus_m" else 60):
        chance = language.probability(string, p)
        mass += chance
        symbols += chance * (len(string) + 1)
        numerator += chance * (math.log2(chance) + (len(string) + 1) * math.log2(vocabulary))
    assert mass == pytest.approx(1)
    found = excess_cross_entropy(language, Uniform(vocabulary), p, smallest=1e-11)
    assert found.coverage == pytest.approx(1, abs=1e-7)
    assert found.bits_per_symbol == pytest.approx(numerator / symbols, abs=1e-6)
    assert symbols == pytest.approx(language.expected_length(p) + 1)


def test_uniform_on_dyck_by_hand():
    # Every step has the same entropy, so coverage does not matter: log2 3 - H(0.3).
    expected = math.log2(3) + 0.3 * math.log2(0.3) + 0.7 * math.log2(0.7)
    assert excess_cross_entropy(get("dyck_1"), Uniform(3)).bits_per_symbol == pytest.approx(expected)


def test_ruling_out_what_can_follow_is_infinitely_bad():
    stubborn = FromPrefixes(lambda prefixes: np.tile([0.0, 1.0, 0.0], (len(prefixes), 1)))
    found = excess_cross_entropy(get("an_bn"), stubborn)
    assert found.bits_per_symbol == math.inf and found.ruled_out > 0.5


def test_how_much_of_the_language_is_ruled_out():
    """A model that never lets the string end is wrong before the end alone: once in a string, of E|s#| symbols."""
    language = get("an_bn")
    endless = FromPrefixes(lambda prefixes: np.tile([0.0, 0.5, 0.5], (len(prefixes), 1)))
    found = excess_cross_entropy(language, endless, smallest=1e-9)
    assert found.bits_per_symbol == math.inf
    assert found.ruled_out == pytest.approx(1 / (language.expected_length() + 1), abs=1e-6)
    assert excess_cross_entropy(language, Uniform(3)).ruled_out == 0


def test_ruling_out_on_a_test_set():
    stubborn = FromPrefixes(lambda prefixes: np.tile([0.0, 1.0, 0.0], (len(prefixes), 1)))
    assert evaluate(get("an_bn").test_set(after=0, count=3), stubborn, exhaustive=True).test_set_divergence == math.inf


def test_wrong_input():
    with pytest.raises(UsageError, match="smallest = 0 is not a probability"):
        excess_cross_entropy(get("an_bn"), Uniform(3), smallest=0)
    with pytest.raises(UsageError, match="it must lie between 0 and 1"):
        excess_cross_entropy(get("an_bn"), Uniform(3), 2)
    logits = FromPrefixes(lambda prefixes: np.full((len(prefixes), 3), 1.0))
    with pytest.raises(UsageError, match=r"After '#' the model's distribution \(1, 1, 1\) sums to 3"):
        excess_cross_entropy(get("an_bn"), logits)
