"""Descriptions: facts of known languages, as data and as text."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from languages.formal.regular_support import random_automaton

from humboldt.errors import UsageError
from humboldt.languages.formal import algebra
from humboldt.languages.formal.describe import Description, describe, means
from humboldt.languages.formal.language import RegularLanguage


def described(folder: Path, name: str, text: str, length: int = 8) -> Description:
    (folder / name).write_text(text)
    return describe(folder / name, length)


def test_a_grammar(tmp_path: Path) -> None:
    found = described(tmp_path, "my.grammar", "S -> a S b [0.7] | a b\nT -> c")
    assert found.counts == found.derivations == (0, 0, 1, 0, 1, 0, 1, 0, 1)
    assert found.size == {"rules": 3, "nonterminals": 2} and found.alphabet == ("a", "b")
    assert found.expected_length == pytest.approx(2 / 0.3)
    # A string of n pairs has probability 0.7^(n-1) 0.3.
    chances = [0.7 ** (n - 1) * 0.3 for n in range(1, 300)]
    assert found.entropy == pytest.approx(-sum(p * math.log2(p) for p in chances))
    assert found.entropy_of == found.growth_of == "strings"
    assert (found.shortest, found.longest) == (2, math.inf)
    assert found.ambiguity == "unambiguous" and found.classes == ("context-free",)
    assert found.notes == ("Line 2: T cannot be reached from S.",)
    assert found.to_json()["longest"] is None
    assert found.lines()[1:] == [
        "alphabet     2 symbols: a b",
        "size         3 rules, 2 nonterminals",
        "strings      0, 0, 1, 0, 1, 0, 1, 0, 1 (of length 0, 1, ...)",
        "derivations  0, 0, 1, 0, 1, 0, 1, 0, 1 (of length 0, 1, ...)",
        "growth       polynomial, like n^0 (of strings)",
        "lengths      2 and longer",
        "mean length  6.66667",
        "entropy      2.93764 bits (of strings)",
        "class        context-free",
        "             The language is infinite.",
        "             The grammar is proper: its derivations end, their strings having 6.66667 symbols on average.",
        "             The grammar is unambiguous: it is LR(1).",
        "note         Line 2: T cannot be reached from S.",
    ]


def test_an_ambiguous_grammar(tmp_path: Path) -> None:
    found = described(tmp_path, "my.grammar", "S -> S S [0.2] | a")
    assert found.counts == (0, *[1] * 8)
    assert found.derivations == (0, 1, 1, 2, 5, 14, 42, 132, 429)
    assert found.ambiguity == "ambiguous" and found.entropy_of == "derivations"
    # One nonterminal is expanded 1 / (1 - 0.4) times, each time with the entropy of 0.2.
    assert found.entropy == pytest.approx(-(0.2 * math.log2(0.2) + 0.8 * math.log2(0.8)) / 0.6)
    assert any("2 derivations of `a a a`" in line for line in found.lines())


def test_an_automaton_and_an_equal_expression(tmp_path: Path) -> None:
    lines = ["start even", "accept even", "even 1 odd", "odd 1 even", "even 0 even", "odd 0 odd"]
    parity = described(tmp_path, "parity.automaton", "\n".join(lines))
    same = described(tmp_path, "parity.regex", "( 0 | 1 0* 1 )*")
    assert parity.counts == same.counts == (1, 1, 2, 4, 8, 16, 32, 64, 128)
    assert parity.derivations is None and parity.groups == ("Z2",) and "group" in parity.classes
    assert parity.predictions == same.predictions and parity.predictions
    # E(even) = (1 + E(even)) / 3 + (1 + E(odd)) / 3 and E(odd) = 1 + (E(even) + E(odd)) / 2.
    assert parity.expected_length == pytest.approx(4)
    assert parity.size == {"states": 2, "states when minimal": 2}
    assert any(line.startswith("theory") and "cannot recognise it" in line for line in parity.lines())


def test_weights_of_an_automaton_are_used(tmp_path: Path) -> None:
    found = described(tmp_path, "my.automaton", "start x\naccept x [0.25]\nx a x")
    assert found.weighted and found.expected_length == pytest.approx(3)
    chances = [0.75**n * 0.25 for n in range(400)]
    assert found.entropy == pytest.approx(-sum(p * math.log2(p) for p in chances))


@pytest.mark.parametrize(
    ("name", "text", "sentence", "longest"),
    [
        ("my.grammar", "S -> a S", "The language is empty: S derives no finite string.", None),
        ("my.grammar", "S -> a A | a b\nA -> b | c", "The language is finite: 2 strings in all.", 2),
        ("my.regex", "a b? c?", "The language is finite: 4 strings in all.", 3),
        ("my.grammar", "S -> S S [0.6] | a", "its derivations end with probability 0.666667 only", math.inf),
        ("my.grammar", "S -> S S [0.5] | a", "so slowly that their mean length is infinite", math.inf),
        ("my.grammar", "S -> a | T\nT -> T b", "end with probability 0.5 only. T never ends: leave it out", 1),
    ],
)
def test_sentences(name: str, text: str, sentence: str, longest: float | None, tmp_path: Path) -> None:
    found = described(tmp_path, name, text)
    assert any(sentence in line for line in found.sentences)
    assert found.longest == longest
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["counts"] == list(found.counts)


def test_counts_are_null_where_strings_cannot_be_counted(tmp_path: Path) -> None:
    found = described(tmp_path, "my.grammar", "S -> S S | a | b | c | d | e | f | g | h | i | j", length=7)
    assert found.counts[:4] == (0, 10, 100, 1000) and found.counts[-1] is None
    assert found.to_json()["counts"][-1] is None
    assert found.derivations is not None and found.derivations[-1] == 132 * 10**7
    assert "?" in found.lines()[3]


def test_numbers_beyond_floating_point_are_shown_and_exact(tmp_path: Path) -> None:
    for name, text in (("my.grammar", "S -> S S | a"), ("my.regex", "( a | b | c )*")):
        found = described(tmp_path, name, text, length=1000)
        number = 3**1000 if found.derivations is None else math.comb(1998, 999) // 1000
        assert (found.derivations or found.counts)[-1] == number > 10**308
        assert f"{str(number)[0]}." in found.lines()[3] + found.lines()[4] and json.dumps(found.to_json())


def test_numbers_too_long_to_write_down_are_refused(tmp_path: Path) -> None:
    doubling = "\n".join(f"E{i} -> E{i + 1} E{i + 1}" for i in range(12)) + "\nE12 -> X | Y\nX ->\nY ->"
    with pytest.raises(UsageError, match=r"derivations of length 8 has more than 4,000 digits, the limit"):
        described(tmp_path, "my.grammar", "S -> a S b E0 |\n" + doubling, length=20)
    found = described(tmp_path, "my.grammar", "S -> a S b E0 |\n" + doubling, length=6)
    assert found.counts == (1, 0, 1, 0, 1, 0, 1) and found.derivations is not None
    assert found.derivations[2] == 2**4096 and math.isnan(found.growth.rate)


def test_large_automata_are_described(tmp_path: Path) -> None:
    """Shortest and longest strings, mean length and entropy need no count of the strings of every length."""
    chain = described(tmp_path, "my.regex", "a " * 4_000 + "b? " * 300)
    assert (chain.shortest, chain.longest) == (4_000, 4_300) and chain.size["states when minimal"] == 4_301
    # Each b comes if the one before did, with probability 1/2: of k choices the mean is 1 - 2^-k symbols.
    assert chain.expected_length == pytest.approx(4_001) and chain.entropy == pytest.approx(2)
    ring = "".join(f"s{i} a s{(i + 1) % 2_100}\n" for i in range(2_100))
    found = described(tmp_path, "my.automaton", "start s0\naccept s0 [0.5]\n" + ring)
    assert (found.shortest, found.longest, found.expected_length) == (0, math.inf, pytest.approx(2_100))


def test_mean_lengths_from_dense_and_sparse_equations_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        language = RegularLanguage(random_automaton(rng, states=6, symbols=2))
        if not language.automaton.is_empty:
            dense = means(language)
            with monkeypatch.context() as patch:
                patch.setattr("humboldt.languages.formal.describe.DENSE", 0)
                assert means(language) == pytest.approx(dense)


def test_what_is_beyond_the_limit_is_said_to_be_not_decided(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(algebra.syntactic_monoid, "__defaults__", (1,))
    monkeypatch.setattr(algebra.classify, "__defaults__", (1,))
    neither = described(tmp_path, "my.regex", "( a b )* c ( b b )*")
    assert neither.classes == ("star-free: not decided", "solvable: not decided", "regular")
    group = described(tmp_path, "my.regex", "( b* a b* a )* b*")
    assert group.classes == ("group", "solvable: not decided", "regular")


def test_finite_languages_have_the_same_place_however_they_are_written(tmp_path: Path) -> None:
    grammar = described(tmp_path, "my.grammar", "S -> a A | a b\nA -> b b | c")
    regex = described(tmp_path, "my.regex", "a ( b b | c ) | a b")
    assert grammar.classes == (*regex.classes, "context-free")
    assert grammar.predictions == regex.predictions and grammar.predictions
