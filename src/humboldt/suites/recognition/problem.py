"""Labelled strings of a language as batches. NumPy only."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from humboldt.languages import Batch, ProblemKind
from humboldt.languages.recognition import AbstractRecognition, Examples, draw_examples
from humboldt.languages.recognition.parts.own import OwnContextFree, OwnRegular
from humboldt.measures.shortcuts import shortcut_audit, shortcut_sentence
from humboldt.suites.recognition.protocol import SCORED, SPLITS, Recognisers
from humboldt.training.base import AbstractProblem

TEST_ROWS = 250  # strings of a test batch
SHUFFLING = len(SPLITS)  # distinguishes the seed of an epoch's order from those of the splits
MOST_SYMBOLS = 30  # of an alphabet, for sets of next symbols as bits
AUDITED = 400, 200  # strings on which a language from a file is audited: for training, for the test
BUCKETS = 50  # test batches are padded to multiples of this


class Recognition(AbstractProblem):
    """A string and an end mark, at which the answer is read, so that the empty string has one, too."""

    kind = ProblemKind.CLASSIFICATION

    def __init__(self, language: AbstractRecognition, protocol: Recognisers) -> None:
        self.language, self.protocol = language, protocol
        self.batch_size = protocol.batch_size
        self.symbols = language.input_alphabet.symbols
        self.num_symbols = len(self.symbols)
        self.input_size = self.num_symbols + 1
        self.output_size = len(language.output_alphabet)
        self.longest = protocol.longest + 1
        self.buckets = (self.longest,)
        self._order = lru_cache(maxsize=2)(self._draw_order)

    def split(self, name: str) -> Examples:
        """Returns the strings of one split, cached for all models of one language."""
        return _split(type(self.language), name, self.protocol.data_seed, *self.protocol.size_of(name))

    def shortcuts(self) -> dict[str, dict[str, float]]:
        """Returns the accuracy of each classifier of the shortcut audit, by split and classifier."""
        sizes = tuple((name, *self.protocol.size_of(name)) for name in ("train", *SCORED))
        return _shortcuts(type(self.language), self.protocol.data_seed, sizes)

    def batch(self, step: int) -> Batch:
        train, size = self.split("train"), self.protocol.batch_size
        epoch, place = divmod(step, -(-len(train) // size))
        rows = self._order(epoch)[place * size : (place + 1) * size]
        batch = self.batch_of(train, rows, size)
        return (
            replace(batch, targets=self._with_sets(batch.targets, rows)) if self.protocol.further_heads()[1] else batch
        )

    def training_set(self) -> Batch:
        train = self.split("train")
        return self.batch_of(train, np.arange(len(train)), len(train))

    def framed(self, symbols: Sequence[str]) -> Batch:
        ids = self.language.input_alphabet.encode(symbols)[None]
        zero = np.zeros(1, np.int32)
        return self.batch_of(Examples(ids, np.array([ids.shape[1]]), zero, zero), np.arange(1), 1)

    def batch_of(self, examples: Examples, rows: np.ndarray, size: int, time: int | None = None) -> Batch:
        """Returns strings as a batch of `size` rows and `time` steps, each with its label at the end mark.

        Missing rows are filled with copies of the first string, whose weight is 0.
        """
        filled = np.concatenate([rows, np.repeat(rows[:1], size - len(rows))])
        width = (examples.tokens.shape[1] + 1) if time is None else time
        tokens = np.zeros((size, width), np.int32)
        kept = min(width, examples.tokens.shape[1])
        tokens[:, :kept] = examples.tokens[filled, :kept]
        lengths, position = examples.lengths[filled, None], np.arange(width)[None]
        is_end = position == lengths
        tokens[is_end] = self.num_symbols
        targets = np.where(is_end, examples.labels[filled, None], 0).astype(np.int32)
        weight = (np.arange(size) < len(rows)).astype(np.float32)
        return Batch(tokens, position <= lengths, targets, is_end, weight)

    def _with_sets(self, targets: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns the targets with the sets of next symbols at the symbols of strings of the language."""
        sets = _next_sets(type(self.language), self.protocol.data_seed, *self.protocol.size_of("train"))
        targets = targets.copy()
        targets[: len(rows), : sets.shape[1]] |= sets[rows]  # 0 at the end mark and after it
        return targets

    def test_batches(self, examples: Examples) -> Iterator[tuple[np.ndarray, Batch]]:
        """Yields the strings of a split in batches, each after the numbers of its real rows."""
        size = min(TEST_ROWS, len(examples))
        for first in range(0, len(examples), size):
            rows = np.arange(first, min(first + size, len(examples)))
            time = -(-(int(examples.lengths[rows].max()) + 1) // BUCKETS) * BUCKETS
            yield rows, self.batch_of(examples, rows, size, time)

    def _draw_order(self, epoch: int) -> np.ndarray:
        rng = np.random.default_rng((self.protocol.data_seed, epoch, SHUFFLING))
        return rng.permutation(self.protocol.train)


@lru_cache(maxsize=8)
def _split(language: type[AbstractRecognition], name: str, seed: int, count: int, longest: int) -> Examples:
    """Returns the strings of a split. Those that are scored are in the order of their lengths, to save padding."""
    rng = np.random.default_rng((seed, SPLITS.index(name), 0))
    drawn = draw_examples(language(), rng, count, longest)
    return drawn if name == "train" else drawn.take(np.argsort(drawn.lengths, kind="stable"))


@lru_cache(maxsize=2)
def _next_sets(language: type[AbstractRecognition], seed: int, count: int, longest: int) -> np.ndarray:
    """Returns the symbols that can follow each symbol of the training strings, as bits, shape `(count, longest)`; 0 for
    strings outside the language and after the last symbol."""
    train = _split(language, "train", seed, count, longest)
    sets = np.zeros(train.tokens.shape, np.int32)
    positive = np.flatnonzero(train.labels)
    for row, bits in zip(positive, language().next_sets(train.strings(positive)), strict=True):
        sets[row, : len(bits)] = bits
    return sets


@lru_cache(maxsize=2)
def _shortcuts(
    language: type[AbstractRecognition], seed: int, sizes: tuple[tuple[str, int, int], ...]
) -> dict[str, dict[str, float]]:
    drawn = {name: _split(language, name, seed, count, longest) for name, count, longest in sizes}
    train = drawn.pop("train")
    if len(np.unique(train.labels)) < 2:  # a few strings may all have one label: nothing can be learnt from them
        return {}
    accuracies: dict[str, dict[str, float]] = {name: {} for name in drawn}
    for audit in shortcut_audit(train, drawn):
        accuracies[audit.split][audit.classifier] = round(audit.accuracy, 6)
    return accuracies


def audit_sentence(language: type[OwnRegular | OwnContextFree], longest: int, longest_test: int) -> str | None:
    """Returns a warning if a classifier without structure recognises a language from a file; `None` if none does."""
    train, test = (_split(language, name, 0, n, most) for name, n, most in _audited(longest, longest_test))
    return shortcut_sentence(language.language.name, shortcut_audit(train, {"test": test}))


def _audited(longest: int, longest_test: int) -> Iterator[tuple[str, int, int]]:
    return zip(("train", "test"), AUDITED, (longest, longest_test), strict=True)
