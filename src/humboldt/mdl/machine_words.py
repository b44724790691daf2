"""A network as machine words: one 64-bit word per unit and per edge.

The words of the edges, sorted as numbers, are sorted by target, then forward before recurrent, then by source: the
order of summation. To copy, compare or hash a network, it is thus enough to copy, compare or hash a few words.

    edge: target 8 bits | recurrent 1 | source 8 | negative 1 | numerator 20 | denominator 20
    unit: product 1 bit | activation 4 | negative 1 | bias numerator 20 (0: no bias) | bias denominator 20
"""

import numpy as np
from numpy.typing import NDArray

from humboldt.errors import UsageError
from humboldt.mdl.activations import ACTIVATIONS
from humboldt.mdl.jit import inlined
from humboldt.mdl.network import UNIT_TYPES, Edge, Network, Unit, Weight

TERM_BITS = 20
TERM_MASK = (1 << TERM_BITS) - 1
NUMERATOR = TERM_BITS
NEGATIVE = 2 * TERM_BITS
WEIGHT_MASK = (1 << (NEGATIVE + 1)) - 1
SOURCE = NEGATIVE + 1
RECURRENT = SOURCE + 8
TARGET = RECURRENT + 1
ACTIVATION = NEGATIVE + 1
PRODUCT = ACTIVATION + 4
UNIT_WEIGHT = (1 << NUMERATOR) | 1  # the weight 1
# Sets of units are bit masks in one signed word.
MAX_UNITS = 62


@inlined
def pack_weight(negative, numerator, denominator):
    """Returns the word of a weight."""
    return (negative << NEGATIVE) | (numerator << NUMERATOR) | denominator


@inlined
def pack_edge(source, target, recurrent, weight):
    """Returns the word of an edge whose weight is already a word."""
    return (target << TARGET) | (recurrent << RECURRENT) | (source << SOURCE) | weight


@inlined
def edge_source(word):
    """Returns the source unit of an edge."""
    return (word >> SOURCE) & 255


@inlined
def edge_target(word):
    """Returns the target unit of an edge."""
    return (word >> TARGET) & 255


@inlined
def edge_recurrent(word):
    """Returns 1 if the edge leads to the next time step, else 0."""
    return (word >> RECURRENT) & 1


@inlined
def unit_activation(word):
    """Returns the number of a unit's activation."""
    return (word >> ACTIVATION) & 15


@inlined
def unit_product(word):
    """Returns 1 if the unit multiplies its inputs, 0 if it adds them."""
    return (word >> PRODUCT) & 1


@inlined
def has_bias(word):
    """Returns whether the unit has a bias."""
    return (word >> NUMERATOR) & TERM_MASK != 0


@inlined
def weight_value(word):
    """Returns the value of the weight in an edge's or unit's word."""
    value = ((word >> NUMERATOR) & TERM_MASK) / (word & TERM_MASK)
    return -value if (word >> NEGATIVE) & 1 else value


def _weight_word(weight: Weight) -> int:
    return (int(weight.sign < 0) << NEGATIVE) | (weight.numerator << NUMERATOR) | weight.denominator


def _weight(word: int) -> Weight:
    return Weight(-1 if (word >> NEGATIVE) & 1 else 1, (word >> NUMERATOR) & TERM_MASK, word & TERM_MASK)


def pack(
    network: Network, max_units: int | None = None, max_edges: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the words of the units and of the edges, padded with zeros to the capacities if these are given."""
    for kind, size, capacity in (
        ("units", len(network.units), min(max_units or MAX_UNITS, MAX_UNITS)),
        ("edges", len(network.edges), max_edges or len(network.edges)),
    ):
        if size > capacity:
            raise UsageError(f"The network has {size} {kind}, the capacity is {capacity}. Use a smaller network.")
    units = np.zeros(max_units or len(network.units), dtype=np.int64)
    edges = np.zeros(max_edges or len(network.edges), dtype=np.int64)
    for number, unit in enumerate(network.units):
        bias = _weight_word(unit.bias) if unit.bias else 1  # denominator 1: never divide by 0
        units[number] = (
            (UNIT_TYPES.index(unit.type) << PRODUCT) | (ACTIVATIONS.index(unit.activation) << ACTIVATION) | bias
        )
    words = sorted(
        (e.target << TARGET) | (int(e.recurrent) << RECURRENT) | (e.source << SOURCE) | _weight_word(e.weight)
        for e in network.edges
    )
    edges[: len(words)] = words
    return units, edges


def unpack(units: NDArray[np.int64], edges: NDArray[np.int64], symbols: tuple[str, ...]) -> Network:
    """Returns the network of these words, which must not be padded."""
    described = []
    for word in (int(w) for w in units):
        bias = _weight(word) if (word >> NUMERATOR) & TERM_MASK else None
        described.append(Unit(ACTIVATIONS[(word >> ACTIVATION) & 15], UNIT_TYPES[(word >> PRODUCT) & 1], bias))
    connections = [
        Edge((w >> SOURCE) & 255, (w >> TARGET) & 255, _weight(w), bool((w >> RECURRENT) & 1))
        for w in (int(w) for w in edges)
    ]
    return Network(symbols, tuple(described), tuple(connections))
