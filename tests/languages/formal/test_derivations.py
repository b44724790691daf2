"""Numbers of derivations and uniform samples, against all strings up to a length."""

import collections
import math

import numpy as np
import pytest
from languages.formal.brute_force import CAP, numbers_of_derivations, random_grammar, spelled_out
from scipy import stats

from humboldt.errors import UsageError
from humboldt.languages.formal.derivations import Derivations
from humboldt.languages.formal.enumeration import Strings
from humboldt.languages.formal.grammar_file import parse
from humboldt.languages.formal.lr import is_unambiguous

LONGEST = 5


def test_100_random_grammars_against_all_derivations() -> None:
    kinds: collections.Counter[str] = collections.Counter()
    for seed in range(100):
        grammar = random_grammar(seed)
        truth = numbers_of_derivations(grammar, LONGEST)
        derivations = Derivations(grammar)
        is_circular = any(number >= CAP for number in truth.values())
        kinds["circular"] += is_circular
        kinds["empty"] += not truth
        kinds["ambiguous"] += not is_circular and any(number > 1 for number in truth.values())
        if is_unambiguous(grammar):
            kinds["LR(1)"] += 1
            assert set(truth.values()) <= {1}, (seed, str(grammar))
        assert Strings(grammar).counts(LONGEST) == [sum(len(s) == n for s in truth) for n in range(LONGEST + 1)], seed
        if is_circular:
            assert derivations.circular, (seed, str(grammar))
        for length in range(LONGEST + 1):
            parses = {string: derivations.parses(string) for string in spelled_out(length)}
            assert derivations.count(length) == sum(parses.values())
            for string, number in parses.items():
                if derivations.circular:
                    assert (number > 0) == (string in truth), (seed, string)
                else:
                    assert number == truth.get(string, 0), (seed, str(grammar), string)
                assert number == derivations.parses_exact(string)
    assert kinds["circular"] >= 10 and kinds["ambiguous"] >= 15 and kinds["LR(1)"] >= 20 and kinds["empty"], kinds


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("S -> S S | a | b", 3),  # each string has two derivations
        ("S -> a S | S a | b | a", 4),  # strings have from 1 to 8
        ("S -> S S | A | \nA -> S | a | b A", 3),  # circular
        ("S -> A B\nA -> a A | \nB -> a B | b B |", 4),
    ],
)
def test_samples_are_uniform_over_derivations_and_over_strings(text: str, length: int) -> None:
    derivations = Derivations(parse(text))
    rng = np.random.default_rng(1)
    strings = list(Strings(parse(text)).of_length(length))
    parses = np.array([derivations.parses(string) for string in strings])
    assert derivations.accepted(length) == pytest.approx(len(strings) / parses.sum(), rel=0.3)
    for draw, shares in ((derivations.sample, parses / parses.sum()), (derivations.uniform, 1 / len(strings))):
        drawn = collections.Counter(draw(length, rng) for _ in range(800))
        assert set(drawn) <= set(strings)
        if len(strings) > 1:
            observed = [drawn[string] for string in strings]
            assert stats.chisquare(observed, np.broadcast_to(shares, len(strings)) * 800).pvalue > 1e-3


def test_long_strings_of_balanced_brackets() -> None:
    derivations = Derivations(parse("S -> '(' S ')' S | '[' S ']' S |"))
    catalan = math.comb(200, 100) // 101
    assert derivations.count(200) == catalan * 2**100
    assert derivations.count(201) == 0
    string = derivations.sample(200, np.random.default_rng(0))
    assert len(string) == 200 and derivations.parses(string) == 1
    assert string == derivations.sample(200, np.random.default_rng(0))


def test_numbers_beyond_floating_point_are_exact() -> None:
    derivations = Derivations(parse("S -> S S | a"))
    catalan = math.comb(68, 34) // 35
    assert catalan > 2**53
    assert derivations.parses(["a"] * 35) == derivations.count(35) == catalan


def test_where_too_few_are_accepted_uniform_refuses() -> None:
    derivations = Derivations(parse("S -> S S | a"))
    assert derivations.uniform(7, np.random.default_rng(0)) == ("a",) * 7  # 132 derivations
    with pytest.raises(UsageError, match=r"only about 1 in 58,786 draws would be accepted; the limit is 1 in 1000"):
        derivations.uniform(12, np.random.default_rng(0))
    doubling = "\n".join(f"E{i} -> E{i + 1} E{i + 1}" for i in range(11)) + "\nE11 -> X | Y\nX ->\nY ->"
    with pytest.raises(UsageError, match=r"fewer than 1 in 10\^12 draws would be accepted"):
        Derivations(parse("S -> S S a E0 | a\n" + doubling)).uniform(3, np.random.default_rng(0))


def test_lengths_without_strings_are_refused_with_others_named() -> None:
    derivations = Derivations(parse("S -> a S b | a b"))
    for draw in (derivations.sample, derivations.uniform):
        with pytest.raises(UsageError, match=r"no string of length 5\. There are strings of length 2, 4, 6, 8"):
            draw(5, np.random.default_rng(0))
    with pytest.raises(UsageError, match="above 2,000, the limit"):
        derivations.count(3000)
    assert derivations.count(-1) == 0
    assert derivations.parses(["c"]) == 0


def test_strings_of_exponential_length_do_no_harm() -> None:
    chain = "\n".join(f"A{i} -> A{i + 1} A{i + 1}" for i in range(60)) + "\nA60 -> a"
    derivations = Derivations(parse(chain))
    assert derivations.counts(20) == [0] * 21
    assert derivations.shape.shortest == derivations.shape.longest == 2**60
    assert derivations.shape.growth.count == 1


def test_numbers_of_doubly_exponential_size_are_refused_or_left_out() -> None:
    doubling = "\n".join(f"A{i} -> A{i + 1} A{i + 1}" for i in range(60))
    with pytest.raises(UsageError, match=r"more than 2\^10,000 derivations, the limit"):
        Derivations(parse(doubling + "\nA60 -> B | C\nB ->\nC -> | a"))
    shape = Derivations(parse(doubling + "\nA60 -> a | b")).shape
    assert shape.growth.kind == "finite" and shape.growth.count is None


def test_deep_chains_do_not_recurse() -> None:
    chain = "\n".join(f"A{i} -> A{i + 1} |" for i in range(450)) + "\nA450 -> a"
    derivations = Derivations(parse(chain))
    assert derivations.count(1) == 1 and derivations.count(0) == 450 and not derivations.circular
