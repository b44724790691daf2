import numpy as np
import pytest

from humboldt.languages.formal.automaton_file import parse_automaton
from humboldt.languages.formal.text import ParseError

PARITY = "start even\naccept even\neven 1 odd\nodd 1 even\n"


def test_parity() -> None:
    parity = parse_automaton(PARITY)
    assert parity.names == ("even", "odd") and parity.alphabet == ("1",) and not parity.is_weighted
    assert [parity.accepts("1" * n) for n in range(5)] == [True, False, True, False, True]


def test_the_start_has_number_zero_wherever_it_is_named() -> None:
    automaton = parse_automaton("a x b\nb y a\naccept a b\nstart b")
    assert automaton.names == ("b", "a") and automaton.start == 0


def test_weights_and_what_is_left() -> None:
    automaton = parse_automaton("start s\naccept s [0.3] t\ns a s [0.1]\ns b t\ns c t\nt a t [1/3]")
    assert automaton.moves is not None and automaton.stops is not None
    np.testing.assert_allclose(automaton.moves, [[0.1, 0.3, 0.3], [1 / 3, 0, 0]])
    np.testing.assert_allclose(automaton.stops, [0.3, 2 / 3])


def test_keywords_and_operators_are_names_in_quotes() -> None:
    automaton = parse_automaton("start 'start'\naccept 'accept'\n'start' '#' 'accept'\n'accept' start 'start'")
    assert automaton.names == ("start", "accept") and automaton.accepts(["#"])
    assert automaton.accepts(["#", "start", "#"])


def test_only_the_empty_string() -> None:
    automaton = parse_automaton("start s\naccept s")
    assert automaton.accepts([]) and not automaton.accepts(["a"]) and automaton.alphabet == ()


MALFORMED = [
    ("", 1, 1, "start even"),
    ("# nothing\n", 2, 1, "start even"),
    ("accept a\na 1 a", 2, 6, "names the start"),
    ("start a\na 1 a", 2, 6, "accept even"),
    ("start", 1, 6, "the name of a state"),
    ("start a b\naccept a\na 1 a", 1, 9, "one start"),
    ("start a\nstart a\naccept a", 2, 1, "line 1 names the first"),
    ("start a\naccept", 2, 7, "the name of a state"),
    ("start a\naccept a a", 2, 10, "already accepts, by line 2"),
    ("start a\naccept a\naccept a", 3, 8, "by line 2"),
    ("start a\naccept [0.5]", 2, 8, "the name of a state"),
    ("start a\naccept a [0.5] [0.5]", 2, 16, "the name of a state, or the end"),
    ("start a\naccept a\na 1", 3, 4, "expected a state after `a`"),
    ("start a\naccept a\na", 3, 2, "expected a symbol after `a`"),
    ("start a\naccept a\na 1 a a", 3, 7, "expected a weight"),
    ("start a\naccept a\na 1 a [0.5] [0.5]", 3, 13, "the end of the line"),
    ("start a\naccept a\na * a", 3, 3, "must be quoted"),
    ("start (\naccept a", 1, 7, "must be quoted"),
    ("start a\naccept a\n( 1 a", 3, 1, "expected a statement"),
    ("start a\naccept a\n-> 1 a", 3, 1, "expected a statement"),
    ("start a\naccept a\na ε a", 3, 3, "Every transition reads one"),
    ("start a\naccepts a\na 1 a", 2, 10, "Did you mean `accept`?"),
    ("strat a\naccept a\na 1 a", 1, 8, "Did you mean `start`?"),
    ("start a\naccept a\na 1 b", 3, 5, "'b' is not defined"),
    ("start evn\naccept even\neven 1 even", 1, 7, "Did you mean 'even'?"),
    ("start even\naccept even\neven 1 odd\nodd 1 evn", 4, 7, "Did you mean 'even'?"),
    ("start a\naccept a b\na 1 a", 2, 10, "'b' cannot be reached"),
    ("start a\naccept a\na 1 a\nb 1 a", 4, 1, "'b' cannot be reached"),
    ("start a\naccept a\na 1 a\na 1 b\nb 1 a", 4, 3, "line 3 has the first"),
    ("start a\naccept a\na '1' a\na 1 a", 4, 3, "second transition for 1"),
    ("start a\naccept a [0.5]\na 1 a [0.6]", 1, 7, "sum to 1.1"),
    ("start a\naccept a [0.5]\na 1 a [0.2]", 1, 7, "sum to 0.7"),
    ("start a\naccept a [1]\na 1 a", 1, 7, "leaves nothing for the 1"),
    ("start a\naccept a\na 1 b [0.5]\nb 1 a [0.9]", 3, 5, "sum to 0.9"),
    ("start a\naccept a\na 1 a [0.5]\na 2 b\nb 1 b", 4, 5, "'b' cannot reach a state that accepts"),
    ("start a\naccept a\na 1 a [2]", 3, 7, "at most 1"),
    ("start a ; accept a", 1, 9, "one start"),
    ("start a\naccept 'a", 2, 8, "Close the quote"),
]


@pytest.mark.parametrize(("content", "line", "column", "says"), MALFORMED)
def test_malformed_automata_are_refused_at_their_place(content: str, line: int, column: int, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_automaton(content, file="my.automaton")
    assert str(caught.value).startswith(f"my.automaton, line {line}, column {column}: ")
    assert says in str(caught.value)


def test_too_many_states_are_refused() -> None:
    lines = "".join(f"s{i} a s{i + 1}\n" for i in range(10_001))
    with pytest.raises(ParseError, match="10,000 states, the limit"):
        parse_automaton(f"start s0\naccept s10001\n{lines}")
