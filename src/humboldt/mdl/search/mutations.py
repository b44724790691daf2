"""Small random changes to a genome, in place.

The first nine are those of the reference code of Lan et al. (2022), with the same choices inside each; the last five
are ours. One departure holds for all: a forward edge that would close a cycle is never added (the reference adds it,
counts its bits, and leaves it out when it runs the network).
"""

from humboldt.mdl.jit import inner
from humboldt.mdl.machine_words import (
    ACTIVATION,
    PRODUCT,
    UNIT_WEIGHT,
    WEIGHT_MASK,
    edge_recurrent,
    edge_source,
    edge_target,
    has_bias,
    pack_edge,
    unit_activation,
)
from humboldt.mdl.search.genome_edits import (
    coded_weight,
    delete_edge,
    find_edge,
    free_targets,
    insert_edge,
    perturbed_weight,
    random_source,
    random_weight,
)
from humboldt.mdl.search.random_numbers import below, count_bits, random_bit, uniform
from humboldt.mdl.search.scale_mutation import scale_unit

OPERATORS = (
    "add_unit",
    "remove_unit",
    "change_activation",
    "change_type",
    "add_edge",
    "remove_edge",
    "add_bias",
    "remove_bias",
    "perturb_weight",
    "replace_weight",
    "rewire_edge",
    "flip_edge",
    "add_memory",
    "scale_unit",
)
# Relative rates; an operator that does not apply to a network is not drawn.
REFERENCE_RATES = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NO_BIAS = 1  # weight word of a unit without bias: numerator 0, denominator 1


@inner
def _add_edge(rng, units, edges, sizes, num_symbols, weight):
    if sizes[1] >= len(edges):
        return False
    recurrent = below(rng, 2)
    for _ in range(8):
        source = random_source(rng, sizes, num_symbols)
        free = free_targets(edges, sizes, num_symbols, source, recurrent)
        if free:
            target = random_bit(free, below(rng, count_bits(free)))
            insert_edge(edges, sizes, pack_edge(source, target, recurrent, weight))
            return True
    return False


@inner
def _add_unit(rng, units, edges, sizes, allowed, allow_product):
    """Splits an edge: the first half keeps kind and weight, the second is forward with weight 1."""
    if sizes[0] >= len(units) or sizes[1] == 0 or sizes[1] >= len(edges):
        return False
    place = below(rng, sizes[1])
    word = edges[place]
    delete_edge(edges, sizes, place)
    new = sizes[0]
    product = below(rng, 2) if allow_product else 0
    units[new] = (product << PRODUCT) | (allowed[below(rng, len(allowed))] << ACTIVATION) | NO_BIAS
    sizes[0] += 1
    insert_edge(edges, sizes, pack_edge(edge_source(word), new, edge_recurrent(word), word & WEIGHT_MASK))
    insert_edge(edges, sizes, pack_edge(new, edge_target(word), 0, UNIT_WEIGHT))
    return True


@inner
def _remove_unit(rng, units, edges, sizes, num_symbols):
    """Removes a hidden unit and joins its sources to its targets, with the first edge's weight.

    The joined edge is forward if both halves were, else recurrent; an edge that exists already is not changed.
    The unit with the highest number gets the free number.
    """
    if sizes[0] <= 2 * num_symbols:
        return False
    gone = 2 * num_symbols + below(rng, sizes[0] - 2 * num_symbols)
    before = sizes[1]
    old = edges[:before].copy()
    sizes[1] = 0
    for e in range(before):
        if edge_source(old[e]) != gone and edge_target(old[e]) != gone:
            edges[sizes[1]] = old[e]
            sizes[1] += 1
    for i in range(before):
        if edge_target(old[i]) != gone or edge_source(old[i]) == gone:
            continue
        for o in range(before):
            if edge_source(old[o]) != gone or edge_target(old[o]) == gone:
                continue
            source, target = edge_source(old[i]), edge_target(old[o])
            recurrent = edge_recurrent(old[i]) | edge_recurrent(old[o])
            if sizes[1] < len(edges) and find_edge(edges, sizes, source, target, recurrent) < 0:
                insert_edge(edges, sizes, pack_edge(source, target, recurrent, old[i] & WEIGHT_MASK))
    last = sizes[0] - 1
    units[gone] = units[last]
    sizes[0] = last
    count = sizes[1]
    sizes[1] = 0
    for e in range(count):
        word = edges[e]
        source = gone if edge_source(word) == last else edge_source(word)
        target = gone if edge_target(word) == last else edge_target(word)
        insert_edge(edges, sizes, pack_edge(source, target, edge_recurrent(word), word & WEIGHT_MASK))
    return True


@inner
def _unit_with_bias(rng, units, sizes, num_symbols, wanted):
    """Returns a random non-input unit that has a bias (or has none), -1 if there is no such unit."""
    count = 0
    for u in range(num_symbols, sizes[0]):
        count += has_bias(units[u]) == wanted
    if count == 0:
        return -1
    skipped = below(rng, count)
    for u in range(num_symbols, sizes[0]):
        if has_bias(units[u]) == wanted:
            if skipped == 0:
                return u
            skipped -= 1
    return -1


