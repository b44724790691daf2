"""How an ensemble is trained."""

from dataclasses import dataclass
from typing import Literal

import optax


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Optimiser, number of steps, precision. What differs between members (learning rate, penalty) is not here."""

    steps: int
    optimiser: Literal["adam", "adamw", "sgd"] = "adam"
    gradient_clip: float | None = 1.0  # largest norm of a member's whole gradient
    precision: Literal["float32", "bfloat16"] = "float32"  # of the network's arithmetic; weights and loss stay float32

    def transformation(self) -> optax.GradientTransformation:
        """Gradient to update, up to the member's learning rate (and sign)."""
        clip = optax.identity() if self.gradient_clip is None else optax.clip_by_global_norm(self.gradient_clip)
        scale = {"adam": optax.scale_by_adam, "adamw": optax.scale_by_adam, "sgd": optax.identity}[self.optimiser]()
        decay = optax.add_decayed_weights(1e-2) if self.optimiser == "adamw" else optax.identity()
        return optax.chain(clip, scale, decay)
