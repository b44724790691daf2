"""Random grammars, and slow and obvious computations on all their strings up to a length."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np

from humboldt.languages.formal.grammar_file import Alternative, ContextFreeGrammar

String = tuple[str, ...]
Arrays = list[np.ndarray | None]  # of length 0, 1, ...: one number for each string, in lexicographic order; or zeros
CAP = 10**9  # numbers of derivations beyond it count as infinite
SYMBOLS = "ab"


def random_grammar(seed: int) -> ContextFreeGrammar:
    """Two or three heads, bodies of up to three symbols. Many are ambiguous, circular or improper; some are empty."""
    rng = random.Random(seed)
    heads = "SAB"[: rng.choice((2, 2, 3))]
    alternatives = []
    ending = rng.choice((0.0, 0.2, 0.6))  # how often a body has terminals only
    for head in heads:
        bodies = set()
        for _ in range(rng.randint(1, 4)):
            letters = SYMBOLS if rng.random() < ending else SYMBOLS + heads
            bodies.add(tuple(rng.choice(letters) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))))
        shares = [rng.randint(1, 6) for _ in bodies]
        alternatives += [
            Alternative(head, body, Fraction(share, sum(shares)))
            for body, share in zip(sorted(bodies), shares, strict=True)
        ]
    return ContextFreeGrammar(alternatives)


def numbers_of_derivations(grammar: ContextFreeGrammar, longest: int) -> dict[String, int]:
    """Of each string up to `longest`: derivation trees of height 0, 1, 2, ... until no new ones come; at most `CAP`."""

    def joined(one: dict[String, int], two: dict[String, int]) -> dict[String, int]:
        total: dict[String, int] = {}
        for (x, n), (y, m) in itertools.product(one.items(), two.items()):
            if len(x) + len(y) <= longest:
                total[x + y] = min(total.get(x + y, 0) + n * m, CAP)
        return total

    known: dict[str, dict[String, int]] = {head: {} for head in grammar.by_head}
    for _ in range(500):
        grown: dict[str, dict[String, int]] = {head: {} for head in known}
        for rule in grammar.alternatives:
            trees: dict[String, int] = {(): 1}
            for symbol in rule.body:
                trees = joined(trees, known.get(symbol, {(symbol,): 1}))
            for string, number in trees.items():
                grown[rule.head][string] = min(grown[rule.head].get(string, 0) + number, CAP)
        if grown == known:
            return known[grammar.start]
        known = grown
    # A single circle adds one derivation at each height, and so would need CAP rounds.
    return {string: number if number < 100 else CAP for string, number in known[grammar.start].items()}


def probabilities(grammar: ContextFreeGrammar, longest: int) -> tuple[float, list[np.ndarray], list[np.ndarray]]:
    """That a derivation ends; of all strings over `SYMBOLS` up to `longest`; of all beginnings of that length.

    From derivations of height 0, 1, 2, ... until nothing changes. Where a beginning is reached by the symbol number i
    of a rule, symbols before i derive a part of it exactly, and those after i derive anything. All three only grow, so
    after too few rounds none is too large, and no number lacks more than the first.
    """
    sizes = [len(SYMBOLS) ** length for length in range(longest + 1)]
    blank: Arrays = [None] * (longest + 1)
    empty: Arrays = [np.ones(1), *blank[1:]]
    ends = dict.fromkeys(grammar.by_head, 0.0)
    exact = dict.fromkeys(grammar.by_head, blank)
    begun = dict.fromkeys(grammar.by_head, blank)
    letters: dict[str, Arrays] = {
        symbol: [None, np.eye(len(SYMBOLS))[place], *blank[2:]] for place, symbol in enumerate(SYMBOLS)
    }

    def joined(one: Arrays, two: Arrays) -> Arrays:
        total = list(blank)
        for m, n in itertools.product(range(longest + 1), repeat=2):
            x, y = one[m], two[n]
            if x is not None and y is not None and m + n <= longest:
                add(total, m + n, (x[:, None] * y).ravel())
        return total

    def add(total: Arrays, length: int, array: np.ndarray | None, weight: float = 1.0) -> None:
        if array is not None:
            known = total[length]
            total[length] = weight * array if known is None else known + weight * array

    for _ in range(150):
        new_ends = dict.fromkeys(ends, 0.0)
        new_exact = {head: list(blank) for head in exact}
        new_begun = {head: list(blank) for head in begun}
        for rule in grammar.alternatives:
            weight = float(rule.weight)
            rest = [math.prod(ends.get(symbol, 1.0) for symbol in rule.body[i:]) for i in range(len(rule.body) + 1)]
            whole = empty
            for i, symbol in enumerate(rule.body):
                reached = [None, *begun.get(symbol, letters.get(symbol, blank))[1:]]
                for length, array in enumerate(joined(whole, reached)):
                    add(new_begun[rule.head], length, array, weight * rest[i + 1])
                whole = joined(whole, exact.get(symbol, letters.get(symbol, blank)))
            for length, array in enumerate(whole):
                add(new_exact[rule.head], length, array, weight)
            new_ends[rule.head] += weight * rest[0]
            add(new_begun[rule.head], 0, np.ones(1), weight * rest[0])
        change = max(abs(new_ends[head] - ends[head]) for head in ends)
        for new, old in ((new_exact, exact), (new_begun, begun)):
            for x, y in ((x, y) for head in old for x, y in zip(new[head], old[head], strict=True) if x is not None):
                change = max(change, np.abs(x).max() if y is None else np.abs(x - y).max())
        ends, exact, begun = new_ends, new_exact, new_begun
        if change < 1e-13:
            break
    first, second = (
        [np.zeros(size) if array is None else array for size, array in zip(sizes, arrays[grammar.start], strict=True)]
        for arrays in (exact, begun)
    )
    return ends[grammar.start], first, second


def spelled_out(length: int) -> list[String]:
    """All strings over `SYMBOLS`, in the order of the arrays."""
    return list(itertools.product(SYMBOLS, repeat=length))
