"""A network around blocks of mixers: an embedding, a backbone, and a linear readout at every step."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from humboldt.core.internals import TIME, Internal
from humboldt.models.layers.embedding import NormalEmbedding
from humboldt.models.layers.linear import Linear, look_up
from humboldt.models.mixers.backbone import Backbone
from humboldt.models.mixers.parts import linear, small_normal
from humboldt.models.networks.base import AbstractInspectable, AbstractStepwise, Mask, Tokens

EmbeddingSpread = Literal["0.02", "small", "1"]


class BackboneNetwork(AbstractStepwise, AbstractInspectable):
    """Embedded tokens go through a backbone. Its mixers see nothing ahead, so padding needs no mask."""

    embedding: NormalEmbedding
    backbone: Backbone
    readout: Linear

    def __init__(
        self,
        backbone: Backbone,
        input_size: int,
        output_size: int,
        *,
        width: int,
        embedding_spread: EmbeddingSpread,
        key: PRNGKeyArray,
    ) -> None:
        k_embedding, k_readout = jax.random.split(key)
        spread = small_normal(width) if embedding_spread == "small" else float(embedding_spread)
        self.embedding = NormalEmbedding(input_size, width, spread=spread, key=k_embedding)
        self.backbone = backbone
        self.readout = linear(width, output_size, use_bias=True, key=k_readout)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        """Returns logits at every step, which depend on no later token. There is no dropout."""
        del key
        return jax.vmap(self.readout)(self.backbone(self.embedding(tokens), mask))

    def inspect(self, tokens: Int[Array, " time"], mask: Bool[Array, " time"]) -> dict[str, Internal]:
        """Returns the vectors of the tokens after every block."""
        xs, first, seen = self.embedding(tokens), None, []
        for block in self.backbone.blocks:
            xs, first = block(xs, mask, first)
            seen.append(xs)
        return {"states": Internal(jnp.stack(seen), ("layer", TIME, "width"))}

    def start(self, tokens: Tokens, mask: Mask | None = None, key: PRNGKeyArray | None = None) -> Any:
        """Returns the state before the first token. It does not depend on the tokens."""
        del tokens, mask, key
        return self.backbone.start()

    def step(self, state: Any, token: Int[Array, ""]) -> tuple[Any, Float[Array, " out"]]:
        state, y = self.backbone.step(state, look_up(self.embedding.weight, token))
        return state, self.readout(y)
