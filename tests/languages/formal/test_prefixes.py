"""Probabilities of prefixes and next symbols, against sums over all derivations up to a height."""

import math

import numpy as np
import pytest
from languages.formal.brute_force import probabilities, random_grammar, spelled_out

from humboldt.errors import UsageError
from humboldt.languages.formal.enumeration import Strings
from humboldt.languages.formal.grammar_file import parse
from humboldt.languages.formal.prefixes import Prefixes

LONGEST = 4


def test_100_random_grammars_against_sums() -> None:
    improper = settled = 0
    for seed in range(100):
        grammar = random_grammar(seed)
        ends, strings, beginnings = probabilities(grammar, LONGEST)
        if not grammar.useful:
            assert ends == 0
            continue
        prefixes, sets = Prefixes(grammar), Strings(grammar)
        improper += prefixes.ends < 0.999
        lacking = max(prefixes.ends - ends, 0) + 1e-9  # sums over derivations up to a height are never too large
        settled += lacking < 2e-9
        assert prefixes.ends >= ends - 1e-9
        for length in range(LONGEST + 1):
            for number, string in enumerate(spelled_out(length)):
                whole = prefixes.ends * 2 ** prefixes.log2_probability(string)
                begun = prefixes.ends * 2 ** prefixes.log2_prefix(string)
                assert -1e-9 <= whole - strings[length][number] <= lacking, (seed, string)
                assert -1e-9 <= begun - beginnings[length][number] <= lacking, (seed, string)
                valid = sets.valid_next(string)
                if begun == 0:
                    assert not valid.symbols and not valid.can_stop
                    continue
                found = prefixes.next_distribution(string)
                assert found.keys() == valid.symbols | ({None} if valid.can_stop else set()), (seed, string)
                assert sum(found.values()) == pytest.approx(1)
                if length < LONGEST and lacking < 2e-9:
                    for place, symbol in enumerate("ab"):
                        share = beginnings[length + 1][2 * number + place] / beginnings[length][number]
                        assert found.get(symbol, 0.0) == pytest.approx(share, abs=1e-6), (seed, string)
    assert improper >= 10 and settled >= 80


def test_prefixes_are_sums_over_listed_strings() -> None:
    """Enough strings listed that what is left cannot matter."""
    grammar = parse("S -> A S [0.1] | A\nA -> a A b [0.1] | S [0.1] | b [0.4] | c")
    prefixes, strings = Prefixes(grammar), Strings(grammar)
    listed = {string: grammar.core.probability(string) for n in range(7) for string in strings.of_length(n)}
    left = 1 - sum(listed.values())
    assert 0 < left < 3e-3
    for prefix in {string[:n] for string in listed for n in range(4)}:
        total = sum(chance for string, chance in listed.items() if string[: len(prefix)] == prefix)
        assert total - 1e-12 <= 2 ** prefixes.log2_prefix(prefix) <= total + left + 1e-12
    for string in list(listed)[::50]:
        assert 2 ** prefixes.log2_probability(string) == pytest.approx(listed[string])


def test_long_prefixes_neither_vanish_nor_drift() -> None:
    grammar = parse("S -> '(' S ')' S [0.3] |")
    prefixes = Prefixes(grammar)
    string = "(" * 300 + ")" * 299
    assert prefixes.next_distribution(string) == pytest.approx({"(": 0.3, ")": 0.7})
    assert prefixes.log2_prefix(string) == pytest.approx(300 * math.log2(0.3) + 299 * math.log2(0.7))
    assert prefixes.next_distribution([]) == pytest.approx({"(": 0.3, None: 0.7})  # goes back to a shorter one


def test_probabilities_at_the_edge_of_being_proper() -> None:
    prefixes = Prefixes(parse("S -> '(' S ')' S [0.5] |"))
    assert prefixes.ends == 1
    assert prefixes.next_distribution("()") == pytest.approx({"(": 0.5, None: 0.5})
    assert prefixes.next_distribution("(") == pytest.approx({"(": 0.5, ")": 0.5})


def test_distributions_do_not_depend_on_what_was_asked_before() -> None:
    grammar = parse("S -> S S [0.2] | a S b [0.2] | a | b |")
    shared, rng = Prefixes(grammar), np.random.default_rng(0)
    for _ in range(10):
        prefix = rng.choice(["a", "b"], size=rng.integers(0, 12)).tolist()
        assert shared.next_distribution(prefix) == pytest.approx(Prefixes(grammar).next_distribution(prefix))


def test_impossible_prefixes_are_refused_where_they_fail() -> None:
    prefixes = Prefixes(parse("S -> a S b | a b"))
    with pytest.raises(UsageError, match="`a b a`: at position 3 is `a`, where only the end can follow"):
        prefixes.next_distribution("aba")
    with pytest.raises(UsageError, match="at position 2 is `x`, where only a or b can follow"):
        prefixes.next_distribution("ax")
    assert prefixes.log2_prefix("aba") == prefixes.log2_probability("aab") == -math.inf
    assert prefixes.next_distribution("aab") == {"b": 1.0}
    with pytest.raises(UsageError, match="the language is empty"):
        Prefixes(parse("S -> S a"))
