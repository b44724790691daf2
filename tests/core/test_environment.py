import json
import subprocess
import sys
from typing import Any

import numpy as np

import humboldt
from humboldt.core.environment import environment


def run(code: str) -> Any:
    return json.loads(subprocess.check_output([sys.executable, "-c", f"import json, sys; {code}"], text=True))


def test_without_jax_it_loads_none():
    described = run(
        "from humboldt.core.environment import environment; found = environment(); assert 'jax' not in sys.modules; "
        "print(json.dumps(found))"
    )
    assert described.keys() == {"humboldt", "python", "numpy", "numba", "device"}
    assert described["humboldt"] == humboldt.__version__ and described["numpy"] == np.__version__
    assert described["device"].startswith("cpu: ") and len(described["device"]) > 5


def test_jax_is_described_once_it_is_loaded():
    before, after, search = (
        described.keys()
        for described in run(
            "from humboldt.core.environment import environment; before = environment(); import jax; "
            "print(json.dumps([before, environment(), environment(uses_jax=False)]))"
        )
    )
    assert after - before == {"jax", "equinox", "optax", "devices"}
    assert search == before


def test_what_is_returned_is_the_callers_own():
    environment()["device"] = "mine"
    assert environment()["device"] != "mine"
