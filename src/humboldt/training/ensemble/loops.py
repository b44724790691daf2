"""Finds out how the loops over time of an ensemble run: as kernels or as scans."""

import equinox as eqx
import jax
import jax.numpy as jnp

from humboldt.models.loop.fused.choice import noted_loops
from humboldt.training.ensemble.steps import in_precision
from humboldt.training.ensemble.train import Ensemble


def loops_of(ensemble: Ensemble) -> dict[str, list[str]]:
    """Returns `fused` or `scan` or both, each with the reasons; empty for a network without a loop over symbols.

    The network is traced for the length of every bucket. Nothing is compiled.
    """
    if ensemble.problem.start is not None:  # a sequence-to-sequence model: its loops read vectors
        return {}
    weights = eqx.filter_eval_shape(ensemble.initial_weights)
    member = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), weights)

    def run(weights: object, tokens: object, mask: object) -> object:
        return eqx.combine(in_precision(weights, ensemble.recipe.precision), ensemble.static)(tokens, mask)

    with noted_loops() as notes:
        for steps, _ in ensemble.buckets:
            tokens = jax.ShapeDtypeStruct((steps,), jnp.int32)
            jax.eval_shape(run, member, tokens, jax.ShapeDtypeStruct((steps,), jnp.bool_))
    loops = {"fused": [""] if "" in notes else [], "scan": [reason for reason in notes if reason]}
    return {road: reasons for road, reasons in loops.items() if reasons}
