"""The forms in which models are given problems."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import humboldt
from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.forms import SEES_AHEAD, build_network, check_fits, form
from humboldt.models.networks.sequence_to_sequence.concatenated import Concatenated
from humboldt.models.own import modules, register_model
from humboldt.suites import plans, suites
from humboldt.suites.experiments import Request

SEQUENCES = ProblemKind.SEQUENCE_TO_SEQUENCE
undone = pytest.mark.usefixtures("registrations_undone")


class Sums(eqx.Module):
    """Logits that depend on the sum of the tokens so far, or of all."""

    weight: jax.Array
    peeks: bool = eqx.field(static=True)

    def __init__(self, input_size: int, output_size: int, *, peeks: bool = False, key: Any) -> None:
        self.weight = jax.random.normal(key, (input_size, output_size))
        self.peeks = peeks

    def __call__(self, tokens: Any, mask: Any, *, key: Any = None) -> Any:
        vectors = jnp.where(mask[:, None], self.weight[tokens], 0.0)
        return jnp.cumsum(vectors[::-1] if self.peeks else vectors, 0)


class Peeks(Sums):
    """The same, with a sum from the end."""

    def __init__(self, input_size: int, output_size: int, *, key: Any) -> None:
        self.weight, self.peeks = jax.random.normal(key, (input_size, output_size)), True


class Takes(eqx.Module):
    """A network that takes a source and a target."""

    def __init__(self, input_size: int, output_size: int, *, key: Any) -> None:
        raise NotImplementedError

    def __call__(self, source: Any, source_mask: Any, told: Any, target_mask: Any, *, key: Any = None) -> Any:
        raise NotImplementedError


def test_a_causal_network_is_for_every_kind_of_problem():
    register_model("sums", Sums, version=1)
    try:
        model = models.get("sums")
        assert set(model.problems) == set(ProblemKind) and form(model, SEQUENCES) == "concatenated"
        network = build_network(model(), SEQUENCES, 4, 3, num_symbols=4, start=2, key=jax.random.key(0))
        assert isinstance(network, Concatenated) and network.network.weight.shape == (7, 3)
        # Without `start` and `step`, all is read again for every symbol.
        source, mask, told = jnp.array([0, 3, 1, 2, 2]), jnp.arange(5) < 3, jnp.array([2, 0, 1])
        state = network.start(network.encode(source, mask), 4)
        written = []
        for token in told:
            state, logits = network.step(state, token)
            written.append(logits)
        expected = np.cumsum(np.asarray(network.network.weight)[[0, 3, 1, 6, 4, 5]], 0)[3:]
        np.testing.assert_allclose(network(source, mask, told, jnp.ones(3, bool)), expected, rtol=1e-5)
        np.testing.assert_allclose(np.stack(written), expected, rtol=1e-5)
    finally:
        models.forget("sums")


@undone
def test_a_network_that_sees_ahead_is_refused_where_that_matters():
    register_model("peeks", Peeks, version=1)
    for suite, task in (("bliss", "an_bn"), ("bias", "count_or_memorization")):
        with pytest.raises(UsageError, match=r"'peeks' sees what comes after.*only transduction and classification"):
            plans.plan(suites.get(suite), Request((task,), ("peeks",), "quick"))
    assert plans.plan(suites.get("chomsky"), Request(("parity_check",), ("peeks",), "quick"))
    for kind in SEES_AHEAD:
        check_fits(models.get("peeks")(), kind)


@undone
def test_makers_say_what_their_networks_are():
    def told_the_kind(input_size: int, output_size: int, problem: str, *, key: Any) -> str:
        if key is not None:
            raise NotImplementedError  # the check at registration passes over it
        return problem

    def sees_ahead(input_size: int, output_size: int) -> None: ...

    sees_ahead.causal = False  # pyright: ignore[reportFunctionMemberAccess]
    register_model("takes", Takes, version=1)
    register_model("told_the_kind", told_the_kind, version=1)
    takes, told = models.get("takes"), models.get("told_the_kind")
    assert takes.problems == (SEQUENCES,) and form(takes, SEQUENCES) == "encoder-decoder"
    assert set(told.problems) == set(ProblemKind) and form(told, SEQUENCES) == "own"
    assert told().build(1, 2, num_symbols=1, key=None, problem="sequence_to_sequence") == "sequence_to_sequence"
    register_model("sees_ahead", sees_ahead, version=1)
    try:
        assert set(modules.get("sees_ahead").problems) == set(SEES_AHEAD)
    finally:
        modules.forget("sees_ahead")


@pytest.mark.parametrize(("suite", "task", "settings", "tokens"), [
    ("chomsky", "reverse_string", {}, 1_000),
    ("syntax", "adj_n_np", {"long_lengths": (31, 90)}, 90),
    ("tracking", "s3", {"tokens_per_step": 4, "inputs": "generators"}, 1_024),
    ("recognition", "parity", {"longest_test": 200}, 201),
])  # fmt: skip
def test_a_plan_refuses_strings_with_more_tokens_than_places(suite: str, task: str, settings: dict, tokens: int):
    def planned(places: int) -> Any:
        changes = {**settings, "positions": "random_rope", "num_places": places}
        return humboldt.plan(suite, tasks=task, models="family/transformer", preset="paper", settings=changes)

    with pytest.raises(UsageError, match=rf"up to {tokens:,} tokens, but there are {tokens - 1:,} places. Use num_pl"):
        planned(tokens - 1)
    assert planned(tokens).experiments
