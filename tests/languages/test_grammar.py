"""The grammar engine against slow and obvious computations on sets of short strings."""

import collections
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from humboldt.errors import UsageError
from humboldt.languages.grammar import Grammar, Rule

LONGEST = 4
String = tuple[str, ...]


@st.composite
def grammars(draw) -> Grammar:
    """Small grammars, ambiguous, with empty rules and cycles."""
    rules = []
    for head in ("S", "A"):
        bodies = draw(st.lists(st.lists(st.sampled_from("SAab"), max_size=3), min_size=1, max_size=4))
        shares = draw(st.lists(st.integers(1, 6), min_size=len(bodies), max_size=len(bodies)))
        rules += [Rule(head, tuple(body), share / sum(shares)) for body, share in zip(bodies, shares, strict=True)]
    try:
        return Grammar(rules, alphabet="ab")
    except UsageError:
        assume(False)
        raise


def sets_of_strings(grammar: Grammar) -> tuple[dict[str, set[String]], dict[str, set[String]]]:
    """By growing sets until nothing changes: all strings up to `LONGEST` of each nonterminal, and all beginnings."""
    heads = grammar.by_head

    def joined(parts: list[set[String]]) -> set[String]:
        found: set[String] = {()}
        for part in parts:
            found = {x + y for x in found for y in part if len(x + y) <= LONGEST}
        return found

    def grow(step) -> dict[str, set[String]]:
        known: dict[str, set[String]] = {head: set() for head in heads}
        while True:
            grown = {head: set().union(*(step(rule.body, known) for rule in heads[head])) for head in heads}
            if grown == known:
                return known
            known = grown

    # Whether a nonterminal derives anything at all must not depend on LONGEST.
    ending: set[str] = set()
    for _ in heads:
        ending |= {r.head for r in grammar.rules if all(s in ending or s not in heads for s in r.body)}
    full = grow(lambda body, known: joined([known.get(s, {(s,)}) for s in body]))

    def beginnings(body: String, known: dict[str, set[String]]) -> set[String]:
        if any(symbol in heads and symbol not in ending for symbol in body):
            return set()
        found: set[String] = {()}
        for k, symbol in enumerate(body):
            found |= joined([*(full.get(s, {(s,)}) for s in body[:k]), known.get(symbol, {(), (symbol,)})])
        return found

    return full, grow(beginnings)


@given(grammars())
@settings(max_examples=150, deadline=None)
def test_enumeration_and_valid_next_against_sets(grammar):
    full, beginnings = sets_of_strings(grammar)
    expected = sorted(full["S"], key=lambda string: (len(string), string))
    assert list(grammar.strings(LONGEST)) == expected
    for length in range(LONGEST):
        for prefix in itertools.product("ab", repeat=length):
            if prefix not in beginnings["S"]:
                with pytest.raises(UsageError):
                    grammar.valid_next(prefix)
                continue
            follows = {symbol for symbol in "ab" if (*prefix, symbol) in beginnings["S"]}
            assert grammar.valid_next(prefix) == follows | ({"#"} if prefix in full["S"] else set())
            assert grammar.accepts(prefix) == (prefix in full["S"])


@given(grammars())
@settings(max_examples=60, deadline=None)
def test_probability_against_fixed_point(grammar):
    longest = 3
    known: dict[str, dict[String, float]] = {head: {} for head in grammar.by_head}
    for _ in range(3000):
        grown: dict[str, dict[String, float]] = {}
        for head, rules in grammar.by_head.items():
            total: dict[String, float] = collections.defaultdict(float)
            for rule in rules:
                partial: dict[String, float] = {(): rule.probability}
                for symbol in rule.body:
                    following: dict[String, float] = collections.defaultdict(float)
                    for (x, p), (y, q) in itertools.product(
                        partial.items(), known.get(symbol, {(symbol,): 1.0}).items()
                    ):
                        if len(x + y) <= longest:
                            following[x + y] += p * q
                    partial = following
                for string, p in partial.items():
                    total[string] += p
            grown[head] = dict(total)
        change = max(
            (abs(p - known[head].get(string, 0)) for head in grown for string, p in grown[head].items()), default=0
        )
        known = grown
        if change < 1e-13:
            break
    else:
        assume(False)  # the slow computation converges too slowly for critical grammars
    mass = 0.0
    for string in itertools.chain.from_iterable(itertools.product("ab", repeat=n) for n in range(longest + 1)):
        value = grammar.probability(string)
        assert value == pytest.approx(known["S"].get(string, 0), abs=1e-9)
        assert (value > 0) == grammar.accepts(string)
        mass += value
    assert mass <= 1 + 1e-9


