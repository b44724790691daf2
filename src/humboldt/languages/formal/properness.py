"""Termination of the derivations of a weighted grammar, and their mean length and entropy.

>>> from humboldt.languages.formal.grammar_file import parse
>>> print(properness(parse("S -> S S [0.6] | a")).sentence)
The grammar is improper: its derivations end with probability 0.666667 only. Make the recursive rules less probable.
"""

import math
from dataclasses import dataclass

import numpy as np

from humboldt.languages.formal.binary_form import binary_form, followers
from humboldt.languages.formal.counting import strongly_connected
from humboldt.languages.formal.grammar_file import ContextFreeGrammar
from humboldt.languages.formal.weighted_form import ending, spectral_radius

MARGIN = 1e-9  # within which an eigenvalue counts as 1


@dataclass(frozen=True)
class Properness:
    """Whether derivations end.

    - `ends`: the probability that a derivation ends.
    - `radius`: the spectral radius of the mean matrix: how many nonterminals follow one, in the long run. Below 1
      the expected length is finite.
    - `expected_length`: of a string; infinite unless derivations end soon enough.
    - `entropy`: of derivations, in bits; infinite in the same cases.
    """

    ends: float
    radius: float
    expected_length: float
    entropy: float
    sentence: str

    @property
    def is_proper(self) -> bool:
        """Whether derivations end with probability 1 after finitely many steps on average."""
        return self.radius < 1 - MARGIN


def properness(grammar: ContextFreeGrammar) -> Properness:
    """Computes properness from the mean matrix: the mean number of B in the alternatives of A."""
    heads = {head: row for row, head in enumerate(dict.fromkeys(rule.head for rule in grammar.reachable))}
    mean = np.zeros((len(heads), len(heads)))
    for rule in grammar.reachable:
        for symbol in rule.body:
            if symbol in heads:
                mean[heads[rule.head], heads[symbol]] += float(rule.weight)
    radius = _radius(mean)
    if not grammar.useful:
        sentence = f"The language is empty: {grammar.start} derives no finite string."
        return Properness(0.0, radius, math.inf, math.inf, sentence)
    ends = float(ending(binary_form(grammar))[0])
    if radius < 1 - MARGIN:
        length, entropy = _means(grammar, heads, mean)
        sentence = f"The grammar is proper: its derivations end, their strings having {length:.6g} symbols on average."
        return Properness(ends, radius, length, entropy, sentence)
    if abs(ends - 1) < MARGIN:
        sentence = (
            "The derivations of the grammar end with probability 1, but so slowly that their mean length is infinite. "
            "Make the recursive rules less probable."
        )
    else:
        endless = sorted({rule.head for rule in grammar.reachable} - grammar.productive)
        way_out = f"{endless[0]} never ends: leave it out." if endless else "Make the recursive rules less probable."
        sentence = f"The grammar is improper: its derivations end with probability {ends:.6g} only. {way_out}"
    return Properness(ends, radius, math.inf, math.inf, sentence)


def _radius(mean: np.ndarray) -> float:
    graph = followers(len(mean), zip(*(axis.tolist() for axis in np.nonzero(mean)), strict=True))
    return max(spectral_radius(mean[np.ix_(nodes, nodes)]) for nodes in strongly_connected(graph))


def _means(grammar: ContextFreeGrammar, heads: dict[str, int], mean: np.ndarray) -> tuple[float, float]:
    """Returns the mean length and the entropy of derivations, from the mean uses of each nonterminal."""
    expanded = np.linalg.solve(np.eye(len(mean)) - mean.T, np.eye(len(mean))[heads[grammar.start]])
    length = entropy = 0.0
    for rule in grammar.reachable:
        used = expanded[heads[rule.head]] * float(rule.weight)
        length += used * sum(symbol not in heads for symbol in rule.body)
        entropy -= used * math.log2(rule.weight)
    return float(length), float(entropy)
