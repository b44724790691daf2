"""Runs a network on strings far longer than those of its corpus: one symbol at a time, without clipping.

There are two forms with the same numbers to the last bit. `PlainStepper` carries the network's memory as a vector of
floats and needs no other memory. `StateGraph` numbers the distinct states it meets and looks known steps up: a counting
network has few of them, so that millions of symbols per second become hundreds of millions.
"""

import numpy as np
from numpy.typing import NDArray

from humboldt.errors import RunError, UsageError
from humboldt.mdl.corpus_bits import NO_CLIP
from humboldt.mdl.execution_plan import Plan, compute_step, make_plan, new_plan, output_total, probability
from humboldt.mdl.jit import entry
from humboldt.mdl.machine_words import pack
from humboldt.mdl.network import Network
from humboldt.mdl.state_merging import Memo, intern_state, new_memo


@entry
def _prepare(sources):
    def prepare(plan, units, edges, num_symbols, clip):
        _ = sources  # see jit.py
        make_plan(plan, units, len(units), edges, len(edges), num_symbols, clip)

    return prepare


@entry
def _step_batch(sources):
    def step_batch(plan, states, symbols, probabilities, values, clip):
        _ = sources  # see jit.py
        sizes, unit, _place, kinds, activations, biases, now, before, ends, begins, links, weights, outputs, kept = plan
        size, num_kept = sizes[0], sizes[1]
        num_symbols = probabilities.shape[1]
        for i in range(len(symbols)):
            for k in range(num_kept):
                values[kept[k]] = states[i, k]
            compute_step(
                size, unit, kinds, activations, biases, now, before, begins, ends, links, weights,
                values, size, 0, symbols[i], int(states[i, num_kept]), clip,
            )  # fmt: skip
            total = output_total(outputs, values, size, num_symbols)
            for s in range(num_symbols):
                probabilities[i, s] = probability(values[size + outputs[s]], total, num_symbols)
            for k in range(num_kept):
                states[i, k] = values[size + kept[k]]
            states[i, num_kept] = symbols[i]

    return step_batch


@entry
def _feed(sources):
    def feed(plan, state, symbols, probabilities, values, clip):
        _ = sources  # see jit.py
        sizes, unit, _place, kinds, activations, biases, now, before, ends, begins, links, weights, outputs, kept = plan
        size, num_kept = sizes[0], sizes[1]
        num_symbols = probabilities.shape[1]
        row, last = 0, int(state[num_kept])
        for k in range(num_kept):
            values[kept[k]] = state[k]
        for i in range(len(symbols)):
            previous = row
            row = size - row
            compute_step(
                size, unit, kinds, activations, biases, now, before, begins, ends, links, weights,
                values, row, previous, symbols[i], last, clip,
            )  # fmt: skip
            last = symbols[i]
            total = output_total(outputs, values, row, num_symbols)
            for s in range(num_symbols):
                probabilities[i, s] = probability(values[row + outputs[s]], total, num_symbols)
        for k in range(num_kept):
            state[k] = values[row + kept[k]]
        state[num_kept] = last

    return feed


def _checked(symbols: NDArray[np.integer] | list[int], num_symbols: int) -> NDArray[np.int64]:
    array = np.ascontiguousarray(symbols, dtype=np.int64)
    if array.ndim != 1 or (array.size and not 0 <= int(array.min()) <= int(array.max()) < num_symbols):
        raise UsageError(f"Symbols must be one row of numbers from 0 to {num_symbols - 1}.")
    return array


def _plan_of(network: Network, clip: float) -> Plan:
    units, edges = pack(network)
    plan = new_plan(len(units), len(edges), network.num_symbols)
    _prepare(plan, units, edges, network.num_symbols, clip)
    return plan


