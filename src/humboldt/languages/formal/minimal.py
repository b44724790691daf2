"""Minimal automata, and canonical forms, which are equal where two files describe the same language.

>>> from humboldt.languages.formal.regex import parse_regex
>>> equivalent(parse_regex("( a | b )*"), parse_regex("( a* b* )*"))
True
"""

from collections import deque
from typing import Any, Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton

Mode = Literal["acceptance", "weighted", "state"]


def trimmed(automaton: Automaton) -> Automaton:
    """Returns the automaton on the states between start and acceptance; the start alone if the language is empty."""
    if automaton.is_empty:
        nothing = np.full((1, len(automaton.alphabet)), MISSING)
        return Automaton(automaton.alphabet, nothing, np.array([False]), 0, (automaton.names[automaton.start],))
    return automaton.restricted(np.nonzero(automaton.reachable & automaton.live)[0])


def without_weights(automaton: Automaton) -> Automaton:
    """Returns the same automaton without its probabilities."""
    return Automaton(automaton.alphabet, automaton.table, automaton.accepting, automaton.start, automaton.names)


def with_weights(automaton: Automaton) -> Automaton:
    """Returns an automaton with probabilities. Without weights, all continuations of a state, including stopping, are
    equally probable. Ways that cannot end in acceptance do not count, and states that have no others are left out.
    """
    if automaton.is_weighted:
        return automaton
    if automaton.is_empty:
        raise UsageError("The language is empty, so no string of it has a probability. Let a state accept.")
    live = trimmed(automaton)
    ways = (live.table != MISSING).sum(axis=1) + live.accepting
    share = 1 / ways
    moves = np.where(live.table != MISSING, share[:, None], 0.0)
    stops = np.where(live.accepting, share, 0.0)
    return Automaton(live.alphabet, live.table, live.accepting, live.start, live.names, moves, stops)


def in_order(automaton: Automaton) -> Automaton:
    """Returns the reachable states, numbered breadth first from the start along the sorted alphabet; names stay."""
    order, seen = [automaton.start], {automaton.start}
    for state in order:  # grows while it is read
        for target in automaton.table[state].tolist():
            if target != MISSING and target not in seen:
                seen.add(target)
                order.append(target)
    return automaton.restricted(order)


def minimal(automaton: Automaton) -> Automaton:
    """Returns the minimal automaton of the language, numbered breadth first. Weights, where there are any, are kept,
    and states with different ones stay apart. A merged state has the name of the first of its states.
    """
    automaton = trimmed(automaton)
    block = _blocks(automaton)
    _, first = np.unique(block, return_index=True)
    merged = np.where(automaton.table == MISSING, MISSING, block[automaton.table])
    weights = (None, None)
    if automaton.moves is not None and automaton.stops is not None:
        weights = (automaton.moves[first], automaton.stops[first])
    return in_order(
        Automaton(
            automaton.alphabet,
            merged[first],
            automaton.accepting[first],
            int(block[automaton.start]),
            tuple(automaton.names[state] for state in first),
            *weights,
        )
    )


def canonical(automaton: Automaton, mode: Mode = "acceptance") -> dict[str, Any]:
    """Returns the identity of a language as plain data: equal for two automata exactly if they pose the same problem.

    - `acceptance`: which strings are in the language. The minimal automaton.
    - `weighted`: with which probability. The minimal automaton with probabilities, equal shares where none are given.
    - `state`: which state a string leads to. The reachable automaton, states numbered breadth first.

    Names of states, the order of lines and unreachable states never matter; the alphabet does.
    """
    if mode == "state":
        form = in_order(without_weights(automaton))
    elif mode == "weighted":
        form = minimal(with_weights(automaton))
    else:
        form = minimal(without_weights(automaton))
    data: dict[str, Any] = {
        "mode": mode,
        "alphabet": list(form.alphabet),
        "accepting": np.nonzero(form.accepting)[0].tolist(),
        "table": form.table.tolist(),
    }
    if form.moves is not None and form.stops is not None:
        data |= {"moves": form.moves.tolist(), "stops": form.stops.tolist()}
    return data


def equivalent(left: Automaton, right: Automaton, mode: Mode = "acceptance") -> bool:
    """Returns whether two automata pose the same problem; see `canonical`."""
    return canonical(left, mode) == canonical(right, mode)


def _blocks(automaton: Automaton) -> np.ndarray:
    """Returns the block of each state in the coarsest partition that transitions respect (Hopcroft 1971).

    The automaton must be trimmed. Then two states with different sets of possible symbols differ, so the partition
    starts from these sets and no rejecting state need be added. Blocks are numbered by their first states.
    """
    keys: dict[tuple[bytes, ...], list[int]] = {}
    for state in range(len(automaton)):
        key = (bytes(automaton.accepting[state]), (automaton.table[state] != MISSING).tobytes())
        if automaton.moves is not None and automaton.stops is not None:
            key += (automaton.moves[state].tobytes(), automaton.stops[state].tobytes())
        keys.setdefault(key, []).append(state)
    incoming: list[list[tuple[int, int]]] = [[] for _ in range(len(automaton))]
    for source, symbol, target in zip(*(part.tolist() for part in automaton.edges), strict=True):
        incoming[target].append((symbol, source))
    blocks = [set(states) for states in keys.values()]
    block_of = [0] * len(automaton)
    for number, states in enumerate(blocks):
        for state in states:
            block_of[state] = number
    pending = deque(range(len(blocks)))
    while pending:
        splitter = pending.popleft()
        sources: dict[int, list[int]] = {}
        for state in blocks[splitter]:
            for symbol, source in incoming[state]:
                sources.setdefault(symbol, []).append(source)
        for symbol in sorted(sources):
            touched: dict[int, list[int]] = {}
            for source in sources[symbol]:
                touched.setdefault(block_of[source], []).append(source)
            for number, inside in touched.items():
                if len(inside) == len(blocks[number]):
                    continue
                # The larger part keeps its number, so each state changes block at most log2(states) times.
                blocks[number].difference_update(inside)
                part = set(inside)
                if len(part) > len(blocks[number]):
                    part, blocks[number] = blocks[number], part
                new = len(blocks)
                blocks.append(part)
                for state in part:
                    block_of[state] = new
                pending.append(new)  # the smaller part suffices where the old block was already used
    return np.array(renumbered(block_of), np.int32)


def renumbered(labels: list[int]) -> list[int]:
    """Returns the labels replaced by 0, 1, ... in order of appearance."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]
