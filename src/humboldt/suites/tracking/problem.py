"""Strings of a word problem as batches. NumPy only."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from humboldt.languages import Batch, Pairs, ProblemKind
from humboldt.languages.tracking import AbstractStateTracking
from humboldt.suites.tracking.protocol import StateTracking
from humboldt.training.base import AbstractProblem

TEST_ROWS = 512  # strings of a test batch at most
CORPUS, SHUFFLING = 1, 2  # distinguish the seeds of a corpus and of an epoch's order from those of batches


class States(AbstractProblem):
    """A string of symbols; a model answers with the state at every symbol, or at the last one.

    A training batch has fresh strings of one length, or strings of a corpus.
    """

    kind = ProblemKind.TRANSDUCTION

    def __init__(self, task: AbstractStateTracking, protocol: StateTracking) -> None:
        self.task, self.protocol = task, protocol
        self.batch_size = protocol.batch_size
        self.symbols = task.input_alphabet.symbols
        self.input_size = self.num_symbols = len(self.symbols)
        self.output_size = len(task.output_alphabet)
        self.lengths = protocol.shortest, protocol.longest[0]
        self.longest = self.lengths[1] * task.tokens_per_step
        self._order = lru_cache(maxsize=2)(self._draw_order)

    def batch(self, step: int) -> Batch:
        first, last = self.lengths
        if self.protocol.corpus:
            epoch, place = divmod(step, -(-self.protocol.corpus // self.batch_size))
            rows = self._order(epoch)[place * self.batch_size : (place + 1) * self.batch_size]
            filled = np.concatenate([rows, np.repeat(rows[:1], self.batch_size - len(rows))])
            strings, lengths = self.corpus
            weight = (np.arange(self.batch_size) < len(rows)).astype(np.float32)
            return replace(self._cut(strings[filled], lengths[filled]), weight=weight)
        rng = np.random.default_rng((self.protocol.data_seed, step))
        return self.frame(self.task.sample(rng, self.batch_size, int(rng.integers(first, last + 1))))

    @cached_property
    def corpus(self) -> tuple[np.ndarray, np.ndarray]:
        """The training strings as columns of the automaton's table, shape `(corpus, longest)`, and their lengths."""
        rng = np.random.default_rng((self.protocol.data_seed, 0, CORPUS))
        first, last = self.lengths
        lengths = rng.integers(first, last + 1, self.protocol.corpus)
        return self.task.corpus(rng, lengths, last), lengths

    def frame(self, pairs: Pairs) -> Batch:
        """Returns strings of one length as a batch, each answer at the last token of its symbol."""
        targets, target_mask = np.zeros_like(pairs.inputs), np.zeros(pairs.inputs.shape, bool)
        places = self.task.answer_places(pairs.inputs.shape[1])
        targets[:, places], target_mask[:, places] = pairs.targets, True
        ones = np.ones(len(pairs), np.float32)
        return Batch(pairs.inputs, np.ones(pairs.inputs.shape, bool), targets, target_mask, ones)

    def framed(self, symbols: Sequence[str]) -> Batch:
        ids = self.task.input_alphabet.encode(symbols)[None]
        places = self.task.answer_places(ids.shape[1])
        return self.frame(Pairs.full(ids, np.zeros((1, len(places)), np.int32)))

    def test_batches(self) -> Iterator[tuple[int, int, Batch]]:
        """Yields the test strings in batches of one length, each after its length and its number of real rows."""
        for length in self.protocol.scored_lengths():
            pairs = self.test_pairs(length)
            size = min(TEST_ROWS, len(pairs))
            longest = max(self.protocol.scored_lengths()) * self.task.tokens_per_step
            batch = self.frame(pairs).padded(longest)  # one shape, one compilation
            for begin in range(0, len(pairs), size):
                rows = np.arange(begin, min(begin + size, len(pairs)))
                filled = np.concatenate([rows, np.repeat(rows[:1], size - len(rows))])
                yield length, len(rows), batch.take(filled)

    def test_pairs(self, length: int) -> Pairs:
        """Returns the test strings of one length."""
        rng = np.random.default_rng((self.protocol.test_seed, length))
        return self.task.sample(rng, self.protocol.strings_per_length, length)

    def _draw_order(self, epoch: int) -> np.ndarray:
        return np.random.default_rng((self.protocol.data_seed, epoch, SHUFFLING)).permutation(self.protocol.corpus)

    def _cut(self, columns: np.ndarray, lengths: np.ndarray) -> Batch:
        """Returns the first `lengths` symbols of strings that are equally long."""
        every = replace(self.task, supervision="every")
        whole = States(every, self.protocol).frame(every.pairs(columns.astype(np.int32)))
        ends = lengths[:, None] * self.task.tokens_per_step
        place = np.arange(whole.time)[None]
        inside = place < ends
        answers = whole.target_mask & inside
        if self.task.supervision == "last":
            answers &= place == ends - 1
        zero = np.int32(0)
        return Batch(
            np.where(inside, whole.tokens, zero), inside, np.where(answers, whole.targets, zero), answers, whole.weight
        )
