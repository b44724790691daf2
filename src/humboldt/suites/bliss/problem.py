"""The corpus of a language as batches: all at once, or string by string. NumPy only."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from humboldt.languages import Batch, ProblemKind
from humboldt.languages.bliss import BOUNDARY, AbstractLanguage, Corpus
from humboldt.measures.bliss import Sizes, sizes
from humboldt.suites.bliss.protocol import Induction
from humboldt.training.base import AbstractProblem

ROUND = 8  # rows and time steps are padded to a multiple of this, so that corpora of similar size share a program


class NextSymbol(AbstractProblem):
    """The next symbol after every prefix of a corpus: `# a a b b` -> `a a b b #`."""

    kind = ProblemKind.NEXT_SYMBOL

    def __init__(self, language: AbstractLanguage, protocol: Induction, task_name: str | None = None) -> None:
        self.language, self.protocol, self.task_name = language, protocol, task_name
        self.symbols = language.input_alphabet.symbols
        self.input_size = self.output_size = self.num_symbols = len(language.input_alphabet)
        self.longest = self._whole.time
        self.batch_size = protocol.batch_size or len(self._whole.tokens)
        # A whole corpus always has the same time. The lengths of single strings are spread geometrically.
        shorter = [] if protocol.batch_size is None else [8 * 2**i for i in range(8) if 8 * 2**i < self.longest]
        self.buckets = (*shorter, self.longest)

    @property
    def sizes(self) -> Sizes:
        """The numbers of training and test strings."""
        (factor,) = self.protocol.factors
        return sizes(factor, self.protocol.order)

    @cached_property
    def corpus(self) -> Corpus:
        """The training corpus."""
        return self.language.corpus(self.sizes.train, self.protocol.corpus_seed, self.protocol.p)

    def training_set(self) -> Batch:
        return self._whole

    @cached_property
    def _whole(self) -> Batch:
        """The corpus as a batch: every distinct string once, weighted so that every symbol of the corpus counts once.

        The loss of a batch is a weighted mean over rows of each row's mean over symbols, so the weight of a row is the
        number of its occurrences times its number of symbols. Padding rows have weight 0.
        """
        pairs, counts = self.corpus.pairs()
        rows, width = -(-len(pairs) // ROUND) * ROUND, -(-pairs.inputs.shape[1] // ROUND) * ROUND

        def filled(array: np.ndarray) -> np.ndarray:
            return np.pad(array, [(0, size - have) for size, have in zip((rows, width), array.shape, strict=False)])

        mask = np.arange(width) < filled(pairs.input_lengths)[:, None]
        weight = filled(counts * pairs.input_lengths).astype(np.float32)
        return Batch(filled(pairs.inputs), mask, filled(pairs.targets), mask, weight)

    @cached_property
    def _rows(self) -> np.ndarray:
        """The row of every string of the corpus, with repetitions, in the order of updates; the order is drawn once."""
        places = {string: row for row, string in enumerate(self.corpus.counts)}
        rows = np.array([places[string] for string in self.corpus.strings])
        if self.protocol.string_order == "shuffled":
            return np.random.default_rng(self.protocol.corpus_seed).permutation(rows)
        return rows

    @property
    def steps_per_epoch(self) -> int:
        """The number of updates in one pass over the corpus."""
        size = self.protocol.batch_size
        return 1 if size is None else -(-self.sizes.train // size)

    def batch(self, step: int) -> Batch:
        size, whole = self.protocol.batch_size, self._whole
        if size is None:
            return whole
        place = step % self.steps_per_epoch
        rows = self._rows[place * size : (place + 1) * size]
        filling = size - len(rows)  # the last batch of an epoch may be smaller
        weight = np.pad(whole.weight[rows] > 0, (0, filling)) * whole.mask[np.pad(rows, (0, filling))].sum(1)
        rows = np.pad(rows, (0, filling))
        time = int(whole.mask[rows].sum(1).max())
        return Batch(
            whole.tokens[rows, :time],
            whole.mask[rows, :time],
            whole.targets[rows, :time],
            whole.target_mask[rows, :time],
            weight.astype(np.float32),
        )

    def framed(self, symbols: Sequence[str]) -> Batch:
        """Returns the batch of one string or prefix, with or without its initial `#`. The mask covers every step."""
        whole = symbols if list(symbols[:1]) == [BOUNDARY] else [BOUNDARY, *symbols]
        tokens = self.language.input_alphabet.encode(whole)[None]
        mask = np.ones(tokens.shape, bool)
        return Batch(tokens, mask, np.zeros_like(tokens), mask, np.ones(1, np.float32))

    def corpus_losses(self, nats: np.ndarray) -> np.ndarray:
        """Returns the cross-entropy on the corpus in nats per symbol, shape `(members,)`.

        `nats`: those of each row of the training set, shape `(members, rows)`.
        """
        occurrences = self._whole.weight / np.maximum(self._whole.mask.sum(1), 1)
        return np.array([occurrences @ row / self._whole.weight.sum() for row in nats])
