"""`Batch`, the arrays that a model is trained on; all suites share it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from humboldt.languages.strings import Pairs


@dataclass(frozen=True, eq=False)
class Batch:
    """Integer arrays, right-padded with 0, with explicit masks.

    - `tokens`, `mask`: shape `(batch, time)`; the model's input, and which positions are not padding.
    - `targets`, `target_mask`: shape `(batch, target time)`; the correct output, and which positions are scored. Where
      a model answers at every step of its input (next symbol, transduction) the two time axes are the same.
    - `weight`: shape `(batch,)`; the weight of each row in the loss.

    Where every member of a training has its own examples, all arrays have a leading axis of members.
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
        """Returns the batch of some rows, given by number or as a slice."""
        return Batch(self.tokens[rows], self.mask[rows], self.targets[rows], self.target_mask[rows], self.weight[rows])

    def padded(self, time: int, target_time: int | None = None) -> "Batch":
        """Returns the batch padded to `time` steps, and its targets to `target_time` (by default `time`)."""

        def pad(array: np.ndarray, time: int) -> np.ndarray:
            return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, time - array.shape[-1])])

        until = time if target_time is None else target_time
        targets, target_mask = pad(self.targets, until), pad(self.target_mask, until)
        return Batch(pad(self.tokens, time), pad(self.mask, time), targets, target_mask, self.weight)


def frame_steps(pairs: Pairs) -> Batch:
    """Builds rows of the input alone, with one target symbol for each input symbol."""
    mask = np.arange(pairs.inputs.shape[1]) < pairs.input_lengths[:, None]
    return Batch(pairs.inputs, mask, pairs.targets, mask, np.ones(len(pairs), np.float32))


def frame_transduction(
    pairs: Pairs,
    num_symbols: int,
    *,
    computation_tokens: int = 0,
    autoregressive: bool = False,
    count_padding: bool = False,
    answer_at_last: bool = False,
) -> Batch:
    """Builds rows of the input, then computation tokens, then one `∅` for each output symbol to be predicted.

    Token ids below `num_symbols` are input symbols; `∅` is `num_symbols`, a computation token is `num_symbols + 1`.

    **Arguments:**

    - `computation_tokens`: how many computation tokens follow the input, as a multiple of its length (0, 1 or 2 in
      Delétang et al. 2023, appendix A.4).
    - `autoregressive`: whether the model reads its previous output: the target symbols (with the ids of input symbols)
      replace all `∅`s but the first. In a test they are replaced by the model's outputs.
    - `count_padding`: whether the padding (symbol 0) after a target that ends early is scored, too.
    - `answer_at_last`: whether the one output symbol is predicted at the last input symbol, without any `∅`.
    """
    count = len(pairs)
    lengths, slots = pairs.input_lengths[:, None], pairs.slots[:, None]
    begin = lengths * (1 + computation_tokens)  # where the outputs start
    if answer_at_last:
        begin = begin - 1
    time = int((begin + slots).max(initial=0))
    position = np.arange(time)[None, :]

    tokens = np.zeros((count, time), np.int32)
    width = pairs.inputs.shape[1]
    tokens[:, :width] = pairs.inputs[:, :time]
    tokens[(position >= lengths) & (position < begin)] = num_symbols + 1
    is_slot = (position >= begin) & (position < begin + slots)
    if not answer_at_last:
        tokens[is_slot] = num_symbols
    tokens[position >= begin + slots] = 0

    target_mask = (position >= begin) & (position < begin + pairs.target_lengths[:, None])
    targets = np.zeros((count, time), np.int32)
    row, column = np.nonzero(target_mask)
    targets[row, column] = pairs.targets[row, column - begin[row, 0]]
    if autoregressive:
        row, column = np.nonzero(is_slot & (position > begin))
        tokens[row, column] = pairs.targets[row, column - begin[row, 0] - 1]
    if count_padding:
        target_mask = is_slot
    return Batch(tokens, position < begin + slots, targets, target_mask, np.ones(count, np.float32))
