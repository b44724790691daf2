"""What a learner sees: one batch type for all suites."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from humboldt.languages._strings import Pairs


@dataclass(frozen=True, eq=False)
class Batch:
    """Integer arrays, right-padded with 0, with explicit masks.

    - `tokens`, `mask`: shape `(batch, time)`; what the model reads, and which of it is real.
    - `targets`, `target_mask`: shape `(batch, target time)`; what it should say, and which of it counts. Where a model
      answers at every step of its input (next symbol, transduction) the two time axes are the same.
    - `weight`: shape `(batch,)`; how often each row counts in the loss.

    Where every member of a training has examples of its own, all arrays begin with an axis of members.
    """

    tokens: np.ndarray
    mask: np.ndarray
    targets: np.ndarray
    target_mask: np.ndarray
    weight: np.ndarray

    @property
    def time(self) -> int:
        """Length of the longest row."""
        return self.tokens.shape[-1]

    @property
    def target_time(self) -> int:
        """Length of the longest target."""
        return self.targets.shape[-1]

    def take(self, rows: Any) -> "Batch":
        """Some of its rows, by number or as a slice."""
        return Batch(self.tokens[rows], self.mask[rows], self.targets[rows], self.target_mask[rows], self.weight[rows])

    def padded(self, time: int, target_time: int | None = None) -> "Batch":
        """The same batch, padded to `time` steps; targets to `target_time`, or to as many."""

        def pad(array: np.ndarray, time: int) -> np.ndarray:
            return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, time - array.shape[-1])])

        until = time if target_time is None else target_time
        targets, target_mask = pad(self.targets, until), pad(self.target_mask, until)
        return Batch(pad(self.tokens, time), pad(self.mask, time), targets, target_mask, self.weight)


def frame_transduction(
    pairs: Pairs,
    num_symbols: int,
    *,
    computation_tokens: int = 0,
    autoregressive: bool = False,
    count_padding: bool = False,
) -> Batch:
    """Input, then computation tokens, then one `∅` for each output symbol that the model is asked for.

    Token ids below `num_symbols` are input symbols; `∅` is `num_symbols`, a computation token is `num_symbols + 1`.

    **Arguments:**

    - `computation_tokens`: how many computation tokens follow the input, as a multiple of its length (0, 1 or 2 in
      Delétang et al. 2023, appendix A.4).
    - `autoregressive`: whether the model is told its previous answer: after the first `∅` stand the target symbols
      instead of more `∅`s (with the ids of input symbols). In a test the model's own answers take their place.
    - `count_padding`: whether what follows a target that ends early counts, too: the padding, which is symbol 0.
    """
    count = len(pairs)
    lengths, slots = pairs.input_lengths[:, None], pairs.slots[:, None]
    begin = lengths * (1 + computation_tokens)  # where the outputs start
    time = int((begin + slots).max(initial=0))
    position = np.arange(time)[None, :]

    tokens = np.zeros((count, time), np.int32)
    width = pairs.inputs.shape[1]
    tokens[:, :width] = pairs.inputs[:, :time]
    tokens[(position >= lengths) & (position < begin)] = num_symbols + 1
    is_slot = (position >= begin) & (position < begin + slots)
    tokens[is_slot] = num_symbols
    tokens[position >= begin + slots] = 0

    target_mask = (position >= begin) & (position < begin + pairs.target_lengths[:, None])
    targets = np.zeros((count, time), np.int32)
    row, column = np.nonzero(target_mask)
    targets[row, column] = pairs.targets[row, column - begin[row, 0]]
    if autoregressive:
        told = is_slot & (position > begin)
        row, column = np.nonzero(told)
        tokens[row, column] = pairs.targets[row, column - begin[row, 0] - 1]
    if count_padding:
        target_mask = is_slot
    return Batch(tokens, position < begin + slots, targets, target_mask, np.ones(count, np.float32))
