"""Fast weights: linear attention, with or without forgetting and erasure, in one layer.

`NAMED` has the settings under which it is a layer of the literature.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.models.layers.linear import Linear
from humboldt.models.layers.positions import rotate
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.decays import AbstractDecay, FixedDecay, ScalarDecay, VectorDecay
from humboldt.models.mixers.matrix_state import Decay, State, read, read_all, write
from humboldt.models.mixers.parts import HeadNorm, linear, to_unit_length
from humboldt.models.mixers.short_convolution import Recent, ShortConvolution

Eigenvalues = Literal["0_1", "-1_1"]
"""The range of the eigenvalues of a state's transition (Grazzi et al. 2025)."""


@dataclass(frozen=True, kw_only=True)
class FastWeightsOptions:
    """Options of a layer of fast weights.

    - `gate`: what the state is multiplied by before each token is written: nothing, a constant of the head, a number
      per head that depends on the token, or a number per key feature. `gate_rank`, `gate_divisor` and `least_gate`:
      see `VectorDecay`.
    - `erase`: whether a write first takes away what its key had stored (`delta`).
    - `householders`: writes per token, each with its own key and value. With `delta`, the transition is a product of
      that many generalised Householder matrices.
    - `eigenvalues`: with `delta`, the strength of a write is between 0 and 1, or between 0 and 2.
    - `convolution`: the size of the short convolution of queries, keys and values; 0 for none.
    - `activation`: of queries and keys, `value_activation`: of values.
    - `unit_keys`: whether queries and keys are scaled to length 1, as the delta rule needs.
    - `tied_keys`: whether keys are one minus the gate.
    - `rotary`: whether queries and keys are rotated by their positions.
    - `normaliser`: whether an output is divided by the sum of the weights that it is made with.
    - `output_norm`: root mean square of each head, or of all together. `output_gate`: whether a gate follows,
      `silu(W x)`.
    - `key_expansion`: numbers in all keys of a token over the width, where the layer is given no `head_size`.
      `value_expansion`: size of a value over that of a key.
    - `spread`: how weights are initialised, see `linear`.
    """

    gate: Literal["none", "fixed", "scalar", "vector"] = "none"
    gate_rank: int | None = None
    gate_divisor: float = 1.0
    least_gate: float = 0.0
    erase: Literal["none", "delta"] = "none"
    householders: int = 1
    eigenvalues: Eigenvalues = "0_1"
    convolution: int = 0
    activation: Literal["identity", "silu", "elu"] = "identity"
    value_activation: Literal["identity", "silu"] = "identity"
    unit_keys: bool = False
    tied_keys: bool = False
    rotary: bool = False
    normaliser: bool = False
    output_norm: Literal["none", "head", "all"] = "head"
    output_gate: bool = False
    key_expansion: float = 1.0
    value_expansion: int = 1
    spread: float | None = None

    def __post_init__(self) -> None:
        if self.householders < 1:
            raise UsageError(f"householders={self.householders} leaves nothing to write. Use 1 or more.")
        if self.tied_keys and (self.gate != "vector" or self.householders != 1):
            raise UsageError(
                f"tied_keys takes the one key of a token from a gate per key feature, but gate={self.gate} and "
                f"householders={self.householders}. Use gate=vector and householders=1."
            )
        if self.eigenvalues == "-1_1" and self.erase == "none":
            raise UsageError(
                "eigenvalues=-1_1 is the range of a write that erases, but erase=none. Use erase=delta, or 0_1."
            )


_DELTA = FastWeightsOptions(
    erase="delta", convolution=4, activation="silu", value_activation="silu", unit_keys=True
)  # flash-linear-attention `delta_net.py`

