"""A change of scale: multiplies all weights into a unit by the same number.

A counter that goes up by 2 and down by 2 can also go up by 1 and down by 1, which is shorter; a counter of two things
at once must first take large steps. One weight at a time, both changes lead through networks that no longer count.
"""

from humboldt.mdl.jit import inner
from humboldt.mdl.machine_words import (
    NEGATIVE,
    NUMERATOR,
    TERM_MASK,
    WEIGHT_MASK,
    edge_source,
    edge_target,
    has_bias,
    pack_weight,
)
from humboldt.mdl.search.random_numbers import below


@inner
def times(word, up, down):
    """Returns the weight in `word` times up / down, in lowest terms; 0 if it does not fit."""
    numerator = ((word >> NUMERATOR) & TERM_MASK) * up
    denominator = (word & TERM_MASK) * down
    a, b = numerator, denominator
    while b:
        a, b = b, a % b
    numerator //= a
    denominator //= a
    if numerator > TERM_MASK or denominator > TERM_MASK:
        return 0
    return pack_weight((word >> NEGATIVE) & 1, numerator, denominator)


@inner
def scale_unit(rng, units, edges, sizes, num_symbols):
    """Multiplies or divides by 2 or 3 all weights into a random unit, except from itself.

    With probability 1/2 the weights out of it are divided by the same number, so that a linear unit keeps its effect.
    """
    unit = num_symbols + below(rng, sizes[0] - num_symbols)
    up, down = 2 + below(rng, 2), 1
    if below(rng, 2):
        up, down = down, up
    both = below(rng, 2)
    changed = has_bias(units[unit])
    if changed and times(units[unit], up, down) == 0:
        return False
    for e in range(sizes[1]):
        source, target = edge_source(edges[e]), edge_target(edges[e])
        if source != target and (target == unit or (both and source == unit)):
            changed = True
            if times(edges[e], up, down) == 0 or times(edges[e], down, up) == 0:
                return False
    if not changed:
        return False
    if has_bias(units[unit]):
        units[unit] = (units[unit] & ~WEIGHT_MASK) | times(units[unit], up, down)
    for e in range(sizes[1]):
        source, target = edge_source(edges[e]), edge_target(edges[e])
        if source != target and target == unit:
            edges[e] = (edges[e] & ~WEIGHT_MASK) | times(edges[e], up, down)
        elif source != target and both and source == unit:
            edges[e] = (edges[e] & ~WEIGHT_MASK) | times(edges[e], down, up)
    return True
