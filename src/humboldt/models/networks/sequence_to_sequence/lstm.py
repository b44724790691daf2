"""LSTM encoder and decoder with input feeding, with or without attention (Luong et al. 2015)."""

from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import Internal
from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.cells.lstm import LSTMCell, gates
from humboldt.models.layers.dropout import dropout, split_or_none
from humboldt.models.layers.linear import Linear, look_up, uniform_like
from humboldt.models.loop.unroll import unroll
from humboldt.models.networks.lstm_classifier import reversed_within
from humboldt.models.networks.pooling import at_last
from humboldt.models.networks.sequence_to_sequence.base import AbstractSequenceToSequence

BOUND = 0.1  # all weights, biases and embeddings are uniform within ± this, in fairseq and in OpenNMT-py
SATURATED = 1e4  # added to a gate, opens it completely; subtracted, closes it completely

Hidden = tuple[Float[Array, " hidden"], Float[Array, " hidden"]]  # hidden state and memory


class ReadingCell(LSTMCell):
    """An LSTM layer that forgets nothing at padding. The last number of an input is the padding flag.

    At padding the input gate is closed and the forget gate is open, so that the memory after the last step is that
    after the last real step. (The hidden state is taken from the outputs.)
    """

    def project(self, x: Float[Array, " in_and_one"]) -> Float[Array, " drive"]:
        zeros = jnp.zeros(self.hidden_size, x.dtype)
        frozen = jnp.concatenate([zeros - SATURATED, zeros, zeros + SATURATED, zeros])
        return self.input(x[:-1]) + x[-1] * frozen


class Attended(NamedTuple):
    """The encoder's outputs to attend to, and which of them are real."""

    outputs: Float[Array, "source size"]
    mask: Bool[Array, " source"]


class Memory(NamedTuple):
    """The encoded source: the decoder's first state in every layer, and the outputs to attend to."""

    states: tuple[Hidden, ...]
    attended: Attended


class WritingCell(AbstractCell):
    """The decoder's layers: each step is also given the output of the step before it.

    Its inputs are an embedding and, where there is dropout, the factors of dropout: first those on the inputs of all
    layers but the first, then those on the output.
    """

    layers: tuple[LSTMCell, ...]
    feeding: Linear  # from the previous output to the gates of the first layer
    query: Linear | None  # of attention
    combine: Linear | None  # on the result of attention and the state that was the query
    attended: Attended | None  # of one source
    has_dropout: bool = eqx.field(static=True, default=False)

    @property
    def hidden_size(self) -> int:
        """Number of units of each layer."""
        return self.layers[0].hidden_size

    def project(self, x: Float[Array, " in"]) -> Float[Array, " drive"]:
        size = self.layers[0].input.weight.shape[0]
        return jnp.concatenate([self.layers[0].input(x[:size]), x[size:]])

    def init_state(self, extent: Extent) -> Any:
        states = tuple(layer.init_state(extent) for layer in self.layers)
        return states, states[0][0]

    def __call__(self, state: Any, drive: Float[Array, " drive"]) -> tuple[Any, Float[Array, " hidden"]]:
        before, output = state
        size = len(output)
        drive, factors = drive[: 4 * size], drive[4 * size :]

        def dropped(x: Array, index: int) -> Array:
            return x * factors[index * size : (index + 1) * size] if self.has_dropout else x

        after: list[Hidden] = []
        for i, (layer, (hidden, memory)) in enumerate(zip(self.layers, before, strict=True)):
            new = drive + self.feeding(output) if i == 0 else layer.input(dropped(after[-1][0], i - 1))
            after.append(gates(layer.recurrent(hidden) + new, memory, layer.forget_offset))
        output = dropped(self._attend(after[-1][0]), len(self.layers) - 1)
        return (tuple(after), output), output

    def looks(self, hidden: Float[Array, " hidden"]) -> Float[Array, " source"] | None:
        """Returns the attention weights of the encoder's outputs, or `None` without attention."""
        if self.query is None or self.attended is None:
            return None
        outputs, mask = self.attended
        scores = outputs @ self.query(hidden)
        return jax.nn.softmax(jnp.where(mask, scores, jnp.finfo(scores.dtype).min))

    def _attend(self, hidden: Float[Array, " hidden"]) -> Float[Array, " hidden"]:
        weights = self.looks(hidden)
        if weights is None or self.combine is None or self.attended is None:
            return hidden
        return jnp.tanh(self.combine(jnp.concatenate([weights @ self.attended.outputs, hidden])))


