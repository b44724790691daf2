"""Several devices: the members are spread over them and get the same results. Needs a process of its own."""

import json
import os
import subprocess
import sys

CODE = """
import json, pathlib, sys, tempfile
import jax, numpy as np
from humboldt.languages import frame_transduction, tasks
from humboldt.models.rnn import RNN
from humboldt.training import Ensemble, MemberKnobs, Recipe, Watcher, evaluate
parity = tasks.get("chomsky/parity_check")()
def stream(step):
    rng = np.random.default_rng((0, step))
    return frame_transduction(parity.sample(rng, 8, int(rng.integers(1, 9))), 2)
build = lambda key: RNN(hidden_size=8).build(3, 2, num_symbols=2, key=key)
ensemble = Ensemble(build, [MemberKnobs(seed, 1e-2) for seed in range(6)], Recipe(steps=20), stream, longest=9)
trained = ensemble.train(pathlib.Path(tempfile.mkdtemp()), Watcher())
(correct,) = evaluate(trained.weights, trained.static, iter([stream(1000)]))
learners, _ = ensemble.advance(ensemble.fresh()[0], ensemble.chunk(0))
spread = len(jax.tree.leaves(learners.weights)[0].sharding.device_set)
print(json.dumps([len(jax.devices()), spread, trained.loss.tolist(), correct.tolist()]))
"""


def outcome(devices: int) -> list:
    environment = {**os.environ, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    return json.loads(subprocess.check_output([sys.executable, "-c", CODE], text=True, env=environment))


def test_four_devices_share_six_members():
    one, four = outcome(1), outcome(4)
    assert (one[0], one[1]) == (1, 1) and (four[0], four[1]) == (4, 4)
    assert len(four[2]) == 6  # eight were run so that each device has two; the surplus is not shown
    for a, b in zip(one[2], four[2], strict=True):
        assert abs(a[-1] - b[-1]) < 1e-4
    assert one[3] == four[3]
