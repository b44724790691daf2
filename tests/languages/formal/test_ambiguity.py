"""Which grammars are found ambiguous, and by which derivations."""

import pytest
from languages.formal.brute_force import CAP, numbers_of_derivations, random_grammar

from humboldt.languages.formal.ambiguity import ambiguity, circle, written
from humboldt.languages.formal.derivations import Derivations
from humboldt.languages.formal.grammar_file import parse
from humboldt.languages.formal.lr import is_lr1, is_unambiguous

PALINDROMES = "S -> a S a | b S b | a | b |"


def test_random_grammars_are_judged_as_their_derivations_show() -> None:
    verdicts = set()
    for seed in range(100, 140):
        grammar = random_grammar(seed)
        truth = numbers_of_derivations(grammar, 4)
        report = ambiguity(grammar, longest=4)
        verdicts.add(report.verdict)
        assert report.counts == tuple(sum(len(string) == n for string in truth) for n in range(5))
        if max(truth.values(), default=0) > 1:
            assert report.verdict == "ambiguous", (seed, str(grammar))
            if report.string is not None:
                assert truth[report.string] > 1
                assert report.checked == len(report.string) - 1
                assert len(set(report.derivations)) == 2
                for tree in report.derivations:
                    assert leaves(tree) == report.string
            else:
                assert max(truth.values()) >= CAP
        elif not Derivations(grammar).circular:  # a circle may need longer strings
            assert report.verdict != "ambiguous"
    assert verdicts == {"unambiguous", "ambiguous", "open"}


def leaves(tree: str) -> tuple[str, ...]:
    """The terminals of `S(a S(b))`, where terminals are lower case."""
    return tuple(letter for letter in tree if letter in "ab")


def test_two_derivations_of_one_string_are_shown() -> None:
    report = ambiguity(parse("S -> if S | if S else S | x"))
    assert report.sentence == (
        "The grammar is ambiguous: 2 derivations of `if if x else x`, among them "
        "S(if S(if S(x) else S(x))) and S(if S(if S(x)) else S(x))."
    )
    assert report.checked == 4 and report.counts[:6] == (0, 1, 1, 1, 2, 3)
    assert written(parse("S -> A b | A A\nA -> b |"), ("b",)) == ("S(A(ε) b)", "S(A(ε) A(b))")


def test_circles_are_named_by_their_rules() -> None:
    grammar = parse("S -> A b\nA -> B C | a\nB -> A | b\nC -> c |")
    assert circle(grammar) == "A derives itself by `A -> B C with C empty`, `B -> A`"
    report = ambiguity(grammar, longest=4)
    assert report.verdict == "ambiguous" and "infinitely many derivations" in report.sentence


def test_an_unambiguous_grammar_that_cannot_be_proved_so_is_open() -> None:
    report = ambiguity(parse(PALINDROMES), longest=10)
    assert report.verdict == "open"
    assert report.sentence.startswith("The grammar is unambiguous up to length 10")
    few = ambiguity(parse(PALINDROMES), longest=10, most_items=1000)
    assert few.checked is not None and few.checked < 10
    assert few.counts[few.checked + 1 :] == (None,) * (10 - few.checked)


def test_ambiguity_is_found_by_drawing_where_strings_are_too_many() -> None:
    report = ambiguity(parse("S -> A S | A\nA -> a | b | c | d | e | f | a a"), longest=8, most_items=30)
    assert report.verdict == "ambiguous" and report.string is not None


def test_finite_and_empty_languages_are_decided() -> None:
    finite = parse("S -> a b | b A | A b b\nA -> a b | a")
    assert not is_unambiguous(parse("S -> a A | a B\nA -> b c\nB -> b c"))
    assert ambiguity(finite).verdict == "unambiguous"
    assert ambiguity(parse("S -> S")).sentence == "The language is empty."


@pytest.mark.parametrize(
    ("text", "forwards", "backwards"),
    [
        ("S -> a S b | a b", True, True),
        ("S -> '(' S ')' S |", True, True),
        ("E -> E '+' T | T\nT -> T '*' F | F\nF -> '(' E ')' | x", True, True),
        (PALINDROMES, False, False),
        ("S -> A a a | B a b\nA -> c\nB -> c", False, True),  # two symbols must be seen
        ("S -> S S | a", False, False),
        ("S -> S | a", False, False),
        ("S -> A | B\nA -> a\nB -> a", False, False),
        ("S -> a A d | b B d | a B e | b A e\nA -> c\nB -> c", True, True),  # LR(1), but not LALR(1)
    ],
)
def test_lr1(text: str, forwards: bool, backwards: bool) -> None:
    assert is_lr1(parse(text)) == forwards
    assert is_lr1(parse(text), backwards=True) == backwards
