"""The nondeterministic stack of DuSell and Chiang (2020, 2022)."""

from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from humboldt.core.internals import TIME, Internal
from humboldt.models.cells.base import Extent
from humboldt.models.layers.linear import Linear
from humboldt.models.memories.base import AbstractMemory

SMALLEST = 1e-30  # a node with less than this share of the weight is dropped: its reciprocal must stay a float32
EPSILON = 1e-3  # in the released code, added to the divisor of the reading


class Actions(NamedTuple):
    """Weights of the next actions: from (state, top symbol) to the new state and, except for pop, the new symbol."""

    push: Float[Array, "state symbol state symbol"]
    replace: Float[Array, "state symbol state symbol"]
    pop: Float[Array, "state symbol state"]


class AbstractTable(eqx.Module):
    """For each node, the probability of each node below it. Nodes are added in order of time, and never changed."""

    @abstractmethod
    def uncover(
        self, popped: Float[Array, "symbol state time state"]
    ) -> Float[Array, "symbol state time state symbol"]:
        """Returns the probability of each symbol and state on top after a pop, jointly with the node below.

        `popped` is the probability that a pop uncovers each node (first and last two axes) and leads to each state (the
        second).
        """

    @abstractmethod
    def append(self, time: Int[Array, ""], latest: Float[Array, "symbol state time state symbol"]) -> "AbstractTable":
        """Returns the table with the nodes of one more time."""


class Table(AbstractTable):
    """A table as one array, with its axes in the order in which a step multiplies by it: transposing it is too slow."""

    below: Float[Array, "symbol time state time state symbol"]

    def uncover(self, popped: Array) -> Array:
        return _uncover(self.below, popped)

    def append(self, time: Array, latest: Array) -> "Table":
        return Table(jax.lax.dynamic_update_slice_in_dim(self.below, latest[:, None], time, 1))


@jax.custom_vjp
def _uncover(below: Array, popped: Array) -> Array:
    symbols, times, states = below.shape[:3]
    rows, matrix = popped.reshape(symbols, states, -1), below.reshape(symbols, times * states, -1)
    return jnp.matmul(rows, matrix).reshape(symbols, states, times, states, symbols)


def _uncover_forward(below: Array, popped: Array) -> tuple[Array, tuple[Array, Array]]:
    return _uncover(below, popped), (below, popped)


def _uncover_backward(residuals: tuple[Array, Array], d_uncovered: Array) -> tuple[Array, Array]:
    below, popped = residuals
    return jnp.einsum("yrku,yriqx->ykuiqx", popped, d_uncovered), d_popped(below, d_uncovered)


def d_popped(below: Array, d_uncovered: Array) -> Array:
    """Returns the gradient of `popped`. Automatic differentiation would transpose the table at every step.

    On a CPU, one product of the table and a vector per state takes half the time of one product for all states.
    """
    symbols, times, states = below.shape[:3]
    matrix, columns = below.reshape(symbols, times * states, -1), d_uncovered.reshape(symbols, states, -1)
    products = [jnp.matmul(matrix, columns[:, state, :, None])[..., 0] for state in range(states)]
    return jnp.stack(products, 1).reshape(symbols, states, times, states)


_uncover.defvjp(_uncover_forward, _uncover_backward)


class Stacks(NamedTuple):
    """All stacks that the automaton can have at a step, with their probabilities given that the run has not failed.

    A node (time, state, symbol) is a symbol on a stack, with the state and the time at which it was put there.
    """

    time: Int[Array, ""]  # steps done
    now: Float[Array, "symbol state"]  # the probability of each symbol on top, in each state
    top: Float[Array, "symbol state time state symbol"]  # the same, jointly with the node below it
    table: AbstractTable
    log_weight: Float[Array, ""]  # of all runs that have not failed, before normalisation


