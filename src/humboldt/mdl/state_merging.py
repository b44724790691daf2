"""|D:G| over a trie, with each distinct (memory, symbol) computed once.

The prediction of a network after a prefix depends on the values it carries over and on the symbol it reads. A network
that counts is in the same state after `aab` as after `aaabb`; a network without memory is always in the same state.
States are compared by their bits, and a step from a known state by a known symbol is looked up. The result is the same
float as from a plain walk over the trie: equal inputs give equal outputs, and the bits are added in the same order.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humboldt.mdl.execution_plan import compute_step, output_total, probability
from humboldt.mdl.jit import inlined, inner

_KEY = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)


class Memo(NamedTuple):
    """Working memory for one evaluation at a time. There are never more steps or states than trie nodes (+ 1)."""

    values: NDArray[np.float64]  # (nodes * U,) values of the computed units after each step
    words: NDArray[np.uint64]  # the same memory as bits
    next_state: NDArray[np.int64]  # (nodes,) state after each step
    cost: NDArray[np.float64]  # (nodes * V,) -log2 p of each symbol after each step; -1 if not yet computed
    total: NDArray[np.float64]  # (nodes,) sum of the outputs of each step
    step_of_node: NDArray[np.int64]  # (nodes,)
    step_from: NDArray[np.int64]  # ((nodes + 1) * V,) step from a state by a symbol, -1 if not yet taken
    row_of_state: NDArray[np.int64]  # (nodes + 1,) where the state's values are
    symbol_of_state: NDArray[np.int64]  # (nodes + 1,) symbol read last
    slot_state: NDArray[np.int64]  # (H,) hash table of states
    slot_clock: NDArray[np.int64]  # (H,) the evaluation that filled the slot, so that the table is never cleared
    clock: NDArray[np.int64]  # (1,)


def new_memo(num_nodes: int, max_units: int, num_symbols: int) -> Memo:
    """Allocates the memory for evaluations on a trie of this size."""
    slots = 1 << (2 * num_nodes + 1).bit_length()
    values = np.zeros(num_nodes * max_units)
    return Memo(
        values=values,
        words=values.view(np.uint64),
        next_state=np.zeros(num_nodes, np.int64),
        cost=np.zeros(num_nodes * num_symbols),
        total=np.zeros(num_nodes),
        step_of_node=np.zeros(num_nodes, np.int64),
        step_from=np.zeros((num_nodes + 1) * num_symbols, np.int64),
        row_of_state=np.zeros(num_nodes + 1, np.int64),
        symbol_of_state=np.zeros(num_nodes + 1, np.int64),
        slot_state=np.zeros(slots, np.int64),
        slot_clock=np.zeros(slots, np.int64),
        clock=np.zeros(1, np.int64),
    )


@inlined
def intern_state(
    words, kept, num_kept, uses_symbol, slot_state, slot_clock, clock, row_of_state, symbol_of_state,
    row, symbol, num_states,
):  # fmt: skip
    """Returns the number of the state at `row`; `num_states` if it is new."""
    h = np.uint64(symbol) * np.uint64(uses_symbol)
    for k in range(num_kept):
        h = (h ^ words[row + kept[k]]) * _KEY
        h ^= h >> _S32
    mask = len(slot_state) - 1
    slot = np.int64(h) & mask
    number = -1
    while slot_clock[slot] == clock:
        state = slot_state[slot]
        known_row = row_of_state[state]
        same = uses_symbol == 0 or symbol_of_state[state] == symbol
        for k in range(num_kept):
            if words[row + kept[k]] != words[known_row + kept[k]]:
                same = False
        if same:
            number = state
            break
        slot = (slot + 1) & mask
    if number < 0:
        slot_clock[slot] = clock
        slot_state[slot] = num_states
        number = num_states
    return number


@inner
def trie_bits(plan, trie, memo, num_symbols, clip, bound, impossible):
    """Returns |D:G| of the network in `plan`, with `impossible` bits for a symbol of probability 0.

    Stops if that makes it infinite, and as soon as the bits so far are more than `bound`: then it returns their
    negative.
    """
    parent, symbol, next_start, next_symbol, next_count = trie
    sizes, unit, _, kinds, activations, biases, now, before, forward_ends, begins, sources, weights, outputs, kept = (
        plan
    )
    values, words, next_state, costs, totals, step_of_node, step_from, row_of_state, symbol_of_state = memo[:9]
    slot_state, slot_clock, clocks = memo[9:]
    size, num_kept, uses_symbol = sizes[0], sizes[1], sizes[2]
    clocks[0] += 1
    clock = clocks[0]
    num_states, num_steps = 1, 0  # state 0: before the first step
    symbol_of_state[0] = -1
    for s in range(num_symbols):
        step_from[s] = -1
    bits = 0.0
    for node in range(len(parent)):
        state = next_state[step_of_node[parent[node]]] if node > 0 else 0
        read = symbol[node]
        step = step_from[state * num_symbols + read]
        if step < 0:
            step = num_steps
            num_steps += 1
            row = step * size
            compute_step(
                size, unit, kinds, activations, biases, now, before, begins, forward_ends, sources, weights,
                values, row, row_of_state[state], read, symbol_of_state[state], clip,
            )  # fmt: skip
            totals[step] = output_total(outputs, values, row, num_symbols)
            for s in range(num_symbols):
                costs[step * num_symbols + s] = -1.0
            reached = intern_state(
                words, kept, num_kept, uses_symbol, slot_state, slot_clock, clock, row_of_state, symbol_of_state,
                row, read, num_states,
            )  # fmt: skip
            if reached == num_states:
                row_of_state[reached] = row
                symbol_of_state[reached] = read
                for s in range(num_symbols):
                    step_from[reached * num_symbols + s] = -1
                num_states += 1
            next_state[step] = reached
            step_from[state * num_symbols + read] = step
        step_of_node[node] = step
        for c in range(next_start[node], next_start[node + 1]):
            s = next_symbol[c]
            cost = costs[step * num_symbols + s]
            if cost < 0.0:
                p = probability(values[step * size + outputs[s]], totals[step], num_symbols)
                if p > 0.0:
                    # log2(1) is 0, and most symbols of these languages are certain. Adding -0.0 changes no sum.
                    cost = -math.log2(p) if p != 1.0 else 0.0
                elif impossible == math.inf:
                    return math.inf
                else:
                    cost = impossible
                costs[step * num_symbols + s] = cost
            bits += next_count[c] * cost
        if bits > bound:
            return -bits
    return bits
