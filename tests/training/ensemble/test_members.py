"""Several devices: the members are spread over them and get the same results. Needs a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]

CODE = """
import json, pathlib, tempfile
import jax
from humboldt.checkpoints import Checkpoints
from humboldt.events import Silent
from humboldt.models.rnn import RNN
from humboldt.training.base import MemberRecipe, Recipe
from humboldt.training.ensemble.evaluate import evaluate
from humboldt.training.ensemble.train import Ensemble
from training_support import Parity
build = lambda key: RNN(hidden_size=8).build(3, 2, num_symbols=2, key=key)
members = [MemberRecipe(seed, 1e-2) for seed in range(6)]
found = [len(jax.devices())]
for problem in (Parity(), Parity(range(6), own=True)):
    ensemble = Ensemble(build, members, Recipe(steps=20), problem)
    trained = ensemble.train(Checkpoints(pathlib.Path(tempfile.mkdtemp())), Silent())
    (correct,) = evaluate(trained.weights, trained.static, iter([Parity().batch(1000)]))
    learners, _ = ensemble.advance(ensemble.fresh().learners, ensemble.chunk(0))
    spread = len(jax.tree.leaves(learners.weights)[0].sharding.device_set)
    found += [spread, trained.loss.tolist(), correct.tolist()]
print(json.dumps(found))
"""


def outcome(devices: int) -> list:
    environment = {
        **os.environ,
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    return json.loads(subprocess.check_output([sys.executable, "-c", CODE], text=True, env=environment))


def test_four_devices_share_six_members():
    one, four = outcome(1), outcome(4)
    assert (one[0], four[0]) == (1, 4)
    for first in (1, 4):  # members that share their examples, and members that have their own
        (spread_1, loss_1, correct_1), (spread_4, loss_4, correct_4) = one[first : first + 3], four[first : first + 3]
        assert (spread_1, spread_4) == (1, 4)
        assert len(loss_4) == 6  # eight were run so that each device has two; the surplus is not shown
        for a, b in zip(loss_1, loss_4, strict=True):
            assert abs(a[-1] - b[-1]) < 1e-4
        assert correct_1 == correct_4
