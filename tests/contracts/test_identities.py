"""Stored results are found by the keys of their settings: no key of a preset's experiments changes unnoticed."""

import json
from pathlib import Path

import pytest

import humboldt
from humboldt.core.identity import short_hash
from humboldt.suites import suites

RECORDED = Path(__file__).with_name("identities.json")
SUITES = ("bias", "bliss", "chomsky", "pcfg_set", "syntax", "tracking", "recognition")
PRESETS = [
    *((name, preset) for name in SUITES for preset in ("quick", "paper")),
    *(("tracking", preset) for preset in ("merrill", "grazzi", "delta_product")),
]


def identities(suite: str, preset: str) -> dict[str, str]:
    """One digest for each cell: of the ids of its experiments and the keys of their evaluations.

    ```
    python tests/contracts/test_identities.py
    ```

    writes those of today into `identities.json`. A digest may only change with the version of a task, model or measure.
    """
    cells: dict[str, list[str]] = {}
    for experiment in humboldt.plan(suite, preset=preset, out="unused").experiments:
        keys = [experiment.id, *(evaluation.key_for(experiment.training) for evaluation in experiment.evaluations)]
        cells.setdefault(f"{experiment.training.task} {experiment.training.model}", []).extend(keys)
    return {name: short_hash(sorted(keys), 16) for name, keys in sorted(cells.items())}


@pytest.mark.parametrize(("suite", "preset"), PRESETS)
def test_no_identity_has_changed(suite: str, preset: str):
    recorded = json.loads(RECORDED.read_text())[suite][preset]
    assert identities(suite, preset) == recorded


def test_every_suite_is_recorded():
    assert {suite for suite, _ in PRESETS} <= {*suites.names()}


if __name__ == "__main__":
    everything = {}
    for one_suite, one_preset in PRESETS:
        everything.setdefault(one_suite, {})[one_preset] = identities(one_suite, one_preset)
    RECORDED.write_text(json.dumps(everything, indent=1) + "\n")
