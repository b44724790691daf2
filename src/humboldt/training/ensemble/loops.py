"""Finds out how the loops over time and the attention of an ensemble run: as kernels or as plain programs."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from humboldt.models.layers.fused.choice import noted_attention
from humboldt.models.loop.fused.choice import noted_loops
from humboldt.training.ensemble.steps import in_precision
from humboldt.training.ensemble.train import Ensemble

PLAIN = {"loop": "scan", "attention": "plain"}  # what is not `fused`


def roads_of(ensemble: Ensemble) -> dict[str, dict[str, list[str]]]:
    """Returns how `loop` and `attention` run in training: `fused`, or `scan` and `plain`, or both, each with the
    reasons; without what a network does not have.

    The network is traced for the length of every bucket. Nothing is compiled.
    """
    weights = eqx.filter_eval_shape(ensemble.initial_weights)
    member = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), weights)
    reads_targets = ensemble.problem.start is not None  # a sequence-to-sequence model: its loops read vectors

    def run(weights: Any, key: Any, *rows: Any) -> Any:
        return eqx.combine(in_precision(weights, ensemble.recipe.precision), ensemble.static)(*rows, key=key)

    with noted_loops() as loops, noted_attention() as attention:
        for lengths in ensemble.buckets:
            rows = []
            for steps in lengths if reads_targets else lengths[:1]:
                rows += [jax.ShapeDtypeStruct((steps,), jnp.int32), jax.ShapeDtypeStruct((steps,), jnp.bool_)]
            jax.eval_shape(run, member, jax.eval_shape(lambda: jax.random.key(0)), *rows)
    notes = {"loop": {} if reads_targets else loops, "attention": attention}
    roads = dict[str, dict[str, list[str]]]()
    for what, said in notes.items():
        reasons = {"fused": [""] if "" in said else [], PLAIN[what]: [reason for reason in said if reason]}
        if said:
            roads[what] = {road: found for road, found in reasons.items() if found}
    return roads
