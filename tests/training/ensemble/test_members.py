"""Several devices: the members are spread over them and get the same results. Needs a process of its own.

And the part of a model that is not weights.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from training_support import Parity

from humboldt.core.events import Silent
from humboldt.models.zoo.rnn import RNN
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.base import MemberRecipe, Recipe
from humboldt.training.ensemble.evaluate import evaluate
from humboldt.training.ensemble.members import outline
from humboldt.training.ensemble.train import Ensemble

TESTS = Path(__file__).parents[2]


def build(key: jax.Array):
    return RNN(hidden_size=8).build(3, 2, num_symbols=2, key=key)


def outcome() -> list:
    """Devices; then for members that share their examples, and members that have their own: the devices that they are
    spread over, their losses, and how many symbols they get right."""
    members = [MemberRecipe(seed, 1e-2) for seed in range(6)]
    numbers: list = [len(jax.devices())]
    for problem in (Parity(), Parity(range(6), own=True)):
        ensemble = Ensemble(build, members, Recipe(steps=20), problem)
        with tempfile.TemporaryDirectory() as folder:
            trained = ensemble.train(Checkpoints(Path(folder)), Silent())
        (correct,) = evaluate(trained.weights, trained.static, iter([Parity().batch(1000)]))
        learners, _ = ensemble.advance(ensemble.fresh().learners, ensemble.chunk(0, ensemble.call_steps))
        spread = len(jax.tree.leaves(learners.weights)[0].sharding.device_set)
        numbers += [spread, trained.loss.tolist(), correct.tolist()]
    return numbers


def outcome_with(devices: int) -> list:
    environment = {
        **os.environ,
        "XLA_FLAGS": f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={devices}",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    code = "import json, test_members; print(json.dumps(test_members.outcome()))"
    return json.loads(subprocess.check_output([sys.executable, "-c", code], text=True, env=environment))


def test_four_devices_share_six_members():
    one, four = outcome(), outcome_with(4)
    assert (one[0], four[0]) == (1, 4)
    for first in (1, 4):
        (spread_1, loss_1, correct_1), (spread_4, loss_4, correct_4) = one[first : first + 3], four[first : first + 3]
        assert (spread_1, spread_4) == (1, 4)
        assert len(loss_4) == 6  # eight were run so that each device has two; the surplus is not shown
        for a, b in zip(loss_1, loss_4, strict=True):
            assert abs(a[-1] - b[-1]) < 1e-4
        assert correct_1 == correct_4


class _Shifted(eqx.Module):
    weight: jax.Array
    places: jax.Array

    def __init__(self, key: jax.Array) -> None:
        self.weight, self.places = jax.random.normal(key, (2, 3)), jnp.arange(4)


class _Lazy(eqx.Module):
    weight: jax.Array
    scale: float

    def __init__(self, key: jax.Array) -> None:
        self.weight, self.scale = jnp.ones(3), float(jax.random.uniform(key))  # cannot be traced


@pytest.mark.parametrize("model", [build, _Shifted, _Lazy])
def test_the_part_that_is_not_weights_is_that_of_a_model_that_was_built(model):
    weights, static = eqx.partition(model(jax.random.key(0)), eqx.is_inexact_array)
    assert eqx.tree_equal(outline(model)[0], static) is not False
    assert eqx.tree_equal(eqx.combine(weights, outline(model)[0]), model(jax.random.key(0)))


def test_stand_ins_have_the_shapes_of_fresh_members():
    members = [MemberRecipe(seed, 1e-2) for seed in range(2)]
    for model in (build, lambda key: (build(key), float(jax.random.uniform(key)))[0]):
        ensemble = Ensemble(model, members, Recipe(steps=20), Parity())
        found, wanted = (
            jax.tree.map(lambda x: (x.shape, x.dtype), learners)
            for learners in (ensemble.stand_ins(), ensemble.fresh().learners)
        )
        assert found == wanted