def test_catalan_numbers():
    dyck = Grammar.parse("S -> ( S ) S [0.3] | [0.7]")
    counts = [sum(1 for _ in dyck.of_length(length)) for length in range(13)]
    assert counts == [math.comb(n, n // 2) // (n // 2 + 1) if n % 2 == 0 else 0 for n in range(13)]


def test_hand_computed_probabilities():
    # "a a a" has two derivations with three S -> S S ... ; 0.4 * 0.4 * 0.6^3 each.
    twice = Grammar.parse("S -> S S [0.4] | a [0.6]")
    assert twice.probability("aaa") == pytest.approx(2 * 0.4**2 * 0.6**3)
    # A cycle: S -> S any number of times first.
    assert Grammar.parse("S -> S [0.75] | a [0.25]").probability("a") == pytest.approx(1)
    # e = 0.5 e^2 + 0.3
    assert Grammar.parse("S -> S S [0.5] | [0.3] | a [0.2]").probability("") == pytest.approx(1 - math.sqrt(0.4))
    assert twice.probability("ab") == 0


def test_parts_that_never_end_or_are_never_anything():
    idle = Grammar.parse("S -> a E [0.5] | N [0.5]\nE -> E E [0.5] | [0.5]\nN -> N")
    assert idle.probability("a") == pytest.approx(0.5, abs=1e-6)
    assert idle.valid_next("a") == {"#"}


def test_the_critical_empty_probability():
    assert Grammar.parse("S -> S S [0.5] | [0.5]").probability("") == pytest.approx(1, abs=1e-6)


def test_expected_length_and_entropy():
    dyck = Grammar.parse("S -> ( S ) S [0.3] | [0.7]")
    assert dyck.expected_length() == pytest.approx(2 * 0.3 / (1 - 0.6))
    nested = Grammar.parse("S -> a S b [0.3] | c A [0.7]\nA -> d [0.25] | [0.75]")
    chances = [nested.probability(string) for string in nested.strings(40)]
    assert sum(chances) == pytest.approx(1)
    assert nested.entropy() == pytest.approx(-sum(p * math.log2(p) for p in chances))
    assert nested.expected_length() == pytest.approx(
        sum(p * len(string) for p, string in zip(chances, nested.strings(40), strict=True))
    )
    assert Grammar.parse("S -> ( S ) S [0.5] | [0.5]").expected_length() == math.inf


def test_sampling_follows_probabilities_and_needs_no_global_state():
    grammar = Grammar.parse("S -> a S b [0.3] | A A [0.7]\nA -> c [0.5] | [0.5]")
    before = pickle.dumps(np.random.get_state())
    count = 4000
    seen = collections.Counter(tuple(grammar.sample(rng)) for rng in [np.random.RandomState(3)] for _ in range(count))
    assert pickle.dumps(np.random.get_state()) == before
    for string in grammar.strings(4):
        expected = count * grammar.probability(string)
        assert abs(seen[string] - expected) < 5 * math.sqrt(expected) + 1


def test_sampling_draws_once_for_single_rules_too():
    rng, twin = np.random.RandomState(0), np.random.RandomState(0)
    Grammar.parse("S -> a A\nA -> b").sample(rng)
    twin.random_sample(2)
    assert rng.random_sample() == twin.random_sample()


def test_long_prefixes_stay_quick_and_exact():
    grammar = Grammar.parse("S -> a S b [0.7] | [0.3]")
    prefix = "a" * 3000 + "b" * 2999
    assert grammar.valid_next(prefix) == {"b"}
    assert grammar.valid_next(prefix + "b") == {"#"}


@pytest.mark.parametrize(
    "text, message",
    [
        ("S - a", r"Line 1, `S - a`, does not begin with a head and `->`"),
        ("S -> a [0.5] | b [0.6]", r"Line 1, rules `S -> a \[0.5\] \| b \[0.6\]`, .* sum to 1.1.*must sum to 1"),
        ("S -> A\nA -> a [0.4] | [0.5]", r"Line 2, rules"),
        ("S -> a | b", r"Line 1, rule `S -> a`, has no probability"),
        ("S -> a [0.5] b [0.5]", r"more than one rule"),
        ("S -> a [1..0]", r"not a number"),
        ("S -> a [0] | b [1]", r"not in \(0, 1\]"),
        ("S -> a S", r"'S' derives no finite string"),
        ("", r"no rule"),
        ("S -> # a", r"'#', but it marks the boundary"),
    ],
)
def test_wrong_grammars(text, message):
    with pytest.raises(UsageError, match=message):
        Grammar.parse(text)


def test_a_terminal_outside_the_alphabet():
    with pytest.raises(UsageError, match="'b', but it is not in the alphabet"):
        Grammar.parse("S -> a b", alphabet="a")


def test_a_prefix_outside_names_the_position():
    with pytest.raises(UsageError, match=r"at position 2, after '\( \)', comes '\)', where only '#' or '\('"):
        Grammar.parse("S -> ( S ) S [0.3] | [0.7]").valid_next("())")


def test_a_derivation_that_does_not_end():
    grammar = Grammar.parse("S -> S S [0.9] | a [0.1]")
    with pytest.raises(UsageError, match="had not ended after 1,000 expansions"):
        grammar.sample(np.random.RandomState(0), most_expansions=1000)
