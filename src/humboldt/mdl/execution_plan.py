"""A genome prepared for execution: which units must be computed, in which order, from which inputs.

Three savings, none of which changes a bit of the result:

- units from which no output can be reached, through edges of either kind, are left out;
- inputs are one-hot, so the edges from them into a summing unit are one table lookup. They come first in the order of
  summation, and adding the zeros of the other inputs to a sum that began at +0.0 changes nothing;
- a unit that depends on the current symbol alone is computed once per symbol.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humboldt.mdl.activations import apply_activation
from humboldt.mdl.jit import inlined, inner
from humboldt.mdl.machine_words import (
    edge_recurrent,
    edge_source,
    edge_target,
    has_bias,
    unit_activation,
    unit_product,
    weight_value,
)

# The terms of a computed unit's sum, as bits of Plan.kind.
TABLE_ONLY = 1  # value = now[place, symbol], activation already applied
PRODUCT_UNIT = 2
INPUT_UNIT = 4
BIASED = 8
PREVIOUS_INPUTS = 16  # has recurrent edges from inputs that are in the table `before`


class Plan(NamedTuple):
    """Computed units have places 0, 1, ... in the order of computation. Capacities: units U, edges E, symbols V."""

    size: NDArray[np.int64]  # (3,) computed units; values kept for the next step; 1 if the next step sees this symbol
    unit: NDArray[np.int64]  # (U,) the unit at each place
    place: NDArray[np.int64]  # (U,) the place of each unit, -1 if it is not computed
    kind: NDArray[np.int64]  # (U,) bits, see above
    activation: NDArray[np.int64]  # (U,)
    bias: NDArray[np.float64]  # (U,)
    now: NDArray[np.float64]  # (U, V) contribution of the current symbol
    before: NDArray[np.float64]  # (U, V) contribution of the previous symbol
    forward_end: NDArray[np.int64]  # (U,) edges of place p: forward [begin[p], forward_end[p])
    begin: NDArray[np.int64]  # (U + 1,)   then recurrent [forward_end[p], begin[p + 1])
    source: NDArray[np.int64]  # (E,) place of each edge's source
    weight: NDArray[np.float64]  # (E,)
    output: NDArray[np.int64]  # (V,) place of each output
    kept: NDArray[np.int64]  # (U,) places whose values the next step needs: the network's memory


def new_plan(max_units: int, max_edges: int, num_symbols: int) -> Plan:
    """Allocates a plan for any genome of at most this size."""
    return Plan(
        size=np.zeros(3, np.int64),
        unit=np.zeros(max_units, np.int64),
        place=np.zeros(max_units, np.int64),
        kind=np.zeros(max_units, np.int64),
        activation=np.zeros(max_units, np.int64),
        bias=np.zeros(max_units),
        now=np.zeros((max_units, num_symbols)),
        before=np.zeros((max_units, num_symbols)),
        forward_end=np.zeros(max_units, np.int64),
        begin=np.zeros(max_units + 1, np.int64),
        source=np.zeros(max(max_edges, 1), np.int64),
        weight=np.zeros(max(max_edges, 1)),
        output=np.zeros(num_symbols, np.int64),
        kept=np.zeros(max_units, np.int64),
    )


@inner
def _live_units(num_units, edges, num_edges, num_symbols):
    """Returns the bit mask of the units from which an output can be reached."""
    live = ((1 << num_symbols) - 1) << num_symbols
    changed = True
    while changed:
        changed = False
        for e in range(num_edges):
            if (live >> edge_target(edges[e])) & 1 and not (live >> edge_source(edges[e])) & 1:
                live |= 1 << edge_source(edges[e])
                changed = True
    return live


@inner
def _inputs_are_plain(units, edges, num_edges, num_symbols):
    """Returns whether input units only hold the one-hot symbol."""
    for u in range(num_symbols):
        if unit_activation(units[u]) != 0 or unit_product(units[u]) or has_bias(units[u]):
            return False
    # Edges are sorted by target, and inputs have the lowest numbers.
    return num_edges == 0 or edge_target(edges[0]) >= num_symbols


@inner
def make_plan(plan, units, num_units, edges, num_edges, num_symbols, clip):
    """Fills `plan` from a genome. Forward edges must not form a cycle."""
    live = _live_units(num_units, edges, num_edges, num_symbols)
    tables = _inputs_are_plain(units, edges, num_edges, num_symbols)
    for u in range(num_symbols, num_units):
        if unit_product(units[u]) and (live >> u) & 1:
            tables = False
    first_unit = num_symbols if tables else 0
    waiting = live >> first_unit << first_unit
    done = live & ~waiting
    for u in range(num_units):
        plan.place[u] = -1
    # Two arrays of the plan serve as scratch before they are filled.
    needs = plan.unit  # per unit, the sources of its forward edges as a mask
    for u in range(num_units):
        needs[u] = 0
    for e in range(num_edges):
        if not edge_recurrent(edges[e]):
            needs[edge_target(edges[e])] |= 1 << edge_source(edges[e])
    size = 0
    order = plan.kind  # per place, its unit
    while waiting:
        for u in range(first_unit, num_units):
            if (waiting >> u) & 1 and (needs[u] & ~done) == 0:
                order[size] = u
                plan.place[u] = size
                size += 1
                done |= 1 << u
                waiting &= ~(1 << u)
    for p in range(size):
        plan.unit[p] = order[p]
    plan.size[0] = size
    _fill(plan, units, edges, num_edges, num_symbols, tables, clip)


@inner
def _fill(plan, units, edges, num_edges, num_symbols, tables, clip):
    used = 0
    kept = 0  # as a mask of places
    plan.size[2] = 0
    for p in range(plan.size[0]):
        u = plan.unit[p]
        word = units[u]
        kind = 0
        if unit_product(word):
            kind |= PRODUCT_UNIT
        if u < num_symbols:
            kind |= INPUT_UNIT
        plan.activation[p] = unit_activation(word)
        plan.bias[p] = 0.0
        if has_bias(word):
            kind |= BIASED
            plan.bias[p] = weight_value(word)
        for s in range(num_symbols):
            plan.now[p, s] = 0.0
            plan.before[p, s] = 0.0
        plan.begin[p] = used
        e = 0
        while e < num_edges and edge_target(edges[e]) < u:
            e += 1
        while e < num_edges and edge_target(edges[e]) == u and not edge_recurrent(edges[e]):
            source = edge_source(edges[e])
            if tables and source < num_symbols:
                plan.now[p, source] = weight_value(edges[e])
            else:
                plan.source[used] = plan.place[source]
                plan.weight[used] = weight_value(edges[e])
                used += 1
            e += 1
        plan.forward_end[p] = used
        while e < num_edges and edge_target(edges[e]) == u:
            source = edge_source(edges[e])
            if tables and source < num_symbols:
                kind |= PREVIOUS_INPUTS
                plan.size[2] = 1
                plan.before[p, source] = weight_value(edges[e])
            else:
                plan.source[used] = plan.place[source]
                plan.weight[used] = weight_value(edges[e])
                used += 1
                kept |= 1 << plan.place[source]
            e += 1
        plan.begin[p + 1] = used
        if tables and used == plan.begin[p] and not kind & PREVIOUS_INPUTS:
            kind |= TABLE_ONLY
            for s in range(num_symbols):
                plan.now[p, s] = finish(kind, plan.activation[p], plan.bias[p], plan.now[p, s], clip)
        plan.kind[p] = kind
    for s in range(num_symbols):
        plan.output[s] = plan.place[num_symbols + s]
    count = 0
    for p in range(plan.size[0]):
        if (kept >> p) & 1:
            plan.kept[count] = p
            count += 1
    plan.size[1] = count


@inlined
def finish(kind, activation, bias, total, clip):
    """Returns the value of a unit from the sum of its inputs: applies bias, clipping and activation."""
    if kind & BIASED:
        total += bias
    if total > clip:
        total = clip
    elif total < -clip:
        total = -clip
    if activation == 0:
        result = total
    elif activation == 1:
        result = total if total > 0.0 else 0.0
    else:
        result = apply_activation(activation, total)
    return result


@inlined
def compute_step(
    size, unit, kinds, activations, biases, now, before, begins, forward_ends, sources, weights,
    values, row, previous, symbol, previous_symbol, clip,
):  # fmt: skip
    """Computes all units for one time step, and writes their values to values[row : row + size].

    The parts of the plan are separate arguments, and `values` is flat: taking an array out of a tuple, or a row out of
    an array, costs a reference count, and those cost more than the step. The values of the previous step begin at
    `previous`; at the first step `previous_symbol` is -1.
    """
    for p in range(size):
        kind = kinds[p]
        if kind & TABLE_ONLY:
            values[row + p] = now[p, symbol]
        else:
            begin, middle, end = begins[p], forward_ends[p], begins[p + 1]
            if previous_symbol < 0:
                end = middle
            if kind & PRODUCT_UNIT:
                total = 1.0
                if kind & INPUT_UNIT:
                    total = 1.0 if unit[p] == symbol else 0.0
                elif begin == end:
                    total = 0.0
                for e in range(begin, middle):
                    total *= weights[e] * values[row + sources[e]]
                for e in range(middle, end):
                    total *= weights[e] * values[previous + sources[e]]
            else:
                total = now[p, symbol]
                if kind & INPUT_UNIT:
                    total = 1.0 if unit[p] == symbol else 0.0
                for e in range(begin, middle):
                    total += weights[e] * values[row + sources[e]]
                if kind & PREVIOUS_INPUTS and previous_symbol >= 0:
                    total += before[p, previous_symbol]
                for e in range(middle, end):
                    total += weights[e] * values[previous + sources[e]]
            values[row + p] = finish(kind, activations[p], biases[p], total, clip)


@inlined
def output_total(outputs, values, row, num_symbols):
    """Returns the sum of the outputs that are above 0."""
    total = 0.0
    for s in range(num_symbols):
        x = values[row + outputs[s]]
        if x > 0.0:
            total += x
    return total


@inlined
def probability(x, total, num_symbols):
    """Returns the probability of the symbol with output `x`, given `output_total`; NaN where outputs overflow."""
    if total == 0.0:
        result = 1.0 / num_symbols
    elif x <= 0.0:
        result = 0.0
    else:
        result = x / total
    return result