NAMED: Mapping[str, FastWeightsOptions] = {
    # Katharopoulos et al. 2020: positive features, and a normaliser instead of a norm.
    "linear_attention": FastWeightsOptions(activation="elu", normaliser=True, output_norm="none"),
    # The others have the defaults of flash-linear-attention's layers of these names.
    "retnet": FastWeightsOptions(gate="fixed", rotary=True, output_gate=True, value_expansion=2),
    "gla": FastWeightsOptions(
        gate="vector", gate_rank=16, gate_divisor=16.0, output_gate=True, key_expansion=0.5, value_expansion=2
    ),
    "hgrn2": FastWeightsOptions(gate="vector", tied_keys=True, activation="silu", output_norm="all"),
    "deltanet": _DELTA,
    "gated_deltanet": replace(_DELTA, gate="scalar", output_gate=True, value_expansion=2),
    "deltaproduct": replace(_DELTA, householders=2, eigenvalues="-1_1", output_gate=True, value_expansion=2),
    "gated_deltaproduct": replace(
        _DELTA, gate="scalar", householders=2, eigenvalues="-1_1", output_gate=True, value_expansion=2
    ),
}


class Token(NamedTuple):
    """The effect of one token on the state."""

    query: Float[Array, "heads key"]
    log_decay: Decay
    keys: Float[Array, "writes heads key"]
    values: Float[Array, "writes heads value"]
    strengths: Float[Array, "writes heads"] | None


class FastWeightsState(NamedTuple):
    """The inputs that a convolution still needs, the matrices, and how many tokens were read."""

    recent: Recent | None
    matrices: State
    position: Int[Array, ""]


