"""One interface for all three kinds of file; the built-in context-free languages written as files."""

import collections
import json
import math
import pickle
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from scipy import stats

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.bliss.base import AbstractLanguage as BlissLanguage
from humboldt.languages.formal.language import AbstractLanguage, ContextFreeLanguage, RegularLanguage, read

BLISS = {
    "an_bn": "S -> a X b\nX -> a X b [0.7] | [0.3]",
    "an_bm_cn_plus_m": "S -> a X c\nX -> a X c [0.7] | Y\nY -> b Z c\nZ -> b Z c [0.7] | ε",
    "dyck_1": "S -> '(' S ')' S [0.3] |",
    "dyck_2": "S -> '(' S ')' S [0.15] | '[' S ']' S [0.15] | [0.7]",
}
FILES = {
    "even.automaton": "start even\naccept even\neven a odd\nodd a even\neven b even\nodd b odd",
    "pairs.regex": "( a b | b a )* c?",
    "an_bn.grammar": "S -> a S b [0.7] | a b",
    "sums.grammar": "S -> S '+' S [0.2] | a | b",
    "palindromes.grammar": "S -> a S a | b S b | a | b |",
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", BLISS)
def test_the_built_in_languages_as_files(name: str, tmp_path: Path) -> None:
    built_in = cast(BlissLanguage, tasks.get(f"bliss/{name}")())
    language = read(written(tmp_path, "my.grammar", BLISS[name]))
    assert isinstance(language, ContextFreeLanguage) and language.is_unambiguous
    assert ("#", *language.alphabet) == built_in.input_alphabet.symbols
    assert language.properness.expected_length == pytest.approx(built_in.expected_length(0.3))
    strings = 0
    for length in range(9):
        expected = list(built_in.grammar(0.3).of_length(length))
        assert list(language.strings.of_length(length)) == expected
        assert language.count(length) == len(expected)
        for string in expected[:60]:
            strings += 1
            assert language.probability(string) == pytest.approx(built_in.probability(string, 0.3))
            masks = built_in.valid_mask(string)
            for position in range(length + 1):
                prefix = string[:position]
                valid = language.valid_next(prefix)
                mask = [valid.can_stop, *(symbol in valid.symbols for symbol in language.alphabet)]
                assert mask == masks[position].tolist()
                chances = language.next_distribution(prefix)
                row = [chances.get(None, 0.0), *(chances.get(symbol, 0.0) for symbol in language.alphabet)]
                np.testing.assert_allclose(row, built_in.next_distribution(prefix, 0.3), atol=1e-12)
    assert strings >= 4


def test_the_built_in_corpora_as_files(tmp_path: Path) -> None:
    """Rules in the same order and the same generator give the same strings."""
    language = read(written(tmp_path, "my.grammar", BLISS["dyck_2"]))
    built_in = cast(BlissLanguage, tasks.get("bliss/dyck_2")())
    rng = cast(np.random.Generator, np.random.RandomState(7))
    assert ["".join(string) for string in language.weighted(rng, count=20)] == built_in.drawn(20, 7, 0.3)


@pytest.mark.parametrize("name", FILES)
def test_every_kind_has_the_same_interface(name: str, tmp_path: Path) -> None:
    language: AbstractLanguage = read(written(tmp_path, name, FILES[name]))
    assert isinstance(language, ContextFreeLanguage if name.endswith("grammar") else RegularLanguage)
    assert language.name == str(tmp_path / name)
    assert list(language.alphabet) == sorted(language.alphabet)
    rng = np.random.default_rng(0)
    for length in range(6):
        count = language.count(length)
        if not count:
            with pytest.raises(UsageError, match=f"no string of length {length}"):
                language.uniform(rng, count=1, length=length)
            continue
        drawn = collections.Counter(language.uniform(rng, count=40 * count, length=length))
        assert len(drawn) == count and all(map(language.accepts, drawn))
        if count > 1:
            assert stats.chisquare(list(drawn.values())).pvalue > 1e-3
        for string in list(drawn)[:5]:
            chance = 1.0
            for position in range(length + 1):
                prefix = string[:position]
                ways, valid = language.next_distribution(prefix), language.valid_next(prefix)
                assert ways.keys() == valid.symbols | ({None} if valid.can_stop else set())
                assert sum(ways.values()) == pytest.approx(1)
                chance *= ways[string[position] if position < length else None]
            assert language.probability(string) == pytest.approx(chance)
    sampled = collections.Counter(language.weighted(rng, count=400))
    for string, number in sampled.most_common(3):
        chance = language.probability(string)
        assert abs(number - 400 * chance) < 5 * math.sqrt(400 * chance * (1 - chance)) + 1
    nothing = language.valid_next(["c", "c"])
    assert not nothing.symbols and not nothing.can_stop
    assert not language.accepts(["c", "c"]) and language.probability(["c", "c"]) == 0
    with pytest.raises(UsageError, match="No string of the language begins with `c c`"):
        language.next_distribution(["c", "c"])
    copy = pickle.loads(pickle.dumps(language))
    assert copy.identity() == language.identity() and copy.count(4) == language.count(4)
    json.dumps([language.identity(), language.identity(weights=False)], allow_nan=False)


def test_identity_is_that_of_the_language(tmp_path: Path) -> None:
    one = read(written(tmp_path, "one.regex", "( a | b )*"))
    two = read(written(tmp_path, "two.regex", "( a* b* )*"))
    same = read(written(tmp_path, "same.automaton", "start x\naccept x\nx a x\nx b x"))
    assert one.identity() == two.identity() == same.identity()
    assert read(written(tmp_path, "three.regex", "( a b )*")).identity() != one.identity()
    again = read(written(tmp_path, "again.grammar", "# the same\nTop -> 'a' Top b [7/10]\nTop -> a b"))
    assert again.identity() == read(written(tmp_path, "a.grammar", FILES["an_bn.grammar"])).identity()


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ends in '\.gramar', .* Did you mean \.grammar\?.*\.regex for a regular"):
        read(tmp_path / "my.gramar")
    with pytest.raises(UsageError, match="ends in ''"):
        read(tmp_path / "grammar")
    with pytest.raises(UsageError, match=r"Cannot read .*missing\.grammar"):
        read(tmp_path / "missing.grammar")


def test_improper_and_empty_grammars_are_not_sampled_by_weight(tmp_path: Path) -> None:
    improper = read(written(tmp_path, "my.grammar", "S -> S S [0.6] | a"))
    with pytest.raises(UsageError, match=r"cannot be sampled by its weights\. The grammar is improper"):
        improper.weighted(np.random.default_rng(0), count=1)
    empty = read(written(tmp_path, "empty.grammar", "S -> S a"))
    assert empty.count(3) == 0 and not empty.accepts(["a"]) and empty.probability(["a"]) == 0
    assert not empty.valid_next([]).can_stop
    with pytest.raises(UsageError, match="The language is empty"):
        empty.weighted(np.random.default_rng(0), count=1)


def test_a_hash_is_a_symbol_when_quoted(tmp_path: Path) -> None:
    language = read(written(tmp_path, "my.grammar", "S -> '#' S '->' | '#' '|'"))
    assert language.accepts(["#", "#", "|", "->"])
    assert language.valid_next(["#"]).symbols == {"#", "|"} and not language.valid_next(["#"]).can_stop
    assert language.next_distribution(["#"]) == pytest.approx({"#": 0.5, "|": 0.5})
    assert ("#", "|") in language.weighted(np.random.default_rng(0), count=20)


def test_strings_too_many_to_list_are_not_counted(tmp_path: Path) -> None:
    language = read(written(tmp_path, "my.grammar", "S -> S S | a | b | c | d | e | f | g"))
    assert language.count(3) == 7**3
    assert language.count(40) is None
