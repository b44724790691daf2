"""What theory says of state shows in small trainings: slow, since networks are trained to a known score."""

from pathlib import Path

import pytest

import humboldt

SHORT = {"steps": 1500, "seeds": 2, "test_lengths": (40, 100), "num_test_lengths": 3}


def symbols(model: str, task: str, out: Path, **settings: object) -> float:
    study = humboldt.run("tracking", tasks=[task], models=[model], settings={**SHORT, **settings}, out=out)
    return max(result.measures["symbols"] for scores in study.scores() for result in scores.results)


@pytest.mark.slow
def test_an_rnn_keeps_s3_and_an_lstm_keeps_a5(tmp_path: Path):
    assert symbols("rnn", "s3", tmp_path) > 0.95
    assert symbols("family/lstm", "a5", tmp_path, hidden_size=64, learning_rates=(3e-3,)) > 0.9


@pytest.mark.slow
def test_one_layer_of_mamba_keeps_z2_only_with_negative_eigenvalues(tmp_path: Path):
    """Merrill et al. 2024 and Grazzi et al. 2025: transitions from 0 to 1 cannot alternate."""
    small = {"layers": 1, "width": 32, "learning_rates": (3e-3,)}
    assert symbols("family/mamba", "z2", tmp_path, **small) < 0.7
    assert symbols("family/mamba", "z2", tmp_path, **small, eigenvalues="-1_1") > 0.95