class Writing(NamedTuple):
    """The state of decoding."""

    state: Any
    attended: Attended


class LSTMSequenceToSequence(AbstractSequenceToSequence):
    """An LSTM reads the source; its last states are the first states of an LSTM that writes the target.

    - `directions`: 2 if each layer of the encoder reads forwards and backwards, with half of the units each.
    - `hidden_layer`: size of a linear layer between the decoder and the readout.
    - `drops_inputs`: whether there is dropout on embeddings and on the outputs that are attended to, as in fairseq;
      other dropout (between layers, on the decoder's outputs) is the same in fairseq and OpenNMT-py.
    """

    source_embedding: Float[Array, "token size"]
    target_embedding: Float[Array, "token size"]
    reading: tuple[tuple[ReadingCell, ...], ...]  # layers of directions
    writing: WritingCell
    hidden_layer: Linear | None
    readout: Linear
    dropout: float = eqx.field(static=True)
    drops_inputs: bool = eqx.field(static=True)

    def __init__(
        self,
        input_size: int,
        output_size: int,
        *,
        embedding_size: int,
        hidden_size: int,
        num_layers: int,
        directions: Literal[1, 2],
        attention: bool,
        hidden_layer: int | None,
        dropout: float,
        drops_inputs: bool,
        key: PRNGKeyArray,
    ) -> None:
        keys = iter(jax.random.split(key, 8 + 2 * num_layers * (directions + 1)))

        def linear(inputs: int, outputs: int, *, use_bias: bool = True) -> Linear:
            k = next(keys)
            return uniform_like(Linear(inputs, outputs, use_bias=use_bias, key=k), BOUND, bias_bound=BOUND, key=k)

        def table(tokens: int) -> Float[Array, "token size"]:
            return jax.random.uniform(next(keys), (tokens, embedding_size), minval=-BOUND, maxval=BOUND)

        inputs = [embedding_size, *[hidden_size] * (num_layers - 1)]
        units = hidden_size // directions
        self.source_embedding, self.target_embedding = table(input_size), table(output_size)
        self.reading = tuple(
            tuple(ReadingCell(linear(size, 4 * units), linear(units, 4 * units), 0.0) for _ in range(directions))
            for size in inputs
        )
        self.writing = WritingCell(
            tuple(
                LSTMCell(linear(size, 4 * hidden_size), linear(hidden_size, 4 * hidden_size), 0.0) for size in inputs
            ),
            linear(hidden_size, 4 * hidden_size, use_bias=False),
            linear(hidden_size, hidden_size, use_bias=False) if attention else None,
            linear(2 * hidden_size, hidden_size, use_bias=False) if attention else None,
            None,
        )
        self.hidden_layer = None if hidden_layer is None else linear(hidden_size, hidden_layer)
        self.readout = linear(hidden_layer or hidden_size, output_size)
        self.dropout, self.drops_inputs = dropout, drops_inputs

    def encode(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], *, key: PRNGKeyArray | None = None
    ) -> Memory:
        k_embedding, k_outputs, *k_layers = split_or_none(key, 2 + len(self.reading))
        x = self._drop_input(look_up(self.source_embedding, source), k_embedding)
        states = []
        for i, directions in enumerate(self.reading):
            x = x if i == 0 else dropout(x, self.dropout, k_layers[i])
            outputs, lasts = zip(*(_read(cell, x, mask, n) for n, cell in enumerate(directions)), strict=True)
            x = jnp.concatenate(outputs, -1)
            states.append(tuple(map(jnp.concatenate, zip(*lasts, strict=True))))
        return Memory(tuple(states), Attended(self._drop_input(x, k_outputs), mask))

    def _drop_input(self, x: Array, key: PRNGKeyArray | None) -> Array:
        return dropout(x, self.dropout, key) if self.drops_inputs else x

    def decode(
        self, memory: Memory, told: Int[Array, " target"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "target out"]:
        k_embedding, k_steps, k_hidden = split_or_none(key, 3)
        x = self._drop_input(look_up(self.target_embedding, told), k_embedding)
        has_dropout = key is not None and self.dropout > 0
        if has_dropout:
            factors = jnp.ones((len(told), len(self.writing.layers) * self.writing.hidden_size), x.dtype)
            x = jnp.concatenate([x, dropout(factors, self.dropout, k_steps)], -1)
        cell = self._writer(memory.attended, has_dropout=has_dropout)
        _, outputs = unroll(cell, self._first_state(memory), x)
        if self.hidden_layer is not None:
            outputs = dropout(jax.vmap(self.hidden_layer)(outputs), self.dropout, k_hidden)
        return jax.vmap(self.readout)(outputs)

    def inspect(
        self, source: Int[Array, " source"], mask: Bool[Array, " source"], told: Int[Array, " target"]
    ) -> dict[str, Internal]:
        memory = self.encode(source, mask)
        cell = self._writer(memory.attended, has_dropout=False)

        def step(state: Writing, token: Array) -> tuple[Writing, dict[str, Array]]:
            after, _ = self.step(state, token)
            layers, _ = after.state
            looks = cell.looks(layers[-1][0])
            seen = {"hidden state": jnp.stack([h for h, _ in layers]), "memory": jnp.stack([c for _, c in layers])}
            return after, seen | ({} if looks is None else {"attention to the source": looks})

        _, seen = jax.lax.scan(step, self.start(memory, len(told)), told)
        axes = {"attention to the source": ("time", "token")}
        decoder = {
            name: Internal(values, axes.get(name, ("time", "layer", "unit")), first=len(source))
            for name, values in seen.items()
        }
        return {"encoder": Internal(memory.attended.outputs, ("time", "unit")), **decoder}

    def _writer(self, attended: Attended, *, has_dropout: bool) -> WritingCell:
        """Builds the decoder's cell, which attends to one source."""
        writing = self.writing
        attended_or_none = None if writing.query is None else attended
        return WritingCell(
            writing.layers, writing.feeding, writing.query, writing.combine, attended_or_none, has_dropout
        )

    def _first_state(self, memory: Memory) -> Any:
        return memory.states, jnp.zeros_like(memory.states[0][0])

    def start(self, memory: Memory, longest: int) -> Writing:
        del longest  # a state has one size
        return Writing(self._first_state(memory), memory.attended)

    def step(self, state: Writing, token: Int[Array, ""]) -> tuple[Writing, Float[Array, " out"]]:
        cell = self._writer(state.attended, has_dropout=False)
        x = cell.project(look_up(self.target_embedding, token[None])[0])
        after, output = cell(state.state, x)
        output = output if self.hidden_layer is None else self.hidden_layer(output)
        return Writing(after, state.attended), self.readout(output)


def _read(
    cell: ReadingCell, x: Float[Array, "source in"], mask: Bool[Array, " source"], direction: int
) -> tuple[Float[Array, "source hidden"], Hidden]:
    """Runs one layer in one direction; returns its outputs at every step, and its state after the last real step."""
    inputs = jnp.concatenate([x, (~mask)[:, None].astype(x.dtype)], -1)
    inputs = reversed_within(inputs, mask) if direction else inputs
    zeros = jnp.zeros(cell.hidden_size, x.dtype)
    (_, memory), outputs = unroll(cell, (zeros, zeros), inputs)
    last = at_last(outputs, mask), memory
    return (reversed_within(outputs, mask) if direction else outputs), last