class NDStack(AbstractMemory):
    """A pushdown automaton that takes all its possible actions at once, each with a weight.

    At every step, in each state and with each symbol on top, it goes to some state and pushes a symbol, replaces the
    top symbol by one, or pops it. The controller gives the weights of these actions, by one softmax for each (state,
    top symbol). The weight of a run is the product of its actions' weights. The reading is the distribution of the
    top symbol over all runs up to now, jointly with the state if `read_states`.

    The runs are exponentially many, but their stacks share their parts, so that it is enough to store for each node
    which nodes can lie below it. DuSell and Chiang store `gamma[i → t]`, the weight of all runs that lead from a node
    of time `i` to a node of time `t` on top of it, and `alpha[t]`, that of all runs that lead to a node. This class
    stores the two kinds of conditional probability that follow from them, `alpha[i] gamma[i → t] / alpha[t]` for the
    table of nodes and `alpha[i] gamma[i → t] / (all of alpha[t])` for the latest time in `top`. The readings are the
    same, but weights would vanish as their products grow longer, whereas probabilities are normalised at every step.

    The stack begins with symbol 0 at the bottom, in state 0. It cannot be popped or replaced, nor uncovered again: a
    run that pops the last symbol above it fails, and so does a run whose first action is not a push. (The same holds in
    DuSell and Chiang 2020 and in the released code of Delétang et al. 2023. In DuSell and Chiang 2022 it can be
    replaced and uncovered.) If all runs fail, up to the precision of float32, all later readings are zeros.

    With `fading`, the stack is that of the released code: one softmax for all actions of all states and symbols, so
    that on average each (state, symbol) has only its share of the weight, and a small constant added to the divisor of
    the reading, so that the reading fades with the weight: within about ten steps, with the initial weights. The
    reading before the first step is zero.

    With `places`, only that many times have a place in the table, as in the released code: the bottom symbol has the
    first, each step takes another, and once they are used up, the stack and its reading stay as they are. With one
    place the reading is that before the first step for ever, so that nothing can be stored.
    """

    action: Linear
    num_states: int = eqx.field(static=True)
    num_symbols: int = eqx.field(static=True)
    read_states: bool = eqx.field(static=True)
    fading: bool = eqx.field(static=True)
    places: int | None = eqx.field(static=True)
    read_size: int = eqx.field(static=True)

    def __init__(
        self,
        hidden_size: int,
        *,
        num_states: int,
        num_symbols: int,
        read_states: bool,
        fading: bool,
        places: int | None = None,
        key: PRNGKeyArray,
    ) -> None:
        nodes = num_states * num_symbols
        self.action = Linear(hidden_size, nodes * (2 * nodes + num_states), key=key)
        self.num_states = num_states
        self.num_symbols = num_symbols
        self.read_states = read_states
        self.fading = fading
        self.places = places
        self.read_size = nodes if read_states else num_symbols

    def init(self, extent: Extent) -> Stacks:
        """Returns the stack with only its bottom symbol, and room for all pairs of times: `extent.num_steps ** 2`."""
        states, symbols = self.num_states, self.num_symbols
        times = extent.num_steps + 1 if self.places is None else min(extent.num_steps + 1, self.places)
        # A multiple of 8, so that a few steps of padding do not change the order in which sums are taken.
        times = -(-times // 8) * 8
        return Stacks(
            time=jnp.array(0),
            now=jnp.zeros((symbols, states)).at[0, 0].set(1.0),
            top=jnp.zeros((symbols, states, times, states, symbols)),
            table=Table(jnp.zeros((symbols, times, states, times, states, symbols))),
            log_weight=jnp.array(0.0),
        )

    def read(self, memory: Stacks) -> Float[Array, " read"]:
        reading = memory.now.reshape(-1) if self.read_states else memory.now.sum(1)
        if not self.fading:
            return reading
        # weight / (weight + EPSILON), for weights of which only the logarithm is a float32
        strength = jax.nn.sigmoid(memory.log_weight - jnp.log(EPSILON))
        return reading * jnp.where(memory.time == 0, 0.0, strength)

    def actions(self, hidden: Float[Array, " hidden"]) -> Actions:
        states, symbols = self.num_states, self.num_symbols
        nodes = states * symbols
        logits = self.action(hidden).reshape(nodes, 2 * nodes + states)
        # Sums over this many runs need at least single precision.
        logits = logits.astype(jnp.float32) if logits.dtype == jnp.bfloat16 else logits
        weights = jax.nn.softmax(logits, (0, 1) if self.fading else 1)
        push, replace, pop = jnp.split(weights, (nodes, 2 * nodes), 1)
        to_node, to_state = (states, symbols, states, symbols), (states, symbols, states)
        return Actions(push.reshape(to_node), replace.reshape(to_node), pop.reshape(to_state))

    def act(self, memory: Stacks, actions: Actions) -> Stacks:
        moved = self._moved(memory, actions)
        if self.places is None:
            return moved
        is_full = memory.time + 1 >= self.places
        return jax.tree.map(lambda before, after: jnp.where(is_full, before, after), memory, moved)

    def _moved(self, memory: Stacks, actions: Actions) -> Stacks:
        # s z: state and top symbol before; r y: after; k u y, i q x: nodes below
        popped = jnp.einsum("zskuy,szr->yrku", memory.top, actions.pop)
        uncovered = memory.table.uncover(popped)
        replaced = jnp.einsum("zsiqx,szry->yriqx", memory.top, actions.replace)
        pushed = jnp.einsum("xq,qxry->yrqx", memory.now, actions.push)
        # Only a push puts something on the nodes of this time. Later nodes do not exist yet: their weights are zero
        # anyway, but no gradient may flow through them.
        times = jnp.arange(memory.top.shape[2])[None, None, :, None, None]
        kept = jnp.where(times < memory.time, uncovered + replaced, jnp.zeros_like(replaced))
        weights = jnp.where(times == memory.time, pushed[:, :, None], kept)
        latest, weight = normalise(weights.reshape(memory.now.size, -1))
        now, total = normalise(weight)
        return Stacks(
            time=memory.time + 1,
            now=now.reshape(memory.now.shape),
            top=(now[:, None] * latest).reshape(memory.top.shape),
            table=memory.table.append(memory.time + 1, latest.reshape(memory.top.shape)),
            log_weight=memory.log_weight + jnp.log(jnp.maximum(total, SMALLEST)),
        )

    def internals(self, memories: Stacks, actions: Actions) -> dict[str, Internal]:
        """Returns the probability of each symbol and state on top, and of each kind of action over all nodes."""
        kinds = (actions.push, actions.replace, actions.pop)
        nodes = self.num_states * self.num_symbols
        moves = jnp.stack([kind.reshape(len(kind), -1).sum(1) for kind in kinds], 1) / (1 if self.fading else nodes)
        return {
            "actions": Internal(moves, (TIME, "action"), ("push", "replace", "pop")),
            "top": Internal(memories.now, (TIME, "symbol", "state")),
        }


@jax.custom_vjp
def normalise(weights: Float[Array, "*nodes n"]) -> tuple[Float[Array, "*nodes n"], Float[Array, "*nodes"]]:
    """Returns the weights divided by their sum, or zeros where the sum is at most `SMALLEST`; and the sum."""
    total = weights.sum(-1)
    return weights * _reciprocal(total)[..., None], total


def _reciprocal(total: Array) -> Array:
    is_some = total > SMALLEST
    return jnp.where(is_some, 1 / jnp.where(is_some, total, jnp.ones_like(total)), jnp.zeros_like(total))


def _normalise_forward(weights: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    normalised, total = normalise(weights)
    return (normalised, total), (normalised, total)


def _normalise_backward(residuals: tuple[Array, Array], cotangents: tuple[Array, Array]) -> tuple[Array]:
    """Returns the gradient, written out because the derivative of a quotient squares the divisor, which may underflow.

    Where the weight nearly vanishes more than once, the gradient exceeds float32. It is clipped, and so stays finite.
    """
    normalised, total = residuals
    d_normalised, d_total = cotangents
    change = d_normalised - (d_normalised * normalised).sum(-1, keepdims=True)
    return (jnp.clip(change * _reciprocal(total)[..., None], -1 / SMALLEST, 1 / SMALLEST) + d_total[..., None],)


normalise.defvjp(_normalise_forward, _normalise_backward)
