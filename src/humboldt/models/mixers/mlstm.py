"""mLSTM (Beck et al. 2024): a matrix memory per head with an exponential input gate."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.matrix_state import State, read, read_all, write
from humboldt.models.mixers.parts import BlockLinear, HeadNorm, linear, small_normal, with_bias
from humboldt.models.mixers.short_convolution import Recent, ShortConvolution

BLOCK = 4  # features that share a block of the maps to queries, keys and values: xlstm's `qkv_proj_blocksize`


class MLSTMState(NamedTuple):
    """The inputs that the convolution still needs, the memory with its normaliser as last column, the stabiliser."""

    recent: Recent
    matrices: State
    stabiliser: Float[Array, " heads"]


class Token(NamedTuple):
    """The effect of one token on the state, before the stabiliser."""

    query: Float[Array, "heads key"]
    key: Float[Array, "heads key"]
    value: Float[Array, "heads value"]
    input_gate: Float[Array, " heads"]  # before its exponential
    log_forget: Float[Array, " heads"]


class MLSTM(AbstractMixer):
    """`C <- f C + i k vᵀ`, `n <- f n + i k`, `h = qᵀC / max(|qᵀn|, 1)`, with `i = exp(..)` and `f = σ(..)` per head.

    All is scaled by `exp(-m)`, where the stabiliser `m` is the largest exponent so far. Structure and initialisation
    are those of xlstm's `mlstm/layer.py` and `mlstm/cell.py`: a layer that widens, a convolution before queries and
    keys, maps in blocks of 4 features, gates that see queries, keys and values, a norm per head, a learnt skip, and a
    gate at the output. (There, the wider layer is rounded up to a multiple of 64, which changes nothing at widths of 64
    and 128.) `layers`: how many blocks the network has, for the initial spread of the last map.
    """

    input: Linear  # the sequence, and the gate of the output
    convolution: ShortConvolution
    maps: tuple[BlockLinear, BlockLinear, BlockLinear]  # query, key, value
    input_gate: Linear
    forget_gate: Linear
    norm: HeadNorm
    skip: Float[Array, " inner"]
    output: Linear
    heads: int = eqx.field(static=True)
    chunk: int | None = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        expansion: int = 2,
        convolution: int = 4,
        layers: int = 1,
        chunk: int | None = None,
        key: PRNGKeyArray,
    ) -> None:
        inner = expansion * width
        if inner % heads or inner % BLOCK:
            raise UsageError(
                f"width={width} times {expansion} must be a multiple of {BLOCK} and of heads={heads}. Change the width."
            )
        k_input, k_convolution, k_bias, k_output, *k_maps = jax.random.split(key, 7)
        self.input = linear(width, 2 * inner, spread=small_normal(width), key=k_input)
        self.convolution = ShortConvolution(inner, size=convolution, use_bias=True, key=k_convolution)
        query, keys, value = (BlockLinear(inner, inner // BLOCK, dim=width, key=k) for k in k_maps)
        self.maps = (query, keys, value)
        gate = linear(3 * inner, heads, spread=0.0, use_bias=True, key=k_bias)
        self.input_gate = with_bias(gate, 0.1 * jax.random.normal(k_bias, (heads,)))
        self.forget_gate = with_bias(gate, jnp.linspace(3.0, 6.0, heads))
        self.norm = HeadNorm(heads, inner // heads, shared=False, centred=True)
        self.skip = jnp.ones(inner)
        self.output = linear(inner, width, spread=2 / layers / width**0.5, key=k_output)
        self.heads = heads
        self.chunk = chunk

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        us, gates = jnp.split(jax.vmap(self.input)(xs), 2, axis=-1)
        convolved = self.convolution(us, mask)
        ys = recall(jax.vmap(self.token)(us, convolved), chunk=self.chunk)
        return jax.vmap(self._output)(convolved, gates, ys)

    def start(self) -> MLSTMState:
        size = len(self.skip) // self.heads
        return MLSTMState(self.convolution.start(), jnp.zeros((self.heads, size, size + 1)), jnp.zeros(self.heads))

    def step(self, state: MLSTMState, x: Float[Array, " width"]) -> tuple[MLSTMState, Float[Array, " width"]]:
        u, gate = jnp.split(self.input(x), 2)
        recent, convolved = self.convolution.step(state.recent, u)
        token = self.token(u, convolved)
        stabiliser = jax.lax.stop_gradient(jnp.maximum(token.log_forget + state.stabiliser, token.input_gate))
        query, log_decay, keys, values = _writing(token, state.stabiliser, stabiliser)
        matrices = write(state.matrices, log_decay, keys, values, None)
        output = self._output(convolved, gate, _normalise(read(matrices, query), stabiliser))
        return MLSTMState(recent, matrices, stabiliser), output

    def token(self, u: Float[Array, " inner"], convolved: Float[Array, " inner"]) -> Token:
        """Returns the effect of a token on the state, from its features and their convolution."""
        sources = (convolved, convolved, u)
        vectors = [layer(source) for layer, source in zip(self.maps, sources, strict=True)]
        joint = jnp.concatenate(vectors)
        query, key, value = (vector.reshape(self.heads, -1) for vector in vectors)
        log_forget = jax.nn.log_sigmoid(self.forget_gate(joint))
        return Token(query, key * key.shape[1] ** -0.5, value, self.input_gate(joint), log_forget)

    def _output(self, convolved: Array, gate: Array, y: Float[Array, "heads value"]) -> Float[Array, " width"]:
        y = self.norm(y).reshape(-1) + self.skip * convolved
        return self.output(y * jax.nn.silu(gate))


def recall(token: Token, *, chunk: int | None) -> Float[Array, "time heads value"]:
    """Returns what every token reads from the memory; the arrays of `token` have a leading axis of time."""
    before, after = _stabilisers(token.input_gate, token.log_forget)
    query, log_decay, keys, values = jax.vmap(_writing)(token, before, after)
    return jax.vmap(_normalise)(read_all(query, log_decay, keys, values, None, chunk=chunk), after)


def _normalise(y: Float[Array, "heads value_and_one"], stabiliser: Float[Array, " heads"]) -> Array:
    """Divides what was read by its normaliser, the last column, or by 1 (scaled) where that is larger."""
    return y[:, :-1] / (jnp.maximum(jnp.abs(y[:, -1]), jnp.exp(-stabiliser)) + 1e-6)[:, None]


def _writing(token: Token, before: Array, after: Array) -> tuple[Array, Array, Array, Array]:
    """Returns a token's query, log decay, key and value for a matrix state that is scaled by `exp(-stabiliser)`."""
    key = token.key * jnp.exp(token.input_gate - after)[:, None]
    value = jnp.concatenate([token.value, jnp.ones_like(token.value[:, :1])], -1)
    return token.query, (token.log_forget + before - after)[:, None], key[None], value[None]


def _stabilisers(
    input_gates: Float[Array, "time heads"], log_forgets: Float[Array, "time heads"]
) -> tuple[Float[Array, "time heads"], Float[Array, "time heads"]]:
    """Returns `m <- max(log f + m, i)` before and after every step, from zero.

    With `F` the sum of all `log f` so far, `m - F` is the largest of zero and all `i - F`. The output does not depend
    on `m`, so `m` needs no gradient, nor to be exact.
    """
    forgotten = jnp.cumsum(log_forgets, 0)
    after = forgotten + jnp.maximum(jax.lax.cummax(jax.lax.stop_gradient(input_gates - forgotten)), 0.0)
    after = jax.lax.stop_gradient(after)
    return jnp.concatenate([jnp.zeros_like(after[:1]), after[:-1]]), after
