"""String arguments: uniform, and no two alike."""

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import PCFG_SET, Language, parse_functions
from humboldt.languages.pcfg_set.parts.strings import UniqueStrings

TWO_LETTERS = Language(parse_functions("copy x -> x"), "ab")


def split(flat: np.ndarray, lengths: list[int]) -> list[tuple[int, ...]]:
    return [tuple(part.tolist()) for part in np.split(flat, np.cumsum(lengths)[:-1])]


def test_every_string_of_a_small_alphabet_comes_once():
    lengths = [3] * 8 + [2] * 4 + [1] * 2
    strings = split(UniqueStrings(TWO_LETTERS).draw(np.random.default_rng(0), np.array(lengths)), lengths)
    assert [len(string) for string in strings] == lengths
    assert len(set(strings)) == len(strings)


def test_strings_in_use_are_not_drawn():
    source = UniqueStrings(TWO_LETTERS, ["a a", "a b"])
    first = split(source.draw(np.random.default_rng(0), np.array([2])), [2])
    second = split(source.draw(np.random.default_rng(0), np.array([2])), [2])
    assert set(first + second) == {(1, 0), (1, 1)}


@pytest.mark.parametrize(("lengths", "used"), [([1] * 3, []), ([2, 2, 2], ["a a", "b b"])])
def test_too_many_strings(lengths, used):
    with pytest.raises(UsageError, match=r"None may occur twice. Use more letters"):
        UniqueStrings(TWO_LETTERS, used).draw(np.random.default_rng(0), np.array(lengths))


def test_letters_are_uniform():
    drawn = UniqueStrings(PCFG_SET).draw(np.random.default_rng(0), np.full(52_000, 5))
    counts = np.bincount(drawn, minlength=520)
    assert len(counts) == 520
    assert abs(((counts - 500) ** 2 / 500).sum() - 519) < 5 * np.sqrt(2 * 519)


def test_nothing_to_draw():
    assert len(UniqueStrings(PCFG_SET).draw(np.random.default_rng(0), np.array([], int))) == 0
