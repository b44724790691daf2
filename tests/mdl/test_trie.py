from collections import Counter

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.mdl.trie import build_trie

from .helpers import an_bn_grammar, sample, trie_of


def test_a_small_trie_by_hand():
    # ab twice, aabb once, and the empty string: prefixes # (4), #a (3), #aa (1), #ab (2), #aab, #aabb
    trie = build_trie([[1, 2], [1, 1, 2, 2], [], [1, 2]], num_symbols=3)
    assert trie.num_nodes == 6
    assert trie.parent.tolist() == [-1, 0, 1, 1, 3, 4]  # #ab before #aa: it is the more frequent one
    assert trie.symbol.tolist() == [0, 1, 2, 1, 2, 2]
    following = [
        dict(zip(trie.next_symbol[a:b].tolist(), trie.next_count[a:b].tolist(), strict=True))
        for a, b in zip(trie.next_start[:-1], trie.next_start[1:], strict=True)
    ]
    assert following == [{1: 3.0, 0: 1.0}, {2: 2.0, 1: 1.0}, {0: 2.0}, {2: 1.0}, {2: 1.0}, {0: 1.0}]


def test_counts_add_up_to_the_symbols_of_the_corpus():
    strings = sample(an_bn_grammar(), 100)
    trie = trie_of(strings, ("#", "a", "b"))
    assert trie.next_count.sum() == sum(len(string) + 1 for string in strings)
    assert np.all(trie.parent[1:] < np.arange(1, trie.num_nodes))  # a parent is evaluated before its children


def test_the_helper_samples_the_released_corpus():
    # How often each n occurs in the authors' file for a^n b^n, 100 strings, p = 0.3, seed 100.
    released = {1: 26, 2: 25, 3: 11, 4: 11, 5: 6, 6: 8, 7: 1, 8: 4, 9: 2, 10: 3, 12: 1, 13: 1, 20: 1}
    assert Counter(len(string) // 2 for string in sample(an_bn_grammar(), 100)) == released


@pytest.mark.parametrize(
    ("strings", "message"),
    [([], "The corpus is empty"), ([[1], [1, 3]], "String 1, place 1: symbol 3"), ([[0]], "Symbol 0 is the boundary")],
)
def test_wrong_strings_are_refused(strings, message):
    with pytest.raises(UsageError, match=message):
        build_trie(strings, num_symbols=3)
