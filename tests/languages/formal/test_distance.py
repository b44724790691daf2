import numpy as np
import pytest
from languages.formal.regular_support import all_strings, language_of, levenshtein, random_automaton

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.distance import EditDistance, edit_distance
from humboldt.languages.formal.regex import parse_regex


@pytest.mark.parametrize("seed", range(60))
def test_distances_are_those_to_the_nearest_string(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = random_automaton(rng, states=int(rng.integers(1, 5)), symbols=1 + seed % 2)
    if automaton.is_empty:
        return
    # Some string has at most three symbols, so a string of three is at most three edits away from one of at most six.
    language = language_of(automaton, 6)
    words = all_strings((*automaton.alphabet, "other"), 3)
    chosen = [words[i] for i in rng.choice(len(words), 8)]
    distance = EditDistance(automaton)
    columns = np.full((8, 3), -1)
    for row, word in zip(columns, chosen, strict=True):
        row[: len(word)] = automaton.encode(word)
    found = distance(columns, np.array([len(word) for word in chosen]))
    assert found.tolist() == [min(levenshtein(word, string) for string in language) for word in chosen]
    assert found.tolist() == [edit_distance(automaton, word) for word in chosen]


def test_known_distances() -> None:
    assert edit_distance(parse_regex("a " * 50), []) == 50
    assert edit_distance(parse_regex("()"), list("abc")) == 3
    assert edit_distance(parse_regex("( a b )*"), list("ab" * 100 + "a")) == 1
    assert edit_distance(parse_regex("( a b )*"), list("ba" * 100)) == 2
    assert edit_distance(parse_regex("a* b*"), list("bbbaaaaa")) == 3


def test_members_have_distance_zero_and_only_they() -> None:
    automaton = parse_regex("( a b | b a )* c?")
    distance = EditDistance(automaton)
    columns = np.array(list(np.ndindex(3, 3, 3, 3, 3)))
    members = [automaton.accepts(automaton.decode(row)) for row in columns]
    assert ((distance(columns) == 0) == members).all() and any(members)


def test_the_empty_language_has_no_distance() -> None:
    with pytest.raises(UsageError, match="empty"):
        EditDistance(Automaton(("a",), np.array([[0]]), np.array([False])))
