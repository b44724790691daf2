"""RWKV-7 (Peng et al. 2025): a matrix state that is decayed per feature, erased by one key and written with another."""

import functools
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.layers.linear import Linear
from humboldt.models.mixers.base import AbstractValueMixer
from humboldt.models.mixers.matrix_state import State, read
from humboldt.models.mixers.parts import HeadNorm, linear, orthogonal, with_bias, with_weight

SLOWEST = -0.6065306597126334  # -exp(-1/2): the log decay is between this and zero


class LowRank(eqx.Module):
    """`up(activation(down(x)))`, as flash-linear-attention's `LoRA`: at first only its bias."""

    down: Linear
    up: Linear
    activation: Literal["identity", "tanh", "sigmoid"] = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        rank: int,
        activation: Literal["identity", "tanh", "sigmoid"],
        *,
        bias: Float[np.ndarray, " width"] | None,
        key: PRNGKeyArray,
    ) -> None:
        self.down = linear(width, rank, spread=0.0, key=key)
        up = linear(rank, width, use_bias=bias is not None, key=key)
        gain = 0.1 * max(1.0, rank / width) ** 0.5
        up = with_weight(up, orthogonal(key, (rank, width), gain))
        self.up = up if bias is None else with_bias(up, bias)
        self.activation = activation

    def __call__(self, x: Float[Array, " width"]) -> Float[Array, " width"]:
        y = self.down(x)
        if self.activation != "identity":
            y = jnp.tanh(y) if self.activation == "tanh" else jax.nn.sigmoid(y)
        return self.up(y)


class RWKV7State(NamedTuple):
    """The vector before, and the matrix of every head."""

    before: Float[Array, " width"]
    matrices: State


class Token(NamedTuple):
    """The effect of one token on the state."""

    query: Float[Array, "heads size"]
    log_decay: Float[Array, "heads size"]
    key: Float[Array, "heads size"]
    value: Float[Array, "heads size"]
    erased: Float[Array, "heads size"]  # the key that is erased, of length 1
    strength: Float[Array, "heads size"]  # how much of it, per feature
    gate: Float[Array, " width"]


