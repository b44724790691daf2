"""The checks of a network before training, on networks of a few lines of NumPy."""

from collections.abc import Callable

import numpy as np
import pytest
from suite_support import Recording

from humboldt.core.events import Warned
from humboldt.errors import RunError
from humboldt.languages import Batch, ProblemKind
from humboldt.training.base import AbstractProblem
from humboldt.training.checks import AbstractTrial, all_findings, few_rows, try_out

OUT = 3


class Rows(AbstractProblem):
    """A first batch like that of BLISS: most rows are padded, the first ones to more than their half."""

    kind = ProblemKind.NEXT_SYMBOL
    symbols, num_symbols, input_size, output_size, batch_size, longest = ("#", "a", "b"), 3, 3, OUT, 6, 40

    def batch(self, step: int) -> Batch:
        lengths = np.array([5, 5, 6, 7, 20, 40])
        mask = np.arange(40) < lengths[:, None]
        tokens = np.where(mask, np.random.default_rng(step).integers(0, 3, mask.shape), 0).astype(np.int32)
        return Batch(tokens, mask, np.roll(tokens, -1, 1), mask, np.ones(6, np.float32))


class Trial(AbstractTrial):
    def __init__(self, answers: Callable[[Batch], np.ndarray], norm: float = 1.0) -> None:
        self.problem, self.answers, self.norm = Rows(), answers, norm

    def logits(self, batch: Batch) -> np.ndarray:
        return np.repeat(self.answers(batch).astype(float)[..., None], OUT, -1)

    def gradient_norm(self, batch: Batch) -> float:
        return self.norm

    def parameters(self) -> int:
        return 1

    def seconds_per_step(self) -> float:
        return 0.001


def so_far(batch: Batch) -> np.ndarray:
    return batch.tokens.cumsum(1)


def fading_from_the_end(batch: Batch) -> np.ndarray:
    """The state of a network that reads backwards, padding included, and forgets: after some steps of padding it is
    the same as after more of them."""
    states = np.zeros(batch.tokens.shape)
    state = np.zeros(len(states))
    for step in reversed(range(batch.time)):
        state = 0.3 * state + batch.tokens[:, step] + 0.5
        states[:, step] = state
    return states


def failed(trial: Trial) -> list[str]:
    return [finding.check for finding in all_findings(trial) if not finding.passed]


def test_a_sound_network_passes():
    findings = list(all_findings(Trial(so_far)))
    assert all(finding.passed for finding in findings)
    texts = {finding.check: finding.text for finding in findings}
    assert texts["padding"] == "38 steps of padding after a row of length 5 do not change its answers"
    assert texts["finite answers"].startswith("a number for each of 3 symbols at every step")


def test_rows_of_all_lengths_are_tried():
    assert few_rows(Rows()).mask.sum(1).tolist() == [5, 6, 7, 40]


@pytest.mark.parametrize(
    ("answers", "norm", "checks"),
    [
        (fading_from_the_end, 1.0, ["padding", "causality"]),
        (lambda batch: so_far(batch) + batch.tokens.shape[1], 1.0, ["padding"]),
        (lambda batch: batch.tokens.sum(1, keepdims=True) + 0 * batch.tokens, 1.0, ["causality"]),
        (lambda batch: so_far(batch) / 0.0, 1.0, ["finite answers"]),
        (so_far, 0.0, ["gradient"]),
        (so_far, np.inf, ["gradient of long strings"]),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_each_fault_is_found(answers: Callable[[Batch], np.ndarray], norm: float, checks: list[str]):
    assert failed(Trial(answers, norm)) == checks
    sink = Recording()
    if checks in (["padding"], ["gradient of long strings"]):  # the results depend on batches, but can be trained
        try_out("mine", Trial(answers, norm), sink)
        assert any(isinstance(event, Warned) for event in sink.events) == (checks == ["padding"])
    else:
        with pytest.raises(RunError, match=r"^mine: "):
            try_out("mine", Trial(answers, norm), sink)
