"""|D:G|: the code length of a corpus given a network, in a slow form and a fast form that agree to the last bit."""

import math
from dataclasses import dataclass

from humboldt.errors import UsageError
from humboldt.mdl.activations import ACTIVATIONS, PAPER_ACTIVATIONS, apply_activation
from humboldt.mdl.execution_plan import make_plan, new_plan
from humboldt.mdl.jit import entry
from humboldt.mdl.machine_words import pack
from humboldt.mdl.network import Network
from humboldt.mdl.network_bits import encoding_length
from humboldt.mdl.state_merging import new_memo, trie_bits
from humboldt.mdl.trie import Trie

# Unit values are held within this bound before the activation while searching (as in the reference code).
SEARCH_CLIP = 1e6
NO_CLIP = math.inf


@dataclass(frozen=True)
class DescriptionLength:
    """MDL = |G| + |D:G|, in bits; infinite if the network excludes a symbol of the corpus."""

    grammar: int
    data: float

    @property
    def total(self) -> float:
        """|G| + |D:G|."""
        return self.grammar + self.data


def description_length(
    network: Network, trie: Trie, activations: tuple[str, ...] = PAPER_ACTIVATIONS, *, clip: float = SEARCH_CLIP
) -> DescriptionLength:
    """Returns both parts of the description length of a corpus."""
    return DescriptionLength(encoding_length(network, activations), data_bits(network, trie, clip=clip))


def step_slow(
    network: Network, previous: list[float] | None, symbol: int, clip: float = NO_CLIP
) -> tuple[list[float], list[float]]:
    """Takes one time step in plain Python; returns the values of all units, and the distribution over the next symbol.

    `previous` are the values of the previous step, `None` at the first step.
    """
    values = [0.0] * len(network.units)
    for number in network.topological_order:
        unit = network.units[number]
        terms = [float(e.weight) * values[e.source] for e in network.incoming[number] if not e.recurrent]
        if previous is not None:
            terms += [float(e.weight) * previous[e.source] for e in network.incoming[number] if e.recurrent]
        if number in network.inputs:
            terms.insert(0, 1.0 if number == symbol else 0.0)
        total = 0.0
        if unit.type == "product" and terms:
            total = 1.0
            for term in terms:
                total *= term
        else:
            for term in terms:
                total += term
        if unit.bias is not None:
            total += float(unit.bias)
        total = clip if total > clip else -clip if total < -clip else total
        values[number] = apply_activation.py_func(ACTIVATIONS.index(unit.activation), total)
    outputs = [values[number] for number in network.outputs]
    # NaN (from overflow, possible only without clipping) stays NaN, which is not a valid probability.
    clamped = [0.0 if x <= 0.0 else x for x in outputs]
    total = 0.0
    for x in clamped:
        if x > 0.0:
            total += x
    if total == 0.0:
        return values, [1.0 / len(outputs)] * len(outputs)
    return values, [x / total for x in clamped]


def data_bits_slow(network: Network, trie: Trie, *, clip: float = SEARCH_CLIP, impossible: float = math.inf) -> float:
    """Returns |D:G|, computed in plain Python: the definition that the compiled form is tested against.

    `impossible` is the cost of a symbol of probability 0: infinite, but a search may charge less.
    """
    _check_size(network, trie)
    states: list[list[float]] = []
    bits = 0.0
    for node in range(trie.num_nodes):
        parent = int(trie.parent[node])
        values, distribution = step_slow(network, states[parent] if parent >= 0 else None, int(trie.symbol[node]), clip)
        states.append(values)
        for c in range(int(trie.next_start[node]), int(trie.next_start[node + 1])):
            p = distribution[int(trie.next_symbol[c])]
            bits += float(trie.next_count[c]) * (-math.log2(p) if p > 0.0 else impossible)
    return bits


@entry
def _evaluate_genome(sources):
    def evaluate_genome(plan, units, edges, trie, memo, num_symbols, clip):
        _ = sources  # see jit.py
        make_plan(plan, units, len(units), edges, len(edges), num_symbols, clip)
        return trie_bits(plan, trie, memo, num_symbols, clip, math.inf, math.inf)

    return evaluate_genome


def data_bits(network: Network, trie: Trie, *, clip: float = SEARCH_CLIP) -> float:
    """Returns |D:G| of the corpus in bits: the sum of -log2 of its symbols' probabilities; infinite if one is 0."""
    _check_size(network, trie)
    units, edges = pack(network)
    plan = new_plan(len(units), len(edges), trie.num_symbols)
    memo = new_memo(trie.num_nodes, len(units), trie.num_symbols)
    return _evaluate_genome(plan, units, edges, trie.arrays, memo, trie.num_symbols, clip)


def _check_size(network: Network, trie: Trie) -> None:
    if network.num_symbols != trie.num_symbols:
        raise UsageError(
            f"The network reads {network.num_symbols} symbols ({' '.join(network.symbols)}), the corpus has "
            f"{trie.num_symbols}. Use a network whose `symbols` are those of the language."
        )
