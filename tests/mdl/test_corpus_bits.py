import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humboldt.errors import UsageError
from humboldt.mdl.activations import ACTIVATIONS, apply_activation
from humboldt.mdl.corpus_bits import (
    NO_CLIP,
    SEARCH_CLIP,
    data_bits,
    data_bits_slow,
    description_length,
    step_slow,
)
from humboldt.mdl.network import Edge, Network, Unit, Weight, published_networks
from humboldt.mdl.trie import build_trie

from .helpers import an_bn_grammar, dyck_1_grammar, networks, sample, trie_of

AB = ("#", "a", "b")
random_tries = st.builds(
    lambda strings: build_trie(strings, 3),
    st.lists(st.lists(st.integers(1, 2), max_size=7), min_size=1, max_size=8),
)


def test_activations_are_the_same_bits_compiled_and_plain():
    compiled = apply_activation
    for number in range(len(ACTIVATIONS)):
        for scale in (1e-9, 1e-3, 1.0, 30.0, 1e4):
            for x in np.random.default_rng(number).normal(size=200) * scale:
                assert compiled(number, float(x)) == compiled.py_func(number, float(x))


@pytest.mark.parametrize(
    ("activation", "at", "value"),
    [
        ("linear", -2.5, -2.5),
        ("relu", -2.5, 0.0),
        ("relu", 2.5, 2.5),
        ("tanh", 0.5, math.tanh(0.5)),
        ("sigmoid", 0.0, 0.5),
        ("sigmoid", -1e6, 0.0),
        ("sigmoid", 1e6, 1.0),
        ("square", -3.0, 9.0),
        ("floor", -0.5, -1.0),
        ("step", 0.0, 0.0),
        ("step", 0.1, 1.0),
        ("modulo_2", -0.5, 1.5),
        ("modulo_2", 5.0, 1.0),
        ("modulo_3", 5.0, 2.0),
    ],
)
def test_activation_values(activation, at, value):
    assert apply_activation(ACTIVATIONS.index(activation), at) == value


def test_figure_4_by_hand():
    network = published_networks()["an_bn_figure_4"]
    # # a a b b: h = 0, 1/2, 1, 1/2, 0
    state, distributions = None, []
    for symbol in (0, 1, 1, 2, 2):
        state, distribution = step_slow(network, state, symbol)
        distributions.append(distribution)
    b_1, b_2 = math.tanh(1.5), math.tanh(3.0)
    assert distributions == [
        [0.0, 1.0, 0.0],
        [0.0, 3 / (3 + b_1), b_1 / (3 + b_1)],
        [0.0, 3 / (3 + b_2), b_2 / (3 + b_2)],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
    ]
    trie = build_trie([[1, 1, 2, 2]], 3)
    assert data_bits(network, trie) == -math.log2(3 / (3 + b_1)) - math.log2(b_2 / (3 + b_2))


def test_dyck_1_by_hand():
    network = published_networks()["dyck_1"]
    half, three = math.tanh(0.5), math.tanh(3.0)
    # # ( ): h = 0, 1, 0; # = 1 - h, ( = tanh(1/2), ) = tanh(3 h)
    expected = -math.log2(half / (1 + half)) - math.log2(three / (half + three)) - math.log2(1 / (1 + half))
    assert data_bits(network, build_trie([[1, 2]], 3)) == pytest.approx(expected, rel=1e-15)


def test_all_zero_outputs_are_uniform_and_negative_ones_count_as_zero():
    silent = Network(AB, (Unit(),) * 6, ())
    assert step_slow(silent, None, 0)[1] == [1 / 3] * 3
    assert data_bits(silent, build_trie([[1]], 3)) == -2 * math.log2(1 / 3)
    biased = [Unit(bias=Weight.parse(w)) for w in ("-5", "1", "3")]
    negative = Network(AB, (*[Unit()] * 3, *biased), ())
    assert step_slow(negative, None, 0)[1] == [0.0, 0.25, 0.75]


