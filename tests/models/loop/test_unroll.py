"""The loop over time, in all its forms, against a plain Python loop."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models import models
from humboldt.models.cells.base import AbstractCell, Extent
from humboldt.models.loop.unroll import step_by_step, unroll, unroll_symbols

TOKENS = jnp.array([[0, 2, 1, 3, 3], [3, 1, 0, 2, 1]], jnp.int32)  # one more than a turn of the loop takes
FORMS = {
    "by hand": lambda cell, start, vectors, tokens: step_by_step(cell, start, vectors[tokens]),
    "plain": lambda cell, start, vectors, tokens: unroll(cell, start, vectors[tokens], hoist=False),
    "hoisted": lambda cell, start, vectors, tokens: unroll(cell, start, vectors[tokens], hoist=True),
    "looked up": lambda cell, start, vectors, tokens: unroll_symbols(cell, start, vectors, tokens, hoist=True),
}


@pytest.mark.parametrize("name", ["lstm", "marnn_stack_lstm"])
def test_all_forms_give_the_same_numbers_and_gradients(name: str):
    """Outputs and last state count, and inputs are vectors with a gradient of their own, as word vectors are."""
    model = models.get(name)
    cell = model(**model.tiny).build(4, 2, num_symbols=3, key=jax.random.key(0)).cell
    vectors = jax.random.normal(jax.random.key(1), (4, 4))

    def loss(weights: tuple[AbstractCell, jax.Array], form: str) -> tuple[jax.Array, Any]:
        cell, vectors = weights

        def read(tokens: jax.Array) -> tuple[jax.Array, Any]:
            start = cell.init_state(Extent.of(jnp.ones(5, bool)))
            state, outputs = FORMS[form](cell, start, vectors, tokens)
            numbers = [outputs, *jax.tree.leaves(eqx.filter(state, eqx.is_inexact_array))]
            return sum((jnp.sin(3 * x).sum() for x in numbers), start=jnp.zeros(())), (state, outputs)

        losses, results = jax.vmap(read)(TOKENS)
        return losses.sum(), results

    run = eqx.filter_jit(eqx.filter_grad(loss, has_aux=True))
    expected = run((cell, vectors), "by hand")
    for form in list(FORMS)[1:]:
        for a, b in zip(jax.tree.leaves(run((cell, vectors), form)), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