class RWKV7(AbstractValueMixer):
    """`S <- diag(w) S - (a ⊙ κ) (κᵀS) + k̃ vᵀ`, read with `r`, then a norm per head, a bonus `(r·(k̃ ⊙ ρ)) v`, a gate.

    `κ` is the erased key, of length 1; `k̃ = k ⊙ (1 + (a - 1) ⊙ α)`. Every map sees its own mixture of a vector and the
    one before (token shift). Above the first layer, values are mixed with those of the first.

    Structure and initialisation are those of flash-linear-attention's `rwkv7.py`. `layer` and `layers` decide most of
    the initial values; with one layer we take `layer / (layers - 1)` to be zero.
    """

    mixtures: Float[Array, "six width"]  # of query, decay, key, value, strength, gate
    query: Linear
    key: Linear
    value: Linear
    output: Linear
    decay: LowRank
    strength: LowRank
    gate: LowRank
    first_share: LowRank | None  # of the first layer's values
    erased_scale: Float[Array, " width"]
    key_scale: Float[Array, " width"]  # α
    bonus: Float[Array, "heads size"]  # ρ
    norm: HeadNorm
    heads: int = eqx.field(static=True)

    def __init__(self, width: int, heads: int, *, layer: int = 0, layers: int = 1, key: PRNGKeyArray) -> None:
        size = width // heads
        if width % heads or size < 2:
            raise UsageError(
                f"width={width} cannot be shared out among heads={heads} of two features or more. Use fewer heads, or "
                "a multiple of them."
            )
        k_query, k_key, k_value, k_decay, k_strength, k_gate, k_first = jax.random.split(key, 7)
        depth, left = layer / max(layers - 1, 1), 1 - layer / layers
        place = np.arange(width) / width
        along = np.arange(width) / (width - 1)
        in_head = (np.arange(width) % size - (size - 1) / 2) / ((size - 1) / 2)
        zigzag, line = in_head * np.abs(in_head), along - 0.5
        exponents = np.array([0.2, 0.9, 0.7, 0.7, 0.9, 0.2]) * left
        self.mixtures = jnp.asarray(1 - place[None] ** exponents[:, None])
        maps = [linear(width, width, key=k) for k in (k_query, k_key, k_value)]
        gains = ((k_query, 1.0), (k_key, 0.1), (k_value, 1.0))
        self.query, self.key, self.value = (
            with_weight(layer_, orthogonal(k, (width, width), gain))
            for layer_, (k, gain) in zip(maps, gains, strict=True)
        )
        self.output = linear(width, width, spread=0.0, key=k_query)
        decay_bias = -6 + 6 * along ** (1 + depth**0.3) + 0.5 + 2.5 * zigzag
        ranks = _ranks(width, size)
        self.decay = LowRank(width, ranks["decay"], "tanh", bias=decay_bias, key=k_decay)
        strength_bias = -0.19 + 0.3 * zigzag + 0.4 * line
        self.strength = LowRank(width, ranks["strength"], "identity", bias=strength_bias, key=k_strength)
        self.gate = LowRank(width, ranks["gate"], "sigmoid", bias=None, key=k_gate)
        self.first_share = None
        if layer > 0:
            self.first_share = LowRank(width, ranks["first"], "identity", bias=0.73 - 0.4 * line, key=k_first)
        self.erased_scale = jnp.asarray(0.71 - 0.1 * line)
        self.key_scale = jnp.full(width, 1.02)
        self.bonus = jnp.full((heads, size), -0.04)
        norm = HeadNorm(heads, size, shared=False, centred=True, use_bias=True, epsilon=1e-5 * size)
        self.norm = eqx.tree_at(lambda n: n.weight, norm, jnp.full((heads, size), ((layer + 1) / layers) ** 0.7))
        self.heads = heads

    def mix(
        self, xs: Float[Array, "time width"], mask: Bool[Array, " time"], first: Float[Array, "time width"] | None
    ) -> tuple[Float[Array, "time width"], Float[Array, "time width"]]:
        del mask
        before = jnp.concatenate([jnp.zeros_like(xs[:1]), xs[:-1]])
        token, values = jax.vmap(self.token, in_axes=(0, 0, None if first is None else 0))(xs, before, first)

        @functools.partial(jax.checkpoint, prevent_cse=False)  # stores states alone for the gradient
        def step(state: State, token: Token) -> tuple[State, Array]:
            state = _write(state, token)
            return state, read(state, token.query)

        ys = jax.lax.scan(step, self.start().matrices, token)[1]
        return jax.vmap(self._output)(token, ys), values

    def start(self) -> RWKV7State:
        width, size = len(self.key_scale), self.bonus.shape[1]
        return RWKV7State(jnp.zeros(width), jnp.zeros((self.heads, size, size)))

    def mix_step(
        self, state: RWKV7State, x: Float[Array, " width"], first: Float[Array, " width"] | None
    ) -> tuple[RWKV7State, Float[Array, " width"], Float[Array, " width"]]:
        token, values = self.token(x, state.before, first)
        matrices = _write(state.matrices, token)
        return RWKV7State(x, matrices), self._output(token, read(matrices, token.query)), values

    def token(
        self, x: Float[Array, " width"], before: Float[Array, " width"], first: Float[Array, " width"] | None
    ) -> tuple[Token, Float[Array, " width"]]:
        """Returns the effect of a token on the state, and its values before they are mixed with the first layer's."""
        mixed = x[None] + (before - x)[None] * self.mixtures
        query, key, values = self.query(mixed[0]), self.key(mixed[2]), self.value(mixed[3])
        log_decay = SLOWEST * jax.nn.sigmoid(self.decay(mixed[1]))
        strength = jax.nn.sigmoid(self.strength(mixed[4]))
        value = values
        if self.first_share is not None and first is not None:
            value = values + (first - values) * jax.nn.sigmoid(self.first_share(mixed[3]))

        def heads(vector: Array) -> Array:
            return vector.reshape(self.heads, -1)

        erased = heads(key * self.erased_scale)
        # As PyTorch's `normalize`; below the root, so that a zero key has a gradient.
        erased = erased * jax.lax.rsqrt(jnp.maximum((erased * erased).sum(-1, keepdims=True), 1e-24))
        key = key + key * (strength - 1) * self.key_scale
        return Token(
            heads(query), heads(log_decay), heads(key), heads(value), erased, heads(strength), self.gate(mixed[5])
        ), values

    def _output(self, token: Token, y: Float[Array, "heads size"]) -> Float[Array, " width"]:
        y = self.norm(y) + (token.query * token.key * self.bonus).sum(-1, keepdims=True) * token.value
        return self.output(y.reshape(-1) * token.gate)


def _write(state: State, token: Token) -> State:
    erased = token.erased * token.strength
    erasure = erased[:, :, None] * read(state, token.erased)[:, None, :]
    return state * jnp.exp(token.log_decay)[:, :, None] - erasure + token.key[:, :, None] * token.value[:, None, :]


def _ranks(width: int, size: int) -> dict[str, int]:
    """Returns the ranks of the four maps of low rank, which grow with the root of the width, in steps of 32."""
    root, factor = width**0.5, size / 64
    shares = {"decay": 2.5 * factor, "strength": 2.5 * factor, "gate": 5.0, "first": 1.7 * factor}
    return {name: max(32, round(share * root / 32) * 32) for name, share in shares.items()}
