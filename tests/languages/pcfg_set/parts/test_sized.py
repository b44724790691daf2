"""Trees with probabilities of their own: against sums over all trees, and against the authors' procedure, literally."""

from collections import Counter, defaultdict
from contextlib import suppress
from functools import cache
from math import factorial

import numpy as np
import pytest
from scipy.stats import chi2

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    JointHistogram,
    Language,
    RandomProductions,
    depth,
    length,
    parse_functions,
    string_arguments,
)
from humboldt.languages.pcfg_set.parts.naturalise import skeletons
from humboldt.languages.pcfg_set.parts.sized import SizedTrees, distinct

SMALL = Language(parse_functions("one x -> x\ntwo x , y -> x y\nalso x -> x"), "a")
FUNCTIONS = {"one": 0.7, "also": 0.3, "two": 1.0}
PRODUCTIONS = RandomProductions(FUNCTIONS, {1: 0.5, 2: 0.5}, {2: 1.0}, early=2.0)


@cache
def applications(tokens: int) -> list[str]:
    """Every application of so many tokens, by trying all ways to divide them."""
    unary = [f"{name} {x}" for name in ("one", "also") for x in arguments(tokens - 1)]
    binary = [
        f"two {x} , {y}"
        for first in range(1, tokens - 2)
        for x in arguments(first)
        for y in arguments(tokens - 2 - first)
    ]
    return unary + binary


@cache
def arguments(tokens: int) -> list[str]:
    if tokens < 1:
        return []
    return [*(["a"] if tokens == 1 else ["a a"] if tokens == 2 else []), *applications(tokens)]


def probability(text: str) -> float:
    """Of a tree whose two chances are uniform in [0, 1]: the integrals are Beta functions."""
    a, b = text.count("one") + text.count("also"), text.count("two")
    shape = factorial(a) * factorial(b) / factorial(a + b + 1)  # u^a (1 - u)^b
    shape *= factorial(a + b - 1) * factorial(b + 1) / factorial(a + 2 * b + 1)  # f^(a + b - 1) (1 - f)^(b + 1)
    return shape * 0.7 ** text.count("one") * 0.3 ** text.count("also") * 0.5 ** len(string_arguments(text, SMALL))


def test_the_grid_is_exact():
    longest, deepest = 9, 6
    trees = SizedTrees.random(PRODUCTIONS.given(0.5, 0.5), longest, deepest, SMALL)
    expected: defaultdict[tuple[int, int], float] = defaultdict(float)
    for tokens in range(2, longest + 1):
        for text in applications(tokens):
            expected[tokens, depth(text, SMALL)] += probability(text)
    assert len(expected) > 20 and len(applications(longest)) > 1_000
    for n in range(longest + 1):
        for d in range(deepest + 1):
            assert trees.rate(n, d) == pytest.approx(expected[n, d], rel=1e-12)


def test_large_trees_have_the_right_weight_too():
    """The largest sizes of the released corpus: a grid that were too coarse would miss them."""
    trees = SizedTrees.random(PRODUCTIONS.given(0.5, 0.5), 71, 40, SMALL)
    for a in (5, 20, 39):  # unary functions and a string of one letter: the only trees that are so deep and so short
        expected = 0.5 * factorial(a) / factorial(a + 1) * factorial(a - 1) / factorial(a + 1)
        assert trees.rate(a + 1, a) == pytest.approx(expected, rel=1e-9)


def test_draws_of_one_size_have_the_conditional_distribution():
    cell = (8, 3)
    weights = {text: probability(text) for text in applications(8) if depth(text, SMALL) == 3}
    count, total = 40_000, sum(weights.values())
    trees = SizedTrees.random(PRODUCTIONS.given(0.5, 0.5), 9, 4, SMALL)
    rng = np.random.default_rng(0)
    productions = RandomProductions(FUNCTIONS, {1: 0.5, 2: 0.5})
    drawn = Counter(skeletons(rng, count, productions, JointHistogram({cell: 1}), SMALL).texts())
    assert trees.rate(*cell) == pytest.approx(total) and drawn.keys() <= weights.keys() and len(weights) > 50
    value = sum((drawn[text] - count * p / total) ** 2 / (count * p / total) for text, p in weights.items())
    assert chi2.sf(value, len(weights) - 1) > 1e-4
    # One set of probabilities for all trees would be told apart.
    fixed = Counter(skeletons(rng, count, productions.given(0.5, 0.5), JointHistogram({cell: 1}), SMALL).texts())
    value = sum((fixed[text] - count * p / total) ** 2 / (count * p / total) for text, p in weights.items())
    assert chi2.sf(value, len(weights) - 1) < 1e-12


