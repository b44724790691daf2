"""Trees of a given size: the tables against sums over all trees, the draws against a sample that is only filtered."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from humboldt.languages.pcfg_set import (
    PCFG_SET,
    JointHistogram,
    Language,
    Productions,
    depth,
    length,
    num_functions,
    parse_functions,
    string_arguments,
)
from humboldt.languages.pcfg_set.parts.naturalise import free_skeletons, skeletons
from humboldt.languages.pcfg_set.parts.sampling import tree_weights

SMALL = Language(parse_functions("one x -> x\ntwo x , y -> x y\nalso x -> x"), "a")
GRAMMAR = Productions(0.6, 0.45, {"one": 0.7, "also": 0.3, "two": 1.0}, {1: 0.5, 2: 0.3, 3: 0.2})


@cache
def all_arguments(longest: int) -> list[tuple[str, float]]:
    """Every argument of up to so many tokens with its probability, smallest first: no recursion on sizes or depths."""
    strings = [(" ".join("a" * n), (1 - GRAMMAR.function) * p) for n, p in GRAMMAR.string_lengths.items()]
    known = dict(strings)
    while True:
        larger = dict(strings)
        for text, p in known.items():
            for name in ("one", "also"):
                larger[f"{name} {text}"] = p * GRAMMAR.function * GRAMMAR.unary * GRAMMAR.functions[name]
        small = [(text, p, length(text)) for text, p in known.items()]
        for x, p, n in small:
            larger |= {
                f"two {x} , {y}": p * q * GRAMMAR.function * (1 - GRAMMAR.unary)
                for y, q, m in small
                if n + m + 2 <= longest
            }
        larger = {text: p for text, p in larger.items() if length(text) <= longest}
        if larger.keys() == known.keys():
            return sorted(larger.items())
        known = larger


def test_weights_are_sums_over_all_trees():
    longest = 7
    expected = np.zeros((longest, longest + 1))
    for text, p in all_arguments(longest):
        if num_functions(text, SMALL):
            expected[depth(text, SMALL), length(text)] += p / GRAMMAR.function
    chances = np.array([[0.1, GRAMMAR.unary], [0.9, GRAMMAR.function]])
    weights = tree_weights(*chances, GRAMMAR.string_weights, longest, longest - 1)
    applications, arguments, at_most = (table[1] for table in weights)  # of the second grammar
    np.testing.assert_allclose(applications, expected, atol=1e-15)
    np.testing.assert_allclose(arguments[1:], GRAMMAR.function * expected[1:], atol=1e-15)
    np.testing.assert_allclose(at_most, np.cumsum(arguments, 0), atol=1e-15)
    assert np.count_nonzero(expected) > 15


def test_draws_of_one_size_have_the_conditional_distribution():
    cell = (7, 2)
    weights = {text: p for text, p in all_arguments(7) if (length(text), depth(text, SMALL)) == cell}
    total = sum(weights.values())
    count = 40_000
    drawn = Counter(skeletons(np.random.default_rng(0), count, GRAMMAR, JointHistogram({cell: 1}), SMALL).texts())
    assert drawn.keys() <= weights.keys()
    expected = {text: count * p / total for text, p in weights.items()}
    chi_squared = sum((drawn[text] - e) ** 2 / e for text, e in expected.items())
    assert chi_squared < len(expected) + 5 * np.sqrt(2 * len(expected)), (chi_squared, len(expected))
    assert len(expected) > 20


def test_free_draws_have_the_probabilities_of_the_grammar():
    count = 60_000
    trees = free_skeletons(np.random.default_rng(1), count, GRAMMAR, 40, SMALL)
    assert len(trees) > 0.99 * count
    drawn = Counter(trees.texts())
    weights = {text: p / GRAMMAR.function for text, p in all_arguments(6) if num_functions(text, SMALL)}
    for text, p in weights.items():
        assert drawn[text] / count == pytest.approx(p, abs=5 * np.sqrt(p / count) + 1e-4)
    assert all(length(text) <= 40 for text in drawn)


def test_trees_that_grow_too_large_are_left_out():
    endless = Productions(0.5, 0.9, GRAMMAR.functions, GRAMMAR.string_lengths)
    trees = free_skeletons(np.random.default_rng(2), 2_000, endless, 12, SMALL)
    assert 0 < len(trees) < 1_000
    assert trees.pairs()[:, 0].max() <= 12
    assert all(depth(text, SMALL) == d for text, (_, d) in zip(trees.texts(), trees.pairs().tolist(), strict=True))


def test_random_probabilities_for_each_tree():
    trees = free_skeletons(np.random.default_rng(3), 5_000, None, 60)
    texts = trees.texts()
    only_unary = sum(len(string_arguments(text)) == 1 for text in texts)
    # With one fixed probability of binary functions, large trees without any would hardly occur.
    assert sum(len(string_arguments(t)) == 1 and num_functions(t) > 8 for t in texts) > 10
    assert 0.3 < only_unary / len(texts) < 0.8
    assert {token for text in texts for token in text.split()} >= {function.name for function in PCFG_SET.functions}
