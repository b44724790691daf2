"""Elementary edits that mutations consist of."""

from humboldt.mdl.jit import inner
from humboldt.mdl.machine_words import (
    NEGATIVE,
    NUMERATOR,
    SOURCE,
    TERM_MASK,
    edge_recurrent,
    edge_source,
    edge_target,
    pack_edge,
    pack_weight,
)
from humboldt.mdl.search.random_numbers import below, by_code_length, geometric, uniform


@inner
def random_weight(rng):
    """Draws a weight: random sign; numerator and denominator 1 with probability 1/2, 2 with 1/4, ..."""
    return pack_weight(below(rng, 2), geometric(rng), geometric(rng))


@inner
def coded_weight(rng):
    """Draws a weight: random sign; numerator and denominator with probabilities by their code lengths.

    Large ones are rare, but possible.
    """
    return pack_weight(below(rng, 2), by_code_length(rng), by_code_length(rng))


@inner
def perturbed_weight(rng, weight):
    """Returns a weight with numerator or denominator changed by one, or (more likely near 0) with the other sign."""
    numerator = (weight >> NUMERATOR) & TERM_MASK
    denominator = weight & TERM_MASK
    flip = max(0.0, 1.0 - numerator / denominator)
    draw = uniform(rng) * (2.0 + flip)
    if draw < flip:
        return weight ^ (1 << NEGATIVE)
    if draw < flip + 1.0:
        step = 1 if numerator == 1 or (below(rng, 2) and numerator < TERM_MASK) else -1
        return weight + (step << NUMERATOR)
    step = 1 if denominator == 1 or (below(rng, 2) and denominator < TERM_MASK) else -1
    return weight + step


@inner
def insert_edge(edges, sizes, word):
    """Inserts an edge at its place in the order."""
    place = sizes[1]
    while place > 0 and edges[place - 1] > word:
        edges[place] = edges[place - 1]
        place -= 1
    edges[place] = word
    sizes[1] += 1


@inner
def delete_edge(edges, sizes, place):
    """Deletes the edge at `place`."""
    for e in range(place, sizes[1] - 1):
        edges[e] = edges[e + 1]
    sizes[1] -= 1


@inner
def find_edge(edges, sizes, source, target, recurrent):
    """Returns the place of an edge in the order, -1 if there is none."""
    wanted = pack_edge(source, target, recurrent, 0) >> SOURCE
    for e in range(sizes[1]):
        if edges[e] >> SOURCE == wanted:
            return e
    return -1


@inner
def free_targets(edges, sizes, num_symbols, source, recurrent):
    """Returns the mask of the units to which an edge of this kind can be added from `source`."""
    free = ((1 << sizes[0]) - 1) & ~((1 << num_symbols) - 1)
    for e in range(sizes[1]):
        if edge_source(edges[e]) == source and edge_recurrent(edges[e]) == recurrent:
            free &= ~(1 << edge_target(edges[e]))
    if not recurrent:
        above = 1 << source  # units from which `source` is reached by forward edges: an edge to one closes a cycle
        changed = True
        while changed:
            changed = False
            for e in range(sizes[1]):
                word = edges[e]
                new = not (above >> edge_source(word)) & 1
                if new and not edge_recurrent(word) and (above >> edge_target(word)) & 1:
                    above |= 1 << edge_source(word)
                    changed = True
        free &= ~above
    return free


@inner
def random_source(rng, sizes, num_symbols):
    """Draws an input or hidden unit: outputs have no outgoing edges."""
    source = below(rng, sizes[0] - num_symbols)
    return source if source < num_symbols else source + num_symbols