@inner
def _change_weight(rng, units, edges, sizes, num_symbols, replace):
    """Perturbs, or draws anew, the weight of a random edge or bias."""
    biases = 0
    for u in range(num_symbols, sizes[0]):
        biases += has_bias(units[u])
    if sizes[1] + biases == 0:
        return False
    place = below(rng, sizes[1] + biases)
    if place < sizes[1]:
        word = edges[place]
        weight = coded_weight(rng) if replace else perturbed_weight(rng, word & WEIGHT_MASK)
        edges[place] = (word & ~WEIGHT_MASK) | weight
        return True
    u = _unit_with_bias(rng, units, sizes, num_symbols, True)
    weight = coded_weight(rng) if replace else perturbed_weight(rng, units[u] & WEIGHT_MASK)
    units[u] = (units[u] & ~WEIGHT_MASK) | weight
    return True


@inner
def _move_edge(rng, units, edges, sizes, num_symbols, flip):
    """Moves one end of a random edge, or (flip) makes a forward edge recurrent or a recurrent edge forward."""
    if sizes[1] == 0:
        return False
    place = below(rng, sizes[1])
    word = edges[place]
    source, target, recurrent = edge_source(word), edge_target(word), edge_recurrent(word)
    if flip:
        recurrent = 1 - recurrent
    elif below(rng, 2):
        source = random_source(rng, sizes, num_symbols)
    else:
        target = num_symbols + below(rng, sizes[0] - num_symbols)
    delete_edge(edges, sizes, place)
    if (free_targets(edges, sizes, num_symbols, source, recurrent) >> target) & 1:
        insert_edge(edges, sizes, pack_edge(source, target, recurrent, word & WEIGHT_MASK))
        return True
    insert_edge(edges, sizes, word)
    return False


@inner
def _add_memory(rng, units, edges, sizes, num_symbols, allowed, allow_product):
    """Adds a unit that keeps its value (recurrent edge of weight 1 to itself), with random edges from and to it.

    The reference needs several unrewarded steps for this, and every counter begins with it.
    """
    if sizes[0] >= len(units) or sizes[1] + 4 > len(edges):
        return False
    new = sizes[0]
    product = below(rng, 2) if allow_product and below(rng, 4) == 0 else 0
    units[new] = (product << PRODUCT) | (allowed[below(rng, len(allowed))] << ACTIVATION) | NO_BIAS
    sizes[0] += 1
    insert_edge(edges, sizes, pack_edge(new, new, 1, UNIT_WEIGHT))
    for _ in range(1 + below(rng, 2)):
        source = random_source(rng, sizes, num_symbols)
        if source != new and find_edge(edges, sizes, source, new, 0) < 0:
            insert_edge(edges, sizes, pack_edge(source, new, 0, random_weight(rng)))
    # To any unit except the sources above it: a forward edge to one of those would close a cycle.
    recurrent = below(rng, 2)
    free = free_targets(edges, sizes, num_symbols, new, recurrent)
    target = random_bit(free, below(rng, count_bits(free)))  # outputs are always free
    insert_edge(edges, sizes, pack_edge(new, target, recurrent, random_weight(rng)))
    return True


@inner
def apply_operator(rng, operator, units, edges, sizes, num_symbols, allowed, allow_product):
    """Applies operator number `operator`; returns False, without a change, if it does not apply to this genome."""
    if operator == 0:
        return _add_unit(rng, units, edges, sizes, allowed, allow_product)
    if operator == 1:
        return _remove_unit(rng, units, edges, sizes, num_symbols)
    if operator == 2 or operator == 3:
        u = num_symbols + below(rng, sizes[0] - num_symbols)
        if operator == 3:
            if allow_product:
                units[u] ^= 1 << PRODUCT
            return allow_product
        if len(allowed) < 2:
            return False
        old = unit_activation(units[u])
        new = allowed[below(rng, len(allowed))]
        while new == old:
            new = allowed[below(rng, len(allowed))]
        units[u] ^= (old ^ new) << ACTIVATION
        return True
    if operator == 4:
        return _add_edge(rng, units, edges, sizes, num_symbols, random_weight(rng))
    if operator == 5:
        if sizes[1] == 0:
            return False
        delete_edge(edges, sizes, below(rng, sizes[1]))
        return True
    if operator == 6 or operator == 7:
        u = _unit_with_bias(rng, units, sizes, num_symbols, operator == 7)
        if u < 0:
            return False
        units[u] = (units[u] & ~WEIGHT_MASK) | (NO_BIAS if operator == 7 else random_weight(rng))
        return True
    if operator == 8 or operator == 9:
        return _change_weight(rng, units, edges, sizes, num_symbols, operator == 9)
    if operator == 12:
        return _add_memory(rng, units, edges, sizes, num_symbols, allowed, allow_product)
    if operator == 13:
        return scale_unit(rng, units, edges, sizes, num_symbols)
    return _move_edge(rng, units, edges, sizes, num_symbols, operator == 11)


@inner
def mutate(rng, units, edges, sizes, num_symbols, allowed, allow_product, cumulative):
    """Makes one random change. `cumulative` are running sums of the operators' rates."""
    for _ in range(100):
        draw = uniform(rng) * cumulative[-1]
        operator = 0
        while draw >= cumulative[operator]:
            operator += 1
        if apply_operator(rng, operator, units, edges, sizes, num_symbols, allowed, allow_product):
            return


@inner
def random_genome(rng, units, edges, sizes, num_symbols, allowed):
    """Makes a starting network: one random input for each output; no hidden units, biases or recurrent edges."""
    sizes[0] = 2 * num_symbols
    sizes[1] = 0
    for u in range(num_symbols):
        units[u] = NO_BIAS
        source = below(rng, num_symbols)
        insert_edge(edges, sizes, pack_edge(source, num_symbols + u, 0, random_weight(rng)))
    for u in range(num_symbols, 2 * num_symbols):
        units[u] = (allowed[below(rng, len(allowed))] << ACTIVATION) | NO_BIAS
