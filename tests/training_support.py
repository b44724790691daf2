"""A small problem for the tests of engines: parity, batches of 8, lengths 1 to 12."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from chomsky_support import make

from humboldt.languages import Batch, ProblemKind, frame_transduction
from humboldt.training.base import AbstractProblem

PARITY = make("parity_check")


class Parity(AbstractProblem):
    """Two symbols and ∅. `seeds` are those of the training strings: several, if members have strings of their own."""

    kind = ProblemKind.TRANSDUCTION
    symbols = ("a", "b")
    input_size, output_size, num_symbols, batch_size, longest = 3, 2, 2, 8, 13

    def __init__(self, seeds: Sequence[int] = (0,), milestones: tuple[int, ...] = (), *, own: bool = False) -> None:
        self.seeds, self.milestones, self.has_own_examples = seeds, milestones, own

    def batch(self, step: int) -> Batch:
        length = int(np.random.default_rng((9, step)).integers(1, 13))  # the same for all members
        batches = [
            frame_transduction(PARITY.sample(np.random.default_rng((seed, step)), self.batch_size, length), 2)
            for seed in self.seeds
        ]
        if not self.has_own_examples:
            return batches[0]
        names = Batch.__dataclass_fields__
        return replace(batches[0], **{name: np.stack([getattr(b, name) for b in batches]) for name in names})
