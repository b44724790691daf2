"""The tree of prefixes against the chart of one prefix after the other, and against all strings."""

import numpy as np
import pytest
from languages.formal.brute_force import random_grammar
from languages.formal.regular_support import language_of, random_automaton, with_random_weights

from humboldt.languages.formal.continuations import Continuations
from humboldt.languages.formal.enumeration import Strings
from humboldt.languages.formal.grammar_file import ContextFreeGrammar, parse
from humboldt.languages.formal.minimal import trimmed
from humboldt.languages.formal.prefix_tree import GrammarTree, StateTree, _of_length, ordered
from humboldt.languages.formal.prefixes import Prefixes

LONGEST = 5
TEXTS = [
    "S -> a S a | b S b | a | b |",
    "S -> S S [0.3] | a | b S",
    "E -> E p T [0.3] | T \n T -> x | l E r [0.2]",
    "S -> A B C \n A -> a A [0.4] | \n B -> b B [0.5] | \n C -> A | c",
    "S -> A | a [0.5] \n A -> S [0.3] | b",
]


def check(grammar: ContextFreeGrammar) -> None:
    tree, prefixes, strings = GrammarTree(grammar), Prefixes(grammar), Strings(grammar)
    level: list[tuple[tuple[str, ...], int]] = [((), 0)]
    for _ in range(LONGEST):
        following = []
        for prefix, node in level:
            known = prefixes.next_distribution(prefix)
            wanted = np.array([known.get(key, 0.0) for key in (None, *grammar.alphabet)])
            assert tree.distribution(node) == pytest.approx(wanted, abs=1e-9)
            assert ((tree.distribution(node) > 0) == (wanted > 0)).all()
            following += [((*prefix, grammar.alphabet[symbol - 1]), child) for symbol, child in tree.ways(node)]
        level = following
    for length in range(LONGEST + 1):
        codes = list(_of_length(tree, length, None))
        spelled = [tuple(grammar.alphabet[ord(symbol) - 1] for symbol in code) for code in codes]
        assert spelled == sorted(strings.of_length(length))
        for place in range(0, len(codes), 5):
            assert list(_of_length(tree, length, codes[place])) == codes[place + 1 :]


@pytest.mark.parametrize("text", TEXTS)
def test_what_follows_a_prefix_of_a_grammar(text: str) -> None:
    check(parse(text))


@pytest.mark.parametrize("seed", range(12))
def test_what_follows_a_prefix_of_a_random_grammar(seed: int) -> None:
    grammar = random_grammar(seed)
    if grammar.useful:
        check(grammar)


@pytest.mark.parametrize("seed", range(10))
def test_the_states_of_a_random_automaton(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = trimmed(random_automaton(rng, states=4, symbols=2))
    if automaton.is_empty or not automaton.alphabet:
        return
    automaton = with_random_weights(automaton, rng)
    tree, continuations = StateTree(automaton), Continuations(automaton)
    strings = language_of(automaton, LONGEST)
    for length in range(LONGEST + 1):
        codes = list(_of_length(tree, length, None))
        spelled = [tuple(automaton.alphabet[ord(symbol) - 1] for symbol in code) for code in codes]
        assert spelled == sorted(string for string in strings if len(string) == length)
        for string in spelled:
            node = 0
            for symbol in string:
                node = tree.child(node, 1 + automaton.alphabet.index(symbol))
            known = continuations.next_distribution(string)
            wanted = [known.get(key, 0.0) for key in (None, *automaton.alphabet)]
            assert tree.distribution(node) == pytest.approx(wanted)


def test_nodes_are_shared_and_long_strings_come_fast() -> None:
    tree = GrammarTree(parse("S -> a S b [0.7] | a b [0.3]"))
    strings = ordered(tree, None, length=400)
    assert next(strings) == "\x01" * 200 + "\x02" * 200
    assert next(strings) == "\x01" * 201 + "\x02" * 201
    assert len(tree._nodes) < 2_000
