"""Facts that papers agree on must come out: linear recurrences solve parity only with negative eigenvalues."""

from pathlib import Path
from typing import Any

import pytest

import humboldt

SMALL = {
    **{"steps": 1500, "batch_size": 32, "learning_rates": (3e-3,), "warm_up": 100, "optimiser": "adamw"},
    **{"train_lengths": (1, 12), "test_lengths": (13, 40), "num_test_lengths": 7, "strings_per_length": 64},
}
DELTANET, MAMBA = {"layers": 1, "width": 16, "heads": 2}, {"layers": 1, "width": 16, "state_size": 8}


@pytest.mark.slow
@pytest.mark.parametrize(("model", "settings", "solves"), [
    ("deltanet", {**DELTANET, "eigenvalues": "0_1"}, False),
    ("deltanet", {**DELTANET, "eigenvalues": "-1_1"}, True),
    ("mamba", {**MAMBA, "eigenvalues": "0_1"}, False),
    ("mamba", {**MAMBA, "eigenvalues": "-1_1"}, True),
    ("slstm", {"layers": 1, "width": 16, "heads": 2, "convolution": 0}, True),
    ("lstm", {"hidden_size": 16}, True),
])  # fmt: skip
def test_parity_needs_negative_eigenvalues_or_a_nonlinear_state(
    model: str, settings: dict[str, Any], solves: bool, tmp_path: Path
):
    """The best of three seeds, on strings up to three times as long as in training, as Grazzi et al. (2025) report it.

    Seen, by seed: DeltaNet 0.50, 0.49, 0.52 and 0.97, 0.86, 0.58; Mamba 0.54, 0.53, 0.48 and 0.73, 0.98, 0.57; sLSTM
    1.00, 1.00, 0.52; LSTM 1.00 three times.
    """
    study = humboldt.run(
        "chomsky",
        tasks="parity_check",
        models=f"family/{model}",
        preset="bench_quick",
        seeds=3,
        settings={**SMALL, **settings},
        out=tmp_path,
        progress=False,
    )
    best = max(result.measures["score"] for result in study.scores()[0].results)
    assert best > 0.9 if solves else best < 0.65
