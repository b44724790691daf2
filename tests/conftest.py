"""Shared fixtures. JAX is strict here: a silent promotion or broadcast is an error."""

from collections.abc import Callable
from typing import Any

import jax
import pytest
from engine_support import clockwork as clockwork

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def getkey() -> Callable[[], Any]:
    """Fresh keys, the same in every run."""
    state = [jax.random.key(0)]

    def fresh() -> Any:
        state[0], key = jax.random.split(state[0])
        return key

    return fresh