def authors_way(rng: np.random.Generator, trees: int, short_strings: int) -> tuple[list[str], int]:
    """Trees in the order in which the authors' generator draws them, and how many before short strings ran out.

    Every tree has new chances. A string of one letter is used up by the tree that it is drawn for, also where the tree
    grows too deep and is thrown away.
    """
    left = short_strings

    def application(unary: float, function: float, level: int) -> list[str]:
        if level > 12:
            raise OverflowError
        if rng.random() < unary:
            return ["one" if rng.random() < 0.7 else "also", *argument(unary, function, level)]
        first = argument(unary, function, level)
        return ["two", *first, ",", *argument(unary, function, level)]

    def argument(unary: float, function: float, level: int) -> list[str]:
        nonlocal left
        if rng.random() < function:
            return application(unary, function, level + 1)
        while rng.random() < 0.5:
            if left:
                left -= 1
                return ["a"]
        return ["a", "a"]

    texts, early = [], 0
    for i in range(trees):
        early = i if left else early
        with suppress(OverflowError):
            texts.append(" ".join(application(rng.random(), rng.random(), 1)))
    return texts, early + 1


def test_the_shortcut_is_the_authors_procedure():
    """Their trees, resampled to a histogram, and ours: by size, each tree with the same frequency."""
    rng = np.random.default_rng(4)
    texts, early = authors_way(rng, 60_000, 8_000)
    target = Counter({(4, 2): 2500, (5, 1): 300, (5, 3): 900, (6, 2): 100, (7, 2): 1500, (7, 3): 50})
    by_size: dict[tuple[int, int], list[str]] = {size: [] for size in target}
    for text in texts:
        size = length(text), depth(text, SMALL)
        if size in by_size:
            by_size[size].append(text)
    assert all(len(by_size[size]) >= count for size, count in target.items()), {s: len(t) for s, t in by_size.items()}
    count = target.total()
    slow = Counter(text for size, found in by_size.items() for text in found[: target[size]])
    productions = RandomProductions(FUNCTIONS, {1: 0.5, 2: 0.5}, {2: 1.0}, early / count)
    copies = 20
    fast = Counter(skeletons(rng, copies * count, productions, JointHistogram(target), SMALL).texts())
    assert _p(slow, fast) > 1e-3
    for fault in (
        RandomProductions(FUNCTIONS, {1: 0.5, 2: 0.5}),
        RandomProductions(FUNCTIONS, {2: 1.0}),
        productions.given(0.5, 0.5),
    ):
        assert _p(slow, Counter(skeletons(rng, copies * count, fault, JointHistogram(target), SMALL).texts())) < 1e-6


def _p(first: Counter[str], second: Counter[str]) -> float:
    """Of Pearson's test for two samples; trees that are expected fewer than five times count as one."""
    a, b = first.total(), second.total()
    common = [key for key in first | second if (first[key] + second[key]) * min(a, b) / (a + b) >= 5]
    pairs = [(first[key], second[key]) for key in common]
    pairs.append((a - sum(n for n, _ in pairs), b - sum(m for _, m in pairs)))
    value = sum((n * np.sqrt(b / a) - m * np.sqrt(a / b)) ** 2 / (n + m) for n, m in pairs if n + m)
    assert len(common) > 15
    return float(chi2.sf(value, len(common)))


def test_sizes_without_late_trees_are_early_and_the_other_way_round():
    target = JointHistogram({(2, 1): 1, (3, 1): 1})  # one token for the function, so a string of one or two letters
    for early, late in (({1: 0.5, 2: 0.5}, {2: 1.0}), ({2: 1.0}, {1: 0.5, 2: 0.5})):
        for number in (0.0, 1e-9, 1e9, np.inf):
            productions = RandomProductions(FUNCTIONS, early, late, number)
            trees = skeletons(np.random.default_rng(0), 20, productions, target, SMALL)
            assert Counter(map(tuple, trees.pairs().tolist())) == {(2, 1): 10, (3, 1): 10}


def test_distinct_sizes():
    pairs = np.array([[4, 2], [3, 1], [4, 2], [3, 11]])
    sizes, size_of = distinct(pairs)
    assert sizes.tolist() == [[3, 1], [3, 11], [4, 2]] and size_of.tolist() == [2, 0, 2, 1]


def test_what_is_refused():
    with pytest.raises(UsageError, match="early = -1: the number of early trees for each tree must not be negative"):
        RandomProductions(FUNCTIONS, {2: 1.0}, {3: 1.0}, -1)
    with pytest.raises(UsageError, match=r"sum to 1, not to 0.5"):
        RandomProductions(FUNCTIONS, {2: 1.0}, {3: 0.5})
