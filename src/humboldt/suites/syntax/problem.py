"""The strings of a pseudo-language as batches. NumPy only."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from humboldt.languages import Batch, ProblemKind, tasks
from humboldt.languages.syntax import AbstractPseudoLanguage, Split, SplitSettings, draw_split
from humboldt.measures.shortcuts import shortcut_audit
from humboldt.suites.syntax.protocol import PseudoLanguages
from humboldt.training.base import AbstractProblem

TEST_ROWS = 250  # strings per test batch: the paper's splits are multiples of it
SCORED = {"validation": "validation", "test": "in_dist", "long": "out_of_dist"}  # split -> measure
SHUFFLING = 1  # distinguishes the seed of an epoch's order from the seed of a split

Words = tuple[int, str, float]  # terminals, distribution, exponent
TaskName = tuple[str, int | str]  # with the version: a file may be edited


class Classification(AbstractProblem):
    """Classification of strings as members of the language; the answer is read at the last symbol."""

    kind = ProblemKind.CLASSIFICATION

    def __init__(self, task: str, language: AbstractPseudoLanguage, protocol: PseudoLanguages) -> None:
        self.task, self.language, self.protocol = task, language, protocol
        self.batch_size = protocol.batch_size
        self.symbols = language.input_alphabet.symbols
        self.input_size = self.num_symbols = len(language.input_alphabet)
        self.output_size = len(language.output_alphabet)
        self.longest = protocol.lengths[1]
        self.buckets = (self.longest,)  # a batch of mixed lengths is never short: one shape, one quick compilation
        self._order = lru_cache(maxsize=2)(self._draw_order)

    def split(self, name: str) -> Split:
        """Returns the strings of one split, cached for all models of one language."""
        protocol = self.protocol
        words = self.language.terminals, protocol.distribution, protocol.zipf_exponent
        return _split(self._name, name, words, protocol.data_seed, protocol.splits)

    def shortcuts(self) -> dict[str, dict[str, float]]:
        """Returns the accuracy of each classifier of the shortcut audit, by measure and classifier."""
        protocol = self.protocol
        words = self.language.terminals, protocol.distribution, protocol.zipf_exponent
        return _shortcuts(self._name, words, protocol.data_seed, protocol.splits)

    @property
    def _name(self) -> TaskName:
        return self.task, tasks.entry(f"syntax/{self.task}").version

    def framed(self, symbols: Sequence[str]) -> Batch:
        tokens = self.language.input_alphabet.encode(symbols)[None]
        is_last = np.arange(tokens.shape[1])[None] == tokens.shape[1] - 1
        return Batch(tokens, np.ones(tokens.shape, bool), np.zeros_like(tokens), is_last, np.ones(1, np.float32))

    def _draw_order(self, epoch: int) -> np.ndarray:
        rng = np.random.default_rng((self.protocol.data_seed, epoch, SHUFFLING))
        return rng.permutation(len(self.split("train")))

    def batch(self, step: int) -> Batch:
        train, size = self.split("train"), self.protocol.batch_size
        epoch, place = divmod(step, -(-len(train) // size))
        return batch_of(train, self._order(epoch)[place * size : (place + 1) * size], size)

    def training_set(self) -> Batch:
        train = self.split("train")
        return batch_of(train, np.arange(len(train)), len(train))


@lru_cache(maxsize=8)
def _split(task: TaskName, name: str, words: Words, seed: int, settings: SplitSettings) -> Split:
    return draw_split(_language(task, words), name, seed, settings)


@lru_cache(maxsize=2)
def _shortcuts(task: TaskName, words: Words, seed: int, settings: SplitSettings) -> dict[str, dict[str, float]]:
    scored = {SCORED[name]: _split(task, name, words, seed, settings) for name in ("test", "long")}
    accuracies: dict[str, dict[str, float]] = {measure: {} for measure in scored}
    train = _split(task, "train", words, seed, settings)
    for audit in shortcut_audit(train, scored, categories=_language(task, words).symbol_categories):
        accuracies[audit.split][audit.classifier] = round(audit.accuracy, 6)
    return accuracies


def _language(task: TaskName, words: Words) -> AbstractPseudoLanguage:
    terminals, distribution, exponent = words
    options = {"terminals": terminals, "distribution": distribution, "zipf_exponent": exponent}
    return tasks.get(f"syntax/{task[0]}")(**options)  # pyright: ignore[reportReturnType, reportCallIssue]


def batch_of(split: Split, rows: np.ndarray, size: int) -> Batch:
    """Returns strings as a batch of `size` rows, each with its label at the last real symbol.

    Missing rows are filled with copies of the first string, whose weight is 0.
    """
    filled = np.concatenate([rows, np.repeat(rows[:1], size - len(rows))])
    position = np.arange(split.tokens.shape[1])[None, :]
    lengths = split.lengths[filled, None]
    is_last = position == lengths - 1
    targets = np.where(is_last, split.labels[filled, None], 0).astype(np.int32)
    weight = (np.arange(size) < len(rows)).astype(np.float32)
    return Batch(split.tokens[filled], position < lengths, targets, is_last, weight)


def test_batches(split: Split) -> Iterator[tuple[int, Batch]]:
    """Yields all strings of a split in batches of `TEST_ROWS`, each after its number of real rows."""
    for first in range(0, len(split), TEST_ROWS):
        rows = np.arange(first, min(first + TEST_ROWS, len(split)))
        yield len(rows), batch_of(split, rows, TEST_ROWS)
