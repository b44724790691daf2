"""Growth and lengths, against exact numbers of derivations."""

import math

import pytest
from languages.formal.brute_force import random_grammar

from humboldt.languages.formal.derivations import Derivations
from humboldt.languages.formal.grammar_file import parse

MANY_WAYS = "\n".join(f"E{i} -> E{i + 1} E{i + 1}" for i in range(5)) + "\nE5 -> X | Y\nX ->\nY ->"  # 2^32 to be empty


@pytest.mark.parametrize(
    ("text", "kind", "value", "shortest"),
    [
        ("S -> a S b | a b", "polynomial", 0, 2),
        ("S -> A B C\nA -> a A |\nB -> b B |\nC -> c C |", "polynomial", 2, 0),
        ("S -> a S b | T\nT -> c T | d", "polynomial", 1, 1),
        ("S -> a S | A | B\nA -> b A | b\nB -> b B | b", "polynomial", 1, 1),
        ("S -> '(' S ')' S |", "exponential", 2, 0),
        ("S -> '(' S ')' S | '[' S ']' S |", "exponential", math.sqrt(8), 0),
        ("S -> S S | a", "exponential", 4, 1),
        ("S -> A S |\nA -> a | a b", "exponential", (1 + math.sqrt(5)) / 2, 0),
        ("S -> A S |\nA -> a A | a", "exponential", 2, 0),
        ("S -> a S a | b S b | a | b |", "exponential", math.sqrt(2), 0),
        (f"S -> S S a E0 | a\n{MANY_WAYS}", "exponential", 2**17, 1),  # of f = x + 2^32 x f^2
        ("S -> a | b A\nA -> a | b", "finite", 3, 1),
        ("S -> S S | S | a |", "exponential", 4, 0),
        ("S -> S", "finite", 0, None),
        ("S ->", "finite", 1, 0),
        ("S -> S S |", "finite", 1, 0),
    ],
)
def test_growth(text: str, kind: str, value: float, shortest: int | None) -> None:
    shape = Derivations(parse(text)).shape
    growth = shape.growth
    found = {"polynomial": growth.degree, "exponential": growth.rate, "finite": growth.count}[kind]
    assert growth.kind == kind
    assert found == pytest.approx(value, abs=1e-6)
    assert shape.shortest == shortest
    assert (shape.longest == math.inf) == (kind != "finite")


def test_random_grammars_grow_as_their_numbers_do() -> None:
    kinds = set()
    for seed in range(40):
        derivations = Derivations(random_grammar(seed))
        shape = derivations.shape
        counts = derivations.counts(60)
        lengths = [n for n, count in enumerate(counts) if count]
        kinds.add(shape.growth.kind)
        assert shape.shortest == (lengths[0] if lengths else None)
        if shape.growth.kind == "finite":
            assert shape.growth.count == sum(counts)
            assert shape.longest == (lengths[-1] if lengths else None)
        elif shape.growth.kind == "polynomial":
            assert shape.growth.degree is not None and lengths[-1] > 50
            assert max(counts) <= 60 ** (shape.growth.degree + 1) * 100
        else:
            slope = max(counts[-6:]) / max(counts[-36:-30])
            assert 0.8 < slope ** (1 / 30) / shape.growth.rate < 1.1
    assert kinds == {"finite", "polynomial", "exponential"}
