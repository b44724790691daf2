"""Reading grammars: what a file means, and what is refused where."""

from fractions import Fraction

import pytest

from humboldt.errors import UsageError
from humboldt.languages.formal.grammar_file import (
    LONGEST_BODY,
    MOST_ALTERNATIVES,
    MOST_BODY_SYMBOLS,
    parse,
    read,
)
from humboldt.languages.formal.text import ParseError

MALFORMED = [  # text, line, column, part of the message
    ("", 1, 1, "found the end of the file, expected a rule"),
    ("# only a comment\n", 2, 1, "expected a rule"),
    ("\n\n   \n", 4, 1, "expected a rule"),
    ("S", 1, 2, "expected `->` after the left side `S`"),
    ("S a b", 1, 3, "found `a`, expected `->`"),
    ("S | a", 1, 3, "found `|`, expected `->`"),
    ("S [0.5] -> a", 1, 3, "found `[0.5]`, expected `->`"),
    ("-> a", 1, 1, "found `->`, expected the left side"),
    ("S -> a\n| b", 2, 1, "begin with the left side and `->` again"),
    ("S -> a\n-> b", 2, 1, "expected the left side"),
    ("'S' -> a", 1, 1, "A left side is a name without quotes"),
    ("ε -> a", 1, 1, "expected the left side"),
    ("[0.5] S -> a", 1, 1, "expected the left side"),
    ("S -> a -> b", 1, 8, "Each rule needs its own line"),
    ("S -> ( a )", 1, 6, "quote it: '('"),
    ("S -> a )", 1, 8, "quote it: ')'"),
    ("S -> a *", 1, 8, "quote it: '*'"),
    ("S -> a +", 1, 8, "quote it: '+'"),
    ("S -> a ?", 1, 8, "quote it: '?'"),
    ("S -> { a }", 1, 6, "quote it: '{'"),
    ("S -> a ] b", 1, 8, "To use `]` as a symbol, quote it"),
    ("S -> a [ b", 1, 8, "To use `[` as a symbol, quote it"),
    ("S -> a [half]", 1, 8, "expected a weight"),
    ("S -> a []", 1, 8, "expected a weight"),
    ("S -> a [0,5]", 1, 8, "expected a weight"),
    ("S -> a [1/0]", 1, 8, "expected a weight"),
    ("S -> a [nan]", 1, 8, "expected a weight"),
    ("S -> a [-0.5]", 1, 8, "expected"),
    ("S -> a [0] | b", 1, 8, "expected one above 0"),
    ("S -> a [1.5]", 1, 8, "at most 1"),
    ("S -> a [0.5] [0.5]", 1, 14, "An alternative has one"),
    ("S -> a [0.5] b | c", 1, 14, "It comes last"),
    ("S -> a [0.7] | b [0.7]", 1, 16, "sum to 1.4, more than 1"),
    ("S -> a [0.7]\nS -> b [0.7]", 2, 6, "sum to 1.4, more than 1"),
    ("S -> a [0.7] | b [0.2]", 1, 1, "sum to 0.9. They must sum to 1"),
    ("S -> A\nA -> a [0.3]", 2, 1, "the weights of `A` sum to 0.3"),
    ("S -> a [1] | b", 1, 1, "leaves nothing for the 1 without a weight"),
    ("S -> a [0.5] | b [0.5] | c | d", 1, 1, "leaves nothing for the 2"),
    ("S -> a T b", 1, 8, "`T` is capitalised like a nonterminal, but has no rule"),
    ("S -> a Nuon\nNoun -> b", 1, 8, "Did you mean `Noun`?"),
    ("S -> a\nT -> b Ä", 2, 8, "`Ä` is capitalised"),
    ("S -> a S b | a b\n\n# c\nS -> a b", 4, 6, "is already in line 1"),
    ("S -> a | | b |", 1, 14, "`S -> ε` is already in line 1"),
    ("S -> ε | ", 1, 8, "`S -> ε` is already in line 1"),
    ("S -> a ε b", 1, 8, "`ε` is the empty string"),
    ("S -> 'S' a", 1, 6, "'S' in quotes is a symbol of strings"),
    ("S -> 'a", 1, 6, "expected a closing '"),
    ("S -> ''", 1, 6, "expected a symbol without white space"),
    ("S -> 'a b'", 1, 6, "expected a symbol without white space"),
    ("S -> a'b'", 1, 7, "expected white space between two symbols"),
    (f"S -> {'a' * 101}", 1, 6, "the limit is 100"),
    ("S -> a \x00", 1, 8, "U+0000"),
]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"), MALFORMED, ids=[repr(case[0][:30]) for case in MALFORMED]
)
def test_malformed_files_name_line_column_and_what_was_expected(text, line, column, message) -> None:
    with pytest.raises(ParseError) as error:
        parse(text, file="my.grammar")
    assert message in str(error.value)
    assert str(error.value).startswith(f"my.grammar, line {line}, column {column}: ")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("S -> " + "a " * (LONGEST_BODY + 1), f"{LONGEST_BODY} symbols in one alternative, the limit"),
        ("S -> " + " | ".join(f"a{i}" for i in range(MOST_ALTERNATIVES + 1)), f"{MOST_ALTERNATIVES:,} alternatives"),
        (
            "S -> A0\n" + "\n".join(f"A{i} -> {'a ' * 100}" for i in range(MOST_BODY_SYMBOLS // 100)),
            f"{MOST_BODY_SYMBOLS:,} symbols in all alternatives, the limit",
        ),
        ("S -> " + "( " * 1000, "nested more than 200 deep, the limit"),
        ("S -> " + "a " * 600_000, "1,000,000, the limit"),
    ],
    ids=["body", "alternatives", "symbols", "nesting", "bytes"],
)
def test_hostile_files_are_refused_with_the_limit_named(text, limit, tmp_path) -> None:
    path = tmp_path / "my.grammar"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read(path)
    assert limit.replace(", the limit", "") in str(error.value)
    assert "the limit" in str(error.value)


