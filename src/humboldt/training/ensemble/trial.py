"""An untrained network of an ensemble, for checks before training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PyTree

from humboldt.languages import Batch
from humboldt.training.checks import AbstractTrial
from humboldt.training.ensemble.steps import Examples, all_logits, example_loss
from humboldt.training.ensemble.train import Ensemble


class Trial(AbstractTrial):
    """The first member of an ensemble."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble, self.problem = ensemble, ensemble.problem
        self.weights = jax.tree.map(lambda x: x[0], ensemble.fresh().learners.weights)

    def logits(self, batch: Batch) -> np.ndarray:
        return np.asarray(_logits(self.weights, self.ensemble.static, _examples(batch), self.problem.start))

    def gradient_norm(self, batch: Batch) -> float:
        return float(_gradient_norm(self.weights, self.ensemble.static, _examples(batch), self.problem.start))

    def parameters(self) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(self.weights))

    def seconds_per_step(self) -> float:
        return self.ensemble.pace().token * self.problem.batch(0).tokens.size


def _examples(batch: Batch) -> Examples:
    return Examples(*(jnp.asarray(getattr(batch, name)) for name in Examples._fields))


@eqx.filter_jit
def _logits(weights: PyTree, static: PyTree, batch: Examples, start: int | None) -> Array:
    return all_logits(eqx.combine(weights, static), batch, start, None)


@eqx.filter_jit
def _gradient_norm(weights: PyTree, static: PyTree, batch: Examples, start: int | None) -> Array:
    def loss(weights: PyTree) -> Array:
        logits = all_logits(eqx.combine(weights, static), batch, start, None)
        losses, _ = jax.vmap(example_loss, (0, 0, 0, None))(logits, batch.targets, batch.target_mask, "mean")
        return losses.mean()

    return optax.tree.norm(jax.grad(loss)(weights))
