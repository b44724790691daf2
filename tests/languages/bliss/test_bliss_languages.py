"""Each language against its grammar, against brute force, and against worked examples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humboldt.errors import UsageError
from humboldt.languages.bliss import NAMES, get

CONTEXT_FREE = ("an_bn", "an_bm_cn_plus_m", "dyck_1", "dyck_2")


def obviously_in(name: str, string: str) -> bool:
    """Membership, the plain way."""
    if name.startswith("dyck"):
        while (shorter := string.replace("()", "").replace("[]", "")) != string:
            string = shorter
        return not string
    n, m = string.count("a"), string.count("b")
    if name == "an_bm_cn_plus_m":
        return n > 0 and m > 0 and string == "a" * n + "b" * m + "c" * (n + m)
    return n > 0 and string == "".join(letter * n for letter in "abcd"[: name.count("_") + 1])


@pytest.mark.parametrize("name", NAMES)
def test_membership_is_plain(name):
    language = get(name)
    letters = language.input_alphabet.symbols[1:]
    longest = 8 if len(letters) < 4 else 6
    members = 0
    for length in range(longest + 1):
        for symbols in itertools.product(letters, repeat=length):
            string = "".join(symbols)
            assert language.accepts(string) == obviously_in(name, string), string
            members += language.accepts(string)
    assert members


@pytest.mark.parametrize("name", CONTEXT_FREE)
def test_prefixes_and_probabilities_agree_with_the_grammar(name):
    language = get(name)
    grammar = language.grammar(0.2)
    for string in grammar.strings(10 if name != "dyck_2" else 6):
        assert language.probability(string, 0.2) == pytest.approx(grammar.probability(string))
        for cut in range(len(string) + 1):
            assert language.valid_next(string[:cut]) == grammar.valid_next(string[:cut])
    assert language.expected_length(0.2) == pytest.approx(grammar.expected_length())


@pytest.mark.parametrize("name", ["an_bn_cn", "an_bn_cn_dn"])
def test_the_others_against_closed_forms(name):
    language = get(name)
    blocks = name.count("_") + 1
    for n in range(1, 6):
        string = "".join(letter * n for letter in "abcd"[:blocks])
        assert language.probability(string, 0.2) == pytest.approx(0.8 ** (n - 1) * 0.2)
    assert language.expected_length(0.2) == pytest.approx(blocks * 5)
    with pytest.raises(UsageError, match="is not context-free"):
        language.grammar()


@pytest.mark.parametrize("name", NAMES)
def test_next_distributions_are_conditional_probabilities(name):
    """P(x | prefix) is the share of the strings that go on with x among those that begin with the prefix."""
    language, p = get(name), 0.15
    count = {"an_bm_cn_plus_m": 3000, "dyck_1": 2500, "dyck_2": 2500}.get(name, 60)
    strings = {string: language.probability(string, p) for string in language.test_set(after=0, count=count)}
    if name.startswith("dyck"):
        strings[""] = language.probability("", p)
    missing = 1 - sum(strings.values())
    assert missing < 0.005
    for prefix in ("", language.input_alphabet.symbols[1], next(iter(strings))[:3]):
        begin = {string: chance for string, chance in strings.items() if string.startswith(prefix)}
        expected = np.zeros(len(language.input_alphabet))
        for string, chance in begin.items():
            symbol = (string + "#")[len(prefix)]
            expected[language.input_alphabet.symbols.index(symbol)] += chance
        assert sum(begin.values()) > 0.01
        np.testing.assert_allclose(
            language.next_distribution("#" + prefix, p), expected / expected.sum(), atol=2 * missing / expected.sum()
        )


@given(st.sampled_from(NAMES), st.integers(0, 300), st.floats(0.05, 0.5))
@settings(max_examples=60, deadline=None)
def test_a_string_is_its_steps(name, place, p):
    language = get(name)
    string = language.test_set(after=0, count=place + 1)[place]
    target = [*string, "#"]
    assert language.oracle(["#", *string]) == target
    ids = language.input_alphabet.encode(target)
    mask = language.valid_mask(string)
    assert mask[np.arange(len(ids)), ids].all()
    chances = [language.next_distribution(string[:cut], p)[i] for cut, i in enumerate(ids)]
    assert language.log2_probability(string, p) == pytest.approx(sum(math.log2(chance) for chance in chances))
    deterministic = language.deterministic_mask(string)
    assert not deterministic[0]
    np.testing.assert_array_equal(deterministic[1:], mask[1:].sum(1) == 1)


@pytest.mark.parametrize("name", NAMES)
def test_examples(name):
    language = get(name)
    for given_, expected in language.examples:
        assert " ".join(language.oracle(given_.split())) == expected
        assert language.pair(given_[2:]) == (given_, expected)


def test_masks_of_the_paper_figure_2():
    assert get("an_bn").deterministic_mask("aaabbb").tolist() == [False] * 4 + [True] * 3
    assert get("an_bm_cn_plus_m").deterministic_mask("abbccc").tolist() == [False] * 4 + [True] * 3
    dyck = [[1, 1, 0], [0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1], [1, 1, 0]]
    assert get("dyck_1").valid_mask("(()())").astype(int).tolist() == dyck
    assert not get("dyck_1").deterministic_mask("(()())").any()


def test_long_strings_do_not_underflow():
    assert get("an_bn").log2_probability("a" * 5000 + "b" * 5000, 0.5) == pytest.approx(-5000)
    assert get("an_bn").probability("a" * 5000 + "b" * 5000, 0.5) == 0
    assert get("an_bn").log2_probability("ba") == -math.inf


def test_strings_outside_name_the_first_position_at_fault():
    language = get("an_bn")
    with pytest.raises(UsageError, match=r"at position 4, after '# a a b', comes 'a', where only 'b' can follow"):
        language.oracle(["#", "a", "a", "b", "a", "b"])
    with pytest.raises(UsageError, match=r"at position 4, after '# a a b', comes the end, where only 'b' can follow"):
        language.oracle(["#", "a", "a", "b"])
    with pytest.raises(UsageError, match=r"at position 3, after '# a b', comes 'b', where only '#' can follow"):
        language.oracle(["#", "a", "b", "b"])
    with pytest.raises(UsageError, match=r"at position 2, after '# \[', comes '\)', where only '\(' or '\[' or '\]'"):
        get("dyck_2").oracle(["#", "[", ")"])
    with pytest.raises(UsageError, match=r"'# a\^60 b' is not in the language: at position 62"):
        language.oracle(["#", *"a" * 60, "b"])
    with pytest.raises(UsageError, match=r"does not begin with '#'. Write '# a b'"):
        language.oracle(["a", "b"])
    with pytest.raises(UsageError, match=r"Symbol 'x' at position 1 is not in the alphabet # a b"):
        language.valid_next("axb")
    with pytest.raises(UsageError, match="is not in the language"):
        language.valid_mask("aab")