def test_an_impossible_symbol_makes_the_length_infinite():
    trie = trie_of(["ab", "ba"], AB)
    figure_4 = published_networks()["an_bn_figure_4"]
    assert data_bits(figure_4, trie) == data_bits_slow(figure_4, trie) == math.inf


def test_product_units_multiply_and_skip_what_has_not_happened_yet():
    # unit 6 = (2 a) * (h of the step before) + 1; at the first step the recurrent edge is absent
    units = (*[Unit()] * 6, Unit(type="product", bias=Weight.parse("1")))
    network = Network(AB, units, (Edge(1, 6, Weight.parse("2")), Edge(6, 6, recurrent=True)))
    values, _ = step_slow(network, None, 1)
    assert values[6] == 3.0
    values, _ = step_slow(network, values, 1)
    assert values[6] == 2 * 3 + 1
    values, _ = step_slow(network, values, 2)
    assert values[6] == 1.0
    alone = Network(AB, units, (Edge(6, 6, recurrent=True),))
    values, _ = step_slow(alone, None, 1)
    assert values[6] == 1.0  # no input at all: 0, plus the bias


def test_values_are_clipped_before_the_activation_in_the_search_only():
    units = (*[Unit()] * 6, Unit("square"))
    network = Network(AB, units, (Edge(1, 6, Weight.parse("2000")), Edge(6, 6, recurrent=True)))
    values, _ = step_slow(network, None, 1, SEARCH_CLIP)
    assert values[6] == 4e6
    values, _ = step_slow(network, values, 1, SEARCH_CLIP)
    assert values[6] == 1e12
    values, _ = step_slow(network, [0.0] * 6 + [4e6], 1, NO_CLIP)
    assert values[6] == (4e6 + 2000) ** 2


@settings(max_examples=400, deadline=None)
@given(networks(), random_tries)
def test_compiled_evaluation_is_the_slow_one_bit_for_bit(network, trie):
    assert data_bits(network, trie) == data_bits_slow(network, trie)


@settings(max_examples=200, deadline=None)
@given(networks(any_edges=False), random_tries)
def test_the_same_for_networks_of_the_kind_a_search_makes(network, trie):
    assert data_bits(network, trie) == data_bits_slow(network, trie)


@settings(max_examples=100, deadline=None)
@given(networks(), st.lists(st.lists(st.integers(1, 2), max_size=6), min_size=1, max_size=6))
def test_the_trie_gives_what_the_strings_give_one_by_one(network, strings):
    bits = 0.0
    for string in strings:
        state = None
        for read, target in zip([0, *string], [*string, 0], strict=True):
            state, distribution = step_slow(network, state, read, SEARCH_CLIP)
            p = distribution[target]
            bits += -math.log2(p) if p > 0 else math.inf
    assert data_bits(network, build_trie(strings, 3)) == pytest.approx(bits, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "grammar", "count", "symbols", "grammar_bits", "data_bits"),
    # Measured, and equal to the slow evaluation above; the optimum of the a^n b^n corpus's own grammar is 308.3 bits.
    [
        ("an_bn_figure_4", an_bn_grammar(), 100, AB, 178, 309.47703416796423),
        ("dyck_1", dyck_1_grammar(), 500, ("#", "(", ")"), 145, 1164.5905476115588),
    ],
)
def test_description_length_of_the_published_networks(name, grammar, count, symbols, grammar_bits, data_bits):
    trie = trie_of(sample(grammar, count), symbols)
    length = description_length(published_networks()[name], trie)
    assert length.grammar == grammar_bits
    assert length.data == pytest.approx(data_bits, rel=1e-12)
    assert length.total == length.grammar + length.data


def test_a_network_of_another_alphabet_is_refused():
    with pytest.raises(UsageError, match="reads 3 symbols"):
        data_bits(published_networks()["dyck_1"], build_trie([[1, 3]], 4))
