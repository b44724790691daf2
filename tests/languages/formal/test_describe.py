"""Descriptions: facts of known languages, as data and as text."""

import json
import math
from pathlib import Path

import pytest

from humboldt.languages.formal.describe import Description, describe


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
