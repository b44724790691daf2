"""Test sets: exhaustive, in order, after the corpus, lazy."""

import itertools
import math

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.bliss import NAMES, Corpus, get
from humboldt.languages.bliss.parts.test_set import WrittenTestSet


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [100, 1000])
def test_no_training_string_is_tested(name, count):
    language = get(name)
    corpus = language.corpus(count, 100)
    strings = list(language.test_set(after=corpus, count=1500))
    assert len(set(strings)) == 1500
    assert not set(strings) & set(corpus.strings)
    assert all(len(string) >= len(corpus.last) for string in strings)
    assert all(language.accepts(string) for string in strings[::100])


def test_by_n_as_in_the_paper():
    language = get("an_bn")
    tested = language.test_set(after=language.corpus(100, 100), count=10_000)
    assert tested[0] == "a" * 21 + "b" * 21
    assert tested[9_999] == "a" * 10_020 + "b" * 10_020  # section 6.1
    four = get("an_bn_cn_dn")
    assert four.size(four.test_set(after=four.corpus(250, 100), count=4000)[3999]) == 4020  # section 6.1


def test_addition_ends_where_the_paper_says():
    language = get("an_bm_cn_plus_m")
    corpus = language.corpus(100, 100)
    assert max(s.count("a") for s in corpus.strings) == 18
    assert max(s.count("b") for s in corpus.strings) == 20
    tested = language.test_set(after=corpus, count=10_000)
    assert tested[9_999] == "a" * 120 + "b" * 120 + "c" * 240  # section 6.1
    pairs = [(string.count("a"), string.count("b")) for string in tested]
    assert set(pairs) == set(itertools.product(range(21, 121), repeat=2))
    assert [sum(pair) for pair in pairs] == sorted(sum(pair) for pair in pairs)


def test_addition_begins_as_the_released_preview():
    pairs = [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (3, 1), (1, 4), (2, 3), (3, 2), (4, 1)]
    expected = ["a" * n + "b" * m + "c" * (n + m) for n, m in pairs]
    assert list(get("an_bm_cn_plus_m").test_set(after=0, count=15_000))[:10] == expected


@pytest.mark.parametrize("name, kinds", [("dyck_1", 1), ("dyck_2", 2)])
def test_dyck_is_exhaustive_and_sorted(name, kinds):
    language = get(name)
    sizes = [math.comb(2 * n, n) // (n + 1) * kinds**n for n in range(1, 6)]
    strings = list(language.test_set(after=0, count=sum(sizes)))
    assert strings == sorted(strings, key=lambda string: (len(string), string))
    assert [sum(len(s) == 2 * n for s in strings) for n in range(1, 6)] == sizes
    assert strings == ["".join(string) for string in language.grammar().strings(10) if string]


@pytest.mark.parametrize("name", ["dyck_1", "dyck_2"])
def test_dyck_begins_right_after_the_last_string(name):
    language = get(name)
    everything = list(language.test_set(after=0, count=300))
    for place in (0, 7, 100, 200):
        corpus = Corpus(language, tuple(everything[: place + 1]))
        assert list(language.test_set(after=corpus, count=50)) == everything[place + 1 : place + 51]
    assert list(language.test_set(after=4, count=3)) == [s for s in everything if len(s) > 4][:3]
    assert list(language.test_set(after=5, count=3)) == [s for s in everything if len(s) > 5][:3]
    assert language.test_set(after=Corpus(language, ("",)), count=1)[0] == "()"


def test_closed_form_steps():
    for name in NAMES[:4]:
        tested = get(name).test_set(after=2, count=30)
        assert tested.lengths.tolist() == [len(string) for string in tested]
        masks = [tested.language.deterministic_mask(string).sum() for string in tested]
        assert tested.deterministic_steps.tolist() == masks


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("first, last", [(0, 40), (13, 31), (39, 40)])
def test_the_trie_describes_the_strings(name, first, last):
    language = get(name)
    tested = language.test_set(after=3, count=40)
    trie = tested.trie(first, last)
    strings = [tested[i] for i in trie.index]
    assert sorted(trie.index.tolist()) == list(range(first, last))
    ids = [language.input_alphabet.encode(string).tolist() for string in strings]
    assert ids == sorted(ids)
    assert trie.lengths.tolist() == [len(string) for string in strings]
    shared = [
        next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        for a, b in itertools.pairwise(strings)
    ]
    assert trie.shared.tolist() == [-1, *shared]
    for position in range(max(map(len, strings)) + 1):
        rows = np.flatnonzero(trie.lengths >= position)
        expected = [(ids[row] + [0])[position] for row in rows]
        assert trie.symbols(rows, position).tolist() == expected


def test_nothing_is_written_out_that_was_not_asked_for():
    tested = get("dyck_2").test_set(after=40, count=10**12)
    assert tested[2] == "(" * 20 + "))" + "()" + ")" * 18
    assert len(tested) == 10**12
    assert isinstance(tested, WrittenTestSet)
    assert len(tested._strings) == 3


def test_wrong_requests():
    with pytest.raises(UsageError, match="A test set of 0 strings is empty"):
        get("an_bn").test_set(after=3, count=0)
    with pytest.raises(UsageError, match=r"no strings of size -1. Use after=0"):
        get("dyck_1").test_set(after=-1, count=3)
    with pytest.raises(IndexError):
        get("dyck_1").test_set(after=2, count=3)[3]
