"""Code length and hashes of a genome, compiled."""

import numpy as np

from humboldt.mdl.activations import ACTIVATION_COST, ACTIVATIONS
from humboldt.mdl.jit import inlined, inner
from humboldt.mdl.machine_words import NUMERATOR, TERM_MASK, edge_source, has_bias, unit_activation
from humboldt.mdl.network_bits import integer_bits

_COSTS = np.array([ACTIVATION_COST[name] for name in ACTIVATIONS], dtype=np.int64)
_INTEGER_BITS = np.array([integer_bits(n) for n in range(1024)], dtype=np.int64)
_KEY_1, _KEY_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_S29, _S32 = np.uint64(29), np.uint64(32)


@inlined
def _bits(n):
    if n < 1024:
        return _INTEGER_BITS[n]
    length = 0
    while n:
        n >>= 1
        length += 1
    return 2 * length + 1


@inlined
def _weight_bits(word):
    return 1 + _bits((word >> NUMERATOR) & TERM_MASK) + _bits(word & TERM_MASK)


@inner
def grammar_bits(units, edges, sizes, degrees, activation_bits):
    """Returns |G| of a genome; the same number as `network_bits.encoding_length`."""
    target_bits = 0
    while (1 << target_bits) < sizes[0]:
        target_bits += 1
    for u in range(sizes[0]):
        degrees[u] = 0
    bits = _bits(sizes[0])
    for e in range(sizes[1]):
        degrees[edge_source(edges[e])] += 1
        bits += 1 + target_bits + _weight_bits(edges[e])
    for u in range(sizes[0]):
        bits += _bits(degrees[u]) + 1 + activation_bits + _COSTS[unit_activation(units[u])] + 1
        bits += _weight_bits(units[u]) if has_bias(units[u]) else 2
    return bits


@inlined
def _mixed(h1, h2, word):
    h1 = (h1 ^ word) * _KEY_1
    h2 = (h2 + word) * _KEY_2
    return h1 ^ (h1 >> _S32), h2 ^ (h2 >> _S29)


@inner
def hash_genome(units, edges, sizes):
    """Returns two 64-bit hashes of a genome."""
    h1 = np.uint64(sizes[0]) * _KEY_2
    h2 = np.uint64(sizes[1]) * _KEY_1 + np.uint64(1)
    for u in range(sizes[0]):
        h1, h2 = _mixed(h1, h2, np.uint64(units[u]))
    for e in range(sizes[1]):
        h1, h2 = _mixed(h1, h2, np.uint64(edges[e]))
    return h1, h2
