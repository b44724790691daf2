"""Small corpora, built here so that these tests need no other part of the package; and random networks."""

import numpy as np
from hypothesis import strategies as st

from humboldt.mdl.activations import ACTIVATIONS
from humboldt.mdl.network import UNIT_TYPES, Edge, Network, Unit, Weight
from humboldt.mdl.trie import Trie, build_trie

Grammar = dict[str, list[tuple[str, float]]]


def an_bn_grammar(p: float = 0.3) -> Grammar:
    return {"S": [("aXb", 1.0)], "X": [("aXb", 1 - p), ("", p)]}


def dyck_1_grammar(p: float = 0.3) -> Grammar:
    return {"S": [("(S)S", p), ("", 1 - p)]}


def an_bm_cn_plus_m_grammar(p: float = 0.3) -> Grammar:
    return {"S": [("aXc", 1.0)], "X": [("aXc", 1 - p), ("Y", p)], "Y": [("bZc", 1.0)], "Z": [("bZc", 1 - p), ("", p)]}


def sample(grammar: Grammar, count: int, seed: int = 100) -> list[str]:
    """Leftmost derivations, one draw per expansion, as in the released corpora."""
    random = np.random.RandomState(seed)
    strings = []
    for _ in range(count):
        pending, string = ["S"], ""
        while pending:
            symbol = pending.pop(0)
            if symbol not in grammar:
                string += symbol
                continue
            rules = grammar[symbol]
            chosen = random.choice(len(rules), p=[probability for _, probability in rules])
            pending = list(rules[chosen][0]) + pending
        strings.append(string)
    return strings


def counting_strings(count: int, letters: str, p: float = 0.3, seed: int = 100) -> list[str]:
    """a^n b^n ... with n drawn as in the released searches of 2022."""
    n_values = np.random.RandomState(seed).geometric(p, size=count)
    return ["".join(letter * int(n) for letter in letters) for n in n_values]


def trie_of(strings: list[str], symbols: tuple[str, ...]) -> Trie:
    return build_trie([[symbols.index(s) for s in string] for string in strings], len(symbols))


weights = st.builds(Weight, st.sampled_from([1, -1]), st.integers(1, 9), st.integers(1, 9))


@st.composite
def networks(draw, num_symbols: int = 3, max_hidden: int = 4, any_edges: bool = True) -> Network:
    """Any valid network; with `any_edges` also with edges into inputs and out of outputs."""
    num_units = 2 * num_symbols + draw(st.integers(0, max_hidden))
    units = tuple(
        Unit(
            draw(st.sampled_from(ACTIVATIONS)) if any_edges or u >= num_symbols else "linear",
            draw(st.sampled_from(UNIT_TYPES)) if any_edges or u >= num_symbols else "sum",
            draw(st.none() | weights) if any_edges or u >= num_symbols else None,
        )
        for u in range(num_units)
    )
    rank = draw(st.permutations(range(num_units)))  # forward edges climb in rank: no cycle
    pairs = st.tuples(st.integers(0, num_units - 1), st.integers(0, num_units - 1))
    chosen = draw(st.lists(st.tuples(pairs, st.booleans(), weights), max_size=14, unique_by=lambda item: item[:2]))
    edges = []
    for (source, target), recurrent, weight in chosen:
        if not recurrent and rank[source] >= rank[target]:
            continue
        if not any_edges and (target < num_symbols or num_symbols <= source < 2 * num_symbols):
            continue
        edges.append(Edge(source, target, weight, recurrent))
    return Network(("#", "a", "b", "c", "d")[:num_symbols], units, tuple(edges))
