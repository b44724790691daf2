import numpy as np
import pytest
from languages.formal.regular_support import (
    all_strings,
    language_of,
    probabilities_of,
    random_automaton,
    with_random_weights,
)

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.automaton_file import parse_automaton
from humboldt.languages.formal.continuations import Continuations, Next
from humboldt.languages.formal.minimal import trimmed
from humboldt.languages.formal.regex import parse_regex


@pytest.mark.parametrize("seed", range(100))
def test_next_symbols_are_those_of_some_string(seed: int) -> None:
    automaton = random_automaton(np.random.default_rng(seed), states=4, symbols=2)
    if automaton.is_empty:
        with pytest.raises(UsageError, match="empty"):
            Continuations(automaton)
        return
    after = Continuations(automaton)
    language = language_of(automaton, 7)
    prefixes = {string[:n] for string in language for n in range(len(string) + 1)}
    short = all_strings(automaton.alphabet, 3)
    for prefix in short:  # any state reaches acceptance within three symbols
        expected = frozenset(symbol for symbol in automaton.alphabet if (*prefix, symbol) in prefixes)
        assert after.next_symbols(prefix) == Next(expected, prefix in language)
    columns = np.array([after.automaton.encode(string) for string in short if len(string) == 3])
    sets = after.sets(columns)
    for row, found in zip(columns, sets, strict=True):
        for step in range(4):
            one = after.next_symbols(after.automaton.decode(row[:step]))
            assert set(after.automaton.decode(np.nonzero(found[step, :-1])[0])) == one.symbols
            assert found[step, -1] == one.can_stop


@pytest.mark.parametrize("seed", range(40))
def test_distributions_are_quotients_of_prefix_probabilities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = trimmed(random_automaton(rng, states=3, symbols=2))
    if automaton.is_empty:
        return
    weighted = with_random_weights(automaton, rng)
    after = Continuations(weighted)
    exact = probabilities_of(weighted, 5)
    for string, p in exact.items():
        assert after.probability(string) == pytest.approx(p)
        product = 1.0
        for n in range(len(string)):
            product *= after.next_distribution(string[:n])[string[n]]
        assert product * after.next_distribution(string)[None] == pytest.approx(p)
    columns = np.array([row for row in np.ndindex(2, 2, 2)], np.int32)
    found = after.distributions(columns)
    possible = after.states(columns) < len(after.automaton)
    np.testing.assert_allclose(found.sum(axis=2), possible)


def test_strings_outside_the_language_have_probability_zero() -> None:
    after = Continuations(parse_automaton("start s\naccept s [0.5]\ns a s"))
    assert after.probability(["a", "a"]) == pytest.approx(0.125)
    assert after.probability(["a", "x"]) == 0 and after.probability(["x", "a"]) == 0
    assert after.next_symbols(["x"]) == Next(frozenset(), False)
    with pytest.raises(UsageError, match="begins with `x`"):
        after.next_distribution(["x"])
    assert not after.sets(np.array([[MISSING, 0]]))[0, 1:].any()


def test_ways_that_cannot_end_do_not_count() -> None:
    dead = Automaton(("a", "b"), np.array([[0, 1], [1, 1]]), np.array([True, False]))
    assert Continuations(dead).next_symbols([]) == Next(frozenset("a"), True)
    assert Continuations(parse_regex("a b")).next_distribution(["a"]) == {"b": 1.0}
