import time

import numpy as np
import pytest
from languages.formal.regular_support import RandomRegex, all_strings, residuals

from humboldt.errors import UsageError
from humboldt.languages.formal.counting import Counts
from humboldt.languages.formal.minimal import equivalent
from humboldt.languages.formal.regex import parse_regex
from humboldt.languages.formal.text import ParseError


@pytest.mark.parametrize("seed", range(200))
def test_random_expressions_accept_and_count_what_a_slow_matcher_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    alphabet, longest = ((("a", "bb"), 7), (("a", "bb", "c"), 5))[seed % 2]
    regex = RandomRegex(rng, alphabet, size=int(rng.integers(1, 12)))
    automaton = parse_regex(regex.text)
    language = {string for string in all_strings(alphabet, longest) if regex.accepts(string)}
    assert {string for string in all_strings(alphabet, longest) if automaton.accepts(string)} == language
    counts = Counts(automaton, longest)
    for length in range(longest + 1):
        assert counts.strings(length) == sum(len(string) == length for string in language)
    if len(automaton) <= 4 and len(alphabet) == 2:
        assert len(automaton) == residuals(language, alphabet, prefix=3, suffix=4)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("( a | b )*", "( a* b* )*"),
        ("a a*", "a+"),
        ("( a | )", "a?"),
        ("ε | a", "a?"),
        ("()", "( | )"),
        ("| a", "a?"),
        ("'a' \"b\"", "a\nb  # a comment"),
        ("( a b )* a", "a ( b a )*"),
        ("( a? )*", "a*"),
        ("( ( a ) )", "a"),
    ],
)
def test_spelling_does_not_matter(one: str, other: str) -> None:
    assert equivalent(parse_regex(one), parse_regex(other))


def test_symbols_may_have_several_characters_and_quoted_operators_are_symbols() -> None:
    assert parse_regex("ab").accepts(["ab"]) and not parse_regex("ab").accepts(["a", "b"])
    assert parse_regex("'*'* '('").accepts(["*", "*", "("])
    assert parse_regex("'ε'").accepts(["ε"])


MALFORMED = [
    ("", 1, 1, "found the end of the file"),
    ("# only a comment", 1, 17, "expected a regular expression"),
    ("( a", 1, 4, "opened on line 1, column 1"),
    ("( a\n( b )\n", 3, 1, "opened on line 1, column 1"),
    ("a )", 1, 3, "no bracket is open"),
    ("* a", 1, 1, "expected a symbol or `(`"),
    ("a | * b", 1, 5, "expected a symbol or `(`"),
    ("( + a )", 1, 3, "expected a symbol or `(`"),
    ("\n? ", 2, 1, "quote it: '?'"),
    ("a**", 1, 3, "( a* )*"),
    ("a+?", 1, 3, "( a+ )?"),
    ("a* +", 1, 4, "( a* )+"),
    ("a{2,3}", 1, 2, "write the symbols out"),
    ("a }", 1, 3, "quote it: '}'"),
    ("a [0.5]", 1, 3, "no weights"),
    ("S -> a", 1, 3, "quote it: '->'"),
    ("a . b", 1, 3, "no meaning"),
    ("^ a", 1, 1, "no meaning"),
    ("a $", 1, 3, "no meaning"),
    ("a \\d", 1, 3, "no meaning"),
    ("[a-z]*", 1, 1, "( a | b )"),
    ("( a | b", 1, 8, "expected `)`"),
    ("a ( ) )", 1, 7, "no bracket is open"),
    ("a 'b", 1, 3, "Close the quote"),
    ("a " * 5_001, 1, 10_001, "5,000"),
    ("( " * 100_000 + "a" + " )" * 100_000, 1, 401, "200"),
]


@pytest.mark.parametrize(("content", "line", "column", "says"), MALFORMED)
def test_malformed_expressions_are_refused_at_their_place(content: str, line: int, column: int, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_regex(content, file="my.regex")
    assert str(caught.value).startswith(f"my.regex, line {line}, column {column}: ")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("content", "limit"),
    [
        ("( a | b )* a" + " ( a | b )" * 40, "10,000 states"),
        ("( a | b )* a" + " ( a | b )?" * 1_500, "2,000,000 steps"),
        (" ".join(f"a{i}?" for i in range(2_000)), "1,000,000"),
    ],
)
def test_expressions_that_blow_up_are_refused_in_bounded_time(content: str, limit: str) -> None:
    begin = time.process_time()
    with pytest.raises(UsageError, match=limit):
        parse_regex(content)
    assert time.process_time() - begin < 5


def test_long_and_wide_expressions_within_the_limits() -> None:
    assert len(parse_regex("a " * 5_000)) == 5_001
    wide = parse_regex("( " + " | ".join(f"x{i}" for i in range(5_000)) + " )*")
    assert len(wide) == 1 and len(wide.alphabet) == 5_000