class FastWeights(AbstractMixer):
    """Writes values under keys into a matrix per head, and reads it with queries (see `matrix_state`)."""

    input: Linear  # queries, keys, values
    convolution: ShortConvolution | None
    strength: Linear | None
    decay: AbstractDecay
    norm: HeadNorm | None
    gate: Linear | None
    output: Linear
    options: FastWeightsOptions = eqx.field(static=True)
    heads: int = eqx.field(static=True)
    head_size: int = eqx.field(static=True)
    chunk: int | None = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        heads: int,
        options: FastWeightsOptions,
        *,
        head_size: int | None = None,
        chunk: int | None = None,
        key: PRNGKeyArray,
    ) -> None:
        head_size = int(options.key_expansion * width / heads) if head_size is None else head_size
        if head_size < 1:
            raise UsageError(
                f"width={width} leaves nothing for a key of heads={heads} heads. Use fewer heads, or set head_size."
            )
        if options.rotary and head_size % 2:
            raise UsageError(
                f"rotary turns pairs of features, but width={width} and heads={heads} give a key {head_size} of them. "
                "Make that even."
            )
        k_input, k_convolution, k_strength, k_decay, k_gate, k_output = jax.random.split(key, 6)
        self.options, self.heads, self.head_size, self.chunk = options, heads, head_size, chunk
        spread, writes = options.spread, options.householders
        key_size, value_size = heads * head_size, heads * head_size * options.value_expansion
        features = key_size + writes * (value_size if options.tied_keys else key_size + value_size)
        self.input = linear(width, features, spread=spread, key=k_input)
        self.convolution = None
        if options.convolution:
            self.convolution = ShortConvolution(features, size=options.convolution, use_silu=False, key=k_convolution)
        self.strength = linear(width, writes * heads, spread=spread, key=k_strength) if self._erases else None
        self.decay = _decay(width, heads, head_size, options, k_decay)
        self.norm = None
        if options.output_norm == "head":
            self.norm = HeadNorm(heads, value_size // heads, shared=True, centred=False)
        elif options.output_norm == "all":
            self.norm = HeadNorm(1, value_size, shared=True, centred=False)
        self.gate = linear(width, value_size, spread=spread, key=k_gate) if options.output_gate else None
        self.output = linear(value_size, width, spread=spread, key=k_output)

    def __call__(self, xs: Float[Array, "time width"], mask: Bool[Array, " time"]) -> Float[Array, "time width"]:
        features = jax.vmap(self.input)(xs)
        features = features if self.convolution is None else self.convolution(features, mask)
        positions = jnp.arange(len(xs), dtype=jnp.int32)
        token = jax.vmap(self.token)(xs, features, positions)
        return jax.vmap(self._output)(xs, read_all(*token, chunk=self.chunk))

    def start(self) -> FastWeightsState:
        value_size = self.head_size * self.options.value_expansion + self.options.normaliser
        recent = None if self.convolution is None else self.convolution.start()
        return FastWeightsState(
            recent, jnp.zeros((self.heads, self.head_size, value_size)), jnp.zeros((), dtype=jnp.int32)
        )

    def step(self, state: FastWeightsState, x: Float[Array, " width"]) -> tuple[FastWeightsState, Array]:
        recent, features = state.recent, self.input(x)
        if self.convolution is not None and recent is not None:
            recent, features = self.convolution.step(recent, features)
        token = self.token(x, features, state.position)
        matrices = write(state.matrices, *token[1:])
        return FastWeightsState(recent, matrices, state.position + 1), self._output(x, read(matrices, token.query))

    def token(self, x: Float[Array, " width"], features: Float[Array, " features"], position: Int[Array, ""]) -> Token:
        """Returns the effect of a token on the state, from the token and its queries, keys and values."""
        options, key_size, writes = self.options, self.heads * self.head_size, self.options.householders
        log_decay = self.decay(x)
        num_keys = 0 if options.tied_keys else writes * key_size
        query, keys, values = jnp.split(features, [key_size, key_size + num_keys])
        query, values = _activate(query, options.activation), _activate(values, options.value_activation)
        query, values = query.reshape(self.heads, -1), values.reshape(writes, self.heads, -1)
        if options.tied_keys:
            keys = -jnp.expm1(log_decay)[None]
        else:
            keys = _activate(keys, options.activation).reshape(writes, self.heads, -1)
        if options.rotary:
            turned = rotate(jnp.concatenate([query[None], keys]), jnp.broadcast_to(position, (1 + writes,)))
            query, keys = turned[0], turned[1:]
        if options.unit_keys:
            query, keys = to_unit_length(query), to_unit_length(keys)
        if options.normaliser:
            values = jnp.concatenate([values, jnp.ones_like(values[..., :1])], -1)
        strengths = None
        if self.strength is not None:
            strengths = jax.nn.sigmoid(self.strength(x)).reshape(writes, self.heads)
            strengths = 2 * strengths if options.eigenvalues == "-1_1" else strengths
        return Token(query * self.head_size**-0.5, log_decay, keys, values, strengths)

    @property
    def _erases(self) -> bool:
        return self.options.erase == "delta"

    def _output(self, x: Float[Array, " width"], y: Float[Array, "heads value"]) -> Float[Array, " width"]:
        if self.options.normaliser:
            y = y[:, :-1] / (y[:, -1:] + 1e-10)  # as flash-linear-attention's `normalize_output`
        y = y.reshape(1, -1) if self.options.output_norm == "all" else y
        y = (y if self.norm is None else self.norm(y)).reshape(-1)
        return self.output(y if self.gate is None else y * jax.nn.silu(self.gate(x)))


def _activate(x: Array, name: Literal["identity", "silu", "elu"]) -> Array:
    if name == "identity":
        return x
    return jax.nn.silu(x) if name == "silu" else jax.nn.elu(x) + 1


def _decay(width: int, heads: int, head_size: int, options: FastWeightsOptions, key: PRNGKeyArray) -> AbstractDecay:
    if options.gate == "scalar":
        return ScalarDecay(width, heads, spread=options.spread, key=key)
    if options.gate == "vector":
        rank, divisor, least = options.gate_rank, options.gate_divisor, options.least_gate
        return VectorDecay(
            width, heads, head_size, rank=rank, divisor=divisor, least=least, spread=options.spread, key=key
        )
    return FixedDecay(heads, none=options.gate == "none")