class PlainStepper:
    """A network as `(state, symbol) -> (state, distribution)`. A state is a vector of floats of length `state_size`."""

    def __init__(self, network: Network, *, clip: float = NO_CLIP) -> None:
        self.network = network
        self.clip = float(clip)
        self._plan = _plan_of(network, self.clip)
        self.state_size = int(self._plan.size[1]) + 1
        self._values = np.zeros(2 * int(self._plan.size[0]))

    def init_state(self) -> NDArray[np.float64]:
        """Returns the state before the first symbol."""
        state = np.zeros(self.state_size)
        state[-1] = -1.0  # the last entry is the symbol read last; none yet
        return state

    def step(self, state: NDArray[np.float64], symbol: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the state after reading `symbol`, and the distribution over the symbol after it."""
        states, probabilities = self.step_batch(state[None], np.array([symbol]))
        return states[0], probabilities[0]

    def step_batch(
        self, states: NDArray[np.float64], symbols: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Steps (batch, state_size) states by (batch,) symbols; returns states and (batch, symbols) distributions."""
        symbols = _checked(symbols, self.network.num_symbols)
        new = np.array(states, dtype=np.float64)
        if new.shape != (len(symbols), self.state_size):
            raise UsageError(
                f"States have shape {new.shape}; {len(symbols)} symbols need {(len(symbols), self.state_size)}."
            )
        probabilities = np.empty((len(symbols), self.network.num_symbols))
        _step_batch(self._plan, new, symbols, probabilities, self._values, self.clip)
        return new, probabilities

    def feed(
        self, symbols: NDArray[np.integer] | list[int], state: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Reads a whole string; returns the state after it, and (time, symbols) distributions after each symbol."""
        array = _checked(symbols, self.network.num_symbols)
        end = self.init_state() if state is None else np.array(state, dtype=np.float64)
        probabilities = np.empty((len(array), self.network.num_symbols))
        _feed(self._plan, end, array, probabilities, self._values, self.clip)
        return end, probabilities


@entry
def _walk(sources):
    def walk(plan, memo, used, states, symbols, steps, chain, clip):
        """Takes steps until done or out of room; returns their number. used: number of states, of steps."""
        _ = sources  # see jit.py
        sizes, unit, _place, kinds, activations, biases, now, before, ends, begins, links, weights, outputs, kept = plan
        values, words, next_state, _costs, totals, _nodes, step_from, row_of_state, symbol_of_state = memo[:9]
        slot_state, slot_clock, clocks = memo[9:]
        size, num_kept, uses_symbol = sizes[0], sizes[1], sizes[2]
        num_symbols = len(outputs)
        for i in range(len(symbols)):
            state = states[0] if chain else states[i]
            read = symbols[i]
            step = step_from[state * num_symbols + read]
            if step < 0:
                if used[1] == len(totals):
                    return i
                step = used[1]
                used[1] += 1
                row = step * size
                compute_step(
                    size, unit, kinds, activations, biases, now, before, begins, ends, links, weights,
                    values, row, row_of_state[state], read, symbol_of_state[state], clip,
                )  # fmt: skip
                totals[step] = output_total(outputs, values, row, num_symbols)
                reached = intern_state(
                    words, kept, num_kept, uses_symbol, slot_state, slot_clock, clocks[0],
                    row_of_state, symbol_of_state, row, read, used[0],
                )  # fmt: skip
                if reached == used[0]:
                    row_of_state[reached] = row
                    symbol_of_state[reached] = read
                    used[0] += 1
                next_state[step] = reached
                step_from[state * num_symbols + read] = step
            steps[i] = step
            states[0 if chain else i] = next_state[step]
        return len(symbols)

    return walk


@entry
def _rehash(sources):
    def rehash(plan, memo, num_states):
        _ = sources  # see jit.py
        _values, words, _next, _costs, _totals, _nodes, _from, row_of_state, symbol_of_state = memo[:9]
        slot_state, slot_clock, clocks = memo[9:]
        kept, num_kept, uses_symbol = plan.kept, plan.size[1], plan.size[2]
        for state in range(1, num_states):
            intern_state(
                words, kept, num_kept, uses_symbol, slot_state, slot_clock, clocks[0],
                row_of_state, symbol_of_state, row_of_state[state], symbol_of_state[state], state,
            )  # fmt: skip

    return rehash


class StateGraph:
    """The states a network has been in and the steps between them, numbered as they are met.

    State 0 is the one before the first symbol. `distributions[step]` is the prediction of the network after a step. If
    states do not recur, the graph grows as large as the text it reads; more than `limit` steps are an error.
    """

    def __init__(
        self, network: Network, *, clip: float = NO_CLIP, capacity: int = 1024, limit: int = 4_000_000
    ) -> None:
        self.network = network
        self.limit = limit
        self.clip = float(clip)
        self._plan = _plan_of(network, self.clip)
        self._used = np.array([1, 0], dtype=np.int64)
        self._memo = self._room(capacity)

    @property
    def num_states(self) -> int:
        """Number of distinct states met so far."""
        return int(self._used[0])

    @property
    def num_steps(self) -> int:
        """Number of distinct (state, symbol) pairs met so far."""
        return int(self._used[1])

    @property
    def distributions(self) -> NDArray[np.float64]:
        """(num_steps, symbols) distribution over the next symbol after each step."""
        return self.distributions_of(np.arange(self.num_steps))

    def distributions_of(self, steps: NDArray[np.integer]) -> NDArray[np.float64]:
        """Returns the (batch, symbols) distribution over the next symbol after each of these steps."""
        size = int(self._plan.size[0])
        outputs = self._memo.values.reshape(-1, size)[steps][:, self._plan.output]
        totals = self._memo.total[steps, None]
        uniform = np.full_like(outputs, 1.0 / self.network.num_symbols)
        with np.errstate(invalid="ignore"):  # NaN from overflow stays NaN, which is not a valid probability
            return np.divide(np.where(outputs <= 0.0, 0.0, outputs), totals, out=uniform, where=totals != 0.0)

    def step_batch(
        self, states: NDArray[np.integer], symbols: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns new states and steps for (batch,) states and symbols."""
        symbols = _checked(symbols, self.network.num_symbols)
        new = np.array(states, dtype=np.int64)
        if new.shape != symbols.shape or (new.size and not 0 <= int(new.min()) <= int(new.max()) < self.num_states):
            raise UsageError(f"Give one state from 0 to {self.num_states - 1} for each of the {len(symbols)} symbols.")
        return new, self._walk(new, symbols, chain=False)

    def feed(self, symbols: NDArray[np.integer] | list[int], state: int = 0) -> tuple[int, NDArray[np.int64]]:
        """Reads a whole string from `state`; returns the state after it, and the steps taken."""
        array = _checked(symbols, self.network.num_symbols)
        end = np.array([state], dtype=np.int64)
        steps = self._walk(end, array, chain=True)
        return int(end[0]), steps

    def next_states(self, steps: NDArray[np.integer]) -> NDArray[np.int64]:
        """Returns the states that steps lead to."""
        return self._memo.next_state[steps]

    def vectors(self, states: NDArray[np.integer]) -> NDArray[np.float64]:
        """Returns the states in the form of `PlainStepper`, shape (batch, state_size)."""
        num_kept, size = int(self._plan.size[1]), int(self._plan.size[0])
        rows = self._memo.row_of_state[states] // size
        vectors = np.zeros((len(states), num_kept + 1))
        vectors[:, :num_kept] = self._memo.values.reshape(-1, size)[rows][:, self._plan.kept[:num_kept]]
        vectors[:, num_kept] = self._memo.symbol_of_state[states]
        vectors[states == 0, :num_kept] = 0.0  # before the first symbol, nothing is remembered
        return vectors

    def _walk(self, states: NDArray[np.int64], symbols: NDArray[np.int64], *, chain: bool) -> NDArray[np.int64]:
        steps = np.empty(len(symbols), dtype=np.int64)
        done = 0
        while True:
            rest = slice(done, None)
            mine = states if chain else states[rest]
            done += _walk(self._plan, self._memo, self._used, mine, symbols[rest], steps[rest], chain, self.clip)
            if done == len(symbols):
                return steps
            if self.num_steps >= self.limit:
                raise RunError(
                    f"The network has made {self.num_steps:,} different steps, the limit of this graph: its states do "
                    "not recur. Use `PlainStepper`, which stores none of them, or raise `limit`."
                )
            self._memo = self._room(min(2 * len(self._memo.total), self.limit))

    def _room(self, capacity: int) -> Memo:
        """Returns a memo for `capacity` steps with the contents of the present one."""
        memo = new_memo(capacity, int(self._plan.size[0]), self.network.num_symbols)
        memo.step_from[:] = -1
        memo.symbol_of_state[0] = -1
        memo.clock[0] = 1
        if self.num_steps:
            for name in ("values", "next_state", "total", "step_from", "row_of_state", "symbol_of_state"):
                old = getattr(self._memo, name)
                getattr(memo, name)[: len(old)] = old
            _rehash(self._plan, memo, self.num_states)
        return memo


class NetworkStepper:
    """Runs a network on test sets: many rows, one symbol in each at a time.

    A state is a number as long as states recur (equal states are computed once); once there are too many distinct
    states, it is the vector of the network's memory, and none is stored. The results are the same to the bit.
    """

    def __init__(self, network: Network, *, limit: int = 4_000_000) -> None:
        self._graph, self._plain = StateGraph(network, limit=limit), PlainStepper(network)

    def init(self, count: int) -> NDArray[np.int64]:
        """Returns the state before the first symbol, `count` times."""
        return np.zeros(count, np.int64)

    def step(
        self, state: NDArray[np.int64] | NDArray[np.float64], symbols: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64] | NDArray[np.float64], NDArray[np.float64]]:
        """Returns new states and distributions over the next symbol."""
        if state.ndim == 1:
            try:
                states, steps = self._graph.step_batch(state.astype(np.int64, copy=False), symbols)
                return states, self._graph.distributions_of(steps)
            except RunError:  # too many distinct states to number them
                state = self._graph.vectors(state.astype(np.int64, copy=False))
        return self._plain.step_batch(state.astype(np.float64, copy=False), symbols)

    def take(self, state: NDArray[np.number], rows: NDArray[np.integer]) -> NDArray[np.number]:
        """Returns the states of the selected rows."""
        return state[rows]