def test_weights_are_shared_over_all_lines_of_a_head() -> None:
    grammar = parse("S -> a [1/2] | A\nA -> b\nS -> c | 'S2' '->' '#' # comment")
    assert {rule.body: rule.weight for rule in grammar.by_head["S"]} == {
        ("a",): Fraction(1, 2),
        ("A",): Fraction(1, 6),
        ("c",): Fraction(1, 6),
        ("S2", "->", "#"): Fraction(1, 6),
    }
    assert grammar.start == "S"
    assert grammar.alphabet == ("#", "->", "S2", "a", "b", "c")
    assert grammar.weighted and not parse("S -> a | b").weighted
    assert parse(str(grammar)).identity() == grammar.identity()


def test_the_empty_string_is_an_empty_alternative() -> None:
    for text in ("S -> a S b | ", "S -> a S b | ε", "S -> | a S b", "S -> a S b\nS ->", "S->a S b|[0.5]"):
        assert {rule.body for rule in parse(text).alternatives} == {("a", "S", "b"), ()}


def test_lower_case_heads_and_the_arrow_symbol() -> None:
    grammar = parse("s → np vp\nnp → Ada'\nvp -> sleeps".replace("Ada'", "'Ada'"))
    assert grammar.alphabet == ("Ada", "sleeps")


def test_nonterminals_that_do_no_work_are_reported() -> None:
    grammar = parse("S -> a | T a | V T\nT -> T b\nU -> b\nV -> c")
    assert grammar.notes == (
        "Line 2: T derives no finite string, as each of its rules leads to one that never ends.",
        "Line 3: U cannot be reached from S.",
        "Line 4: V occurs only beside nonterminals that derive no finite string.",
    )
    assert grammar.alphabet == ("a",)
    assert not parse("S -> a S | b").notes


def test_identity_ignores_names_spelling_and_unreachable_rules_only() -> None:
    one = parse("S -> a S X [0.5] | X\nX -> b")
    assert one.identity() == parse("# other\nTop -> 'a' Top Z [1/2]\nTop -> Z\nUnused -> c\nZ -> b").identity()
    assert one.identity() != parse("S -> a S X [0.6] | X\nX -> b").identity()
    assert one.identity(weights=False) == parse("S -> a S X [0.6] | X\nX -> b").identity(weights=False)
    assert one.identity() != parse("S -> a S X [0.5] | X\nX -> c").identity()
    assert parse("S -> a S").identity() != parse("S -> a 'S1'").identity()
