"""The recipe that all models share in `humboldt bench`, and its presets, which every suite fills in.

One optimiser, one schedule and one clipping for all models; sizes by a budget of parameters for the body of a network,
without embedding and readout. Nothing is chosen on test strings.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from humboldt.suites.experiments import Preset, Request

PREFIX = "bench_"
QUICK, STANDARD = f"{PREFIX}quick", f"{PREFIX}standard"

#: Parameters of a network's body: those of the LSTM family with 64 and with 128 units.
BUDGETS: Mapping[str, int] = MappingProxyType({QUICK: 33_280, STANDARD: 132_096})

#: The same for all models and suites. After warm-up the learning rate stays: `decay` where a suite has this setting.
RECIPE: Mapping[str, Any] = MappingProxyType({"optimiser": "adamw", "gradient_clip": 1.0})
NO_DECAY: Mapping[str, Any] = MappingProxyType({"decay": "none"})

#: Families that a bench preset runs if the user names no model.
FAMILIES = tuple(f"family/{name}" for name in ("rnn", "gru", "lstm", "stack_rnn", "transformer"))


#: The family that `humboldt demo` trains.
DEMO_FAMILY = "family/lstm"


def demo_part(*tasks: str) -> Request:
    """Returns the part of a suite that `humboldt demo` shows: one family on some tasks of the quick bench preset, with
    exactly its settings, so that references stand beside it."""
    return Request(tasks, (DEMO_FAMILY,), QUICK)


def bench_presets(
    *,
    quick: Mapping[str, Any],
    standard: Mapping[str, Any],
    quick_tasks: tuple[str, ...],
    standard_tasks: tuple[str, ...],
    quick_of_tasks: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    standard_of_tasks: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> dict[str, Preset]:
    """Returns the two presets of a suite, with the shared recipe and the suite's own sizes."""
    return {
        QUICK: Preset(
            QUICK,
            "one model among others, small, on a 2-core laptop (see `humboldt bench`)",
            changes={**RECIPE, **quick},
            of_tasks=quick_of_tasks,
            tasks=quick_tasks,
            models=FAMILIES,
            sweeps={},
        ),
        STANDARD: Preset(
            STANDARD,
            "one model among others, on one GPU (see `humboldt bench --preset standard`)",
            changes={**RECIPE, **standard},
            of_tasks=standard_of_tasks,
            tasks=standard_tasks,
            models=FAMILIES,
            sweeps={},
        ),
    }
