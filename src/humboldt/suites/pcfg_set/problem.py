"""Expressions and their meanings as batches of tokens. NumPy only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Batch, ProblemKind
from humboldt.languages.pcfg_set import Examples, num_functions
from humboldt.languages.pcfg_set.base import AbstractTest
from humboldt.languages.pcfg_set.task_accuracy import TaskAccuracy
from humboldt.suites.pcfg_set.buckets import Pair, Ragged, assign, batches_of, choose_buckets
from humboldt.suites.pcfg_set.protocol import Compositionality
from humboldt.training.abilities import SearchesOutputs, WritesOutputs, ability
from humboldt.training.base import AbstractPredictor, AbstractProblem

TEST_ROWS = 256  # of a batch with teacher forcing
ASKED_ROWS = 512  # sources in one call for outputs
FEW_ROWS = 128  # the same for few sources; only two batch sizes exist, so that few programs are compiled
SHUFFLING = 1  # distinguishes the seed of an epoch's order from other seeds
START = "<s>"  # text of the start mark, if a model outputs it


@dataclass(frozen=True)
class Vocabulary:
    """Token ids of sources and targets.

    Sources: symbols, a token for unknown symbols and, with `ends_sources`, an end mark, as in fairseq. Targets:
    letters, the end mark and a start mark; fairseq starts with the end mark instead.
    """

    symbols: tuple[str, ...]
    letters: tuple[str, ...]
    ends_sources: bool

    @property
    def unknown(self) -> int:
        """The source token for unknown symbols."""
        return len(self.symbols)

    @property
    def input_size(self) -> int:
        """Number of source tokens."""
        return len(self.symbols) + 1 + self.ends_sources

    @property
    def end(self) -> int:
        """The target token after which an output is complete."""
        return len(self.letters)

    @property
    def start(self) -> int:
        """The first token that a decoder reads."""
        return self.end if self.ends_sources else self.end + 1

    @property
    def output_size(self) -> int:
        """Number of target tokens."""
        return self.start + 1

    def sources(self, texts: Sequence[str]) -> Ragged:
        """Returns sources as token ids."""
        ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        ending = [self.unknown + 1] if self.ends_sources else []
        return Ragged.of([[ids.get(token, self.unknown) for token in text.split()] + ending for text in texts])

    def targets(self, texts: Sequence[str]) -> Ragged:
        """Returns targets as token ids, each with the end mark."""
        ids = {letter: i for i, letter in enumerate(self.letters)}
        return Ragged.of([[*(ids[letter] for letter in text.split()), self.end] for text in texts])

    def texts(self, outputs: np.ndarray) -> list[str]:
        """Returns outputs, shape `(count, time)`, as texts up to the end mark."""
        words = np.array([*self.letters, "", *([] if self.ends_sources else [START])], object)
        lengths = np.where((outputs == self.end).any(1), (outputs == self.end).argmax(1), outputs.shape[1])
        return [" ".join(row[:n]) for row, n in zip(words[outputs].tolist(), lengths.tolist(), strict=True)]


class Expressions(AbstractProblem):
    """The problem of reading an expression and writing its meaning.

    An epoch holds every training item once. A batch has items of one bucket, so of similar lengths; the toolkits do
    about the same. The order depends on the data's seed and the epoch. A smaller last batch is filled with rows of
    weight 0.
    """

    kind = ProblemKind.SEQUENCE_TO_SEQUENCE

    def __init__(self, task: AbstractTest, protocol: Compositionality, model: Any) -> None:
        self.task, self.protocol = task, protocol
        self.vocabulary = Vocabulary(
            task.input_alphabet.symbols, task.output_alphabet.symbols, getattr(model, "toolkit", "fairseq") == "fairseq"
        )
        self.symbols = self.vocabulary.symbols
        self.num_symbols, self.input_size = len(self.symbols), self.vocabulary.input_size
        self.output_size = self.vocabulary.output_size
        self.start, self.end = self.vocabulary.start, self.vocabulary.end
        self.splits = task.splits(protocol.data_seed)
        for name in ("train", "validation", "test"):
            if not len(getattr(self.splits, name)):
                raise UsageError(
                    f"The {name} set of this test is empty: no expression of the corpus belongs to it. Use a larger "
                    "size, or expressions of other sizes (deepest, most_functions)."
                )
        if isinstance(task, TaskAccuracy) and not any(num_functions(source) > 1 for source in self.splits.test.sources):
            raise UsageError(
                "The test set of localism is empty: no expression of the base test set has two functions or more. Use "
                "a larger size, or deeper expressions (deepest)."
            )
        self.batch_size = protocol.batch_size
        self._sources, self._targets = _encoded(task, protocol.data_seed, self.vocabulary)
        if protocol.longest_item is not None:
            symbols = np.maximum(self._sources.lengths - self.vocabulary.ends_sources, self._targets.lengths - 1)
            short = np.flatnonzero(symbols <= protocol.longest_item)
            if not len(short):
                raise UsageError(f"All training items are longer than longest_item={protocol.longest_item}.")
            self._sources, self._targets = self._sources.take(short), self._targets.take(short)
        pairs = _buckets(task, protocol.data_seed, self.vocabulary, protocol.buckets, protocol.batch_size)
        self.buckets: tuple[Pair, ...] = pairs  # pyright: ignore[reportIncompatibleVariableOverride]
        self.longest, self.longest_target = self.buckets[-1]
        limit = protocol.most_tokens
        self.rows: tuple[int, ...] = tuple(  # pyright: ignore[reportIncompatibleVariableOverride]
            self.batch_size if limit is None else min(self.batch_size, max(1, limit // max(pair)))
            for pair in self.buckets
        )
        self._bucket_of = assign(self._sources.lengths, self._targets.lengths, self.buckets)
        counts = np.bincount(self._bucket_of, minlength=len(self.buckets))
        self.steps_per_epoch = int(sum(-(-count // rows) for count, rows in zip(counts, self.rows, strict=True)))
        self.milestones = tuple(self.steps_per_epoch * (i + 1) for i in range(protocol.epochs))
        self._order = lru_cache(maxsize=2)(self._draw_order)

    @property
    def steps(self) -> int:
        """Number of steps of the whole training."""
        return self.protocol.epochs * self.steps_per_epoch

    def _draw_order(self, epoch: int) -> list[tuple[int, np.ndarray]]:
        """Returns the batches of an epoch: bucket and items of each."""
        rng = np.random.default_rng((self.protocol.data_seed, epoch, SHUFFLING))
        items = rng.permutation(len(self._bucket_of))
        batches = [(bucket, items[rows]) for bucket, rows in batches_of(self._bucket_of[items], self.rows)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def batch(self, step: int) -> Batch:
        epoch, place = divmod(step, self.steps_per_epoch)
        bucket, items = self._order(epoch)[place]
        return _framed(self._sources, self._targets, items, self.batch_size, self.buckets[bucket])

    def framed(self, symbols: Sequence[str]) -> Batch:
        self.task.input_alphabet.encode(symbols)  # raises on other symbols
        ((_, batch),) = self.asked_batches(self.vocabulary.sources([" ".join(symbols)]))
        return batch.take(slice(1))

    def validation_batches(self) -> Iterator[tuple[np.ndarray, Batch]]:
        """Yields the validation set in batches of `TEST_ROWS`, each after the indices of its items."""
        validation: Examples = self.splits.validation
        sources, targets = self.vocabulary.sources(validation.sources), self.vocabulary.targets(validation.targets)
        bucket_of = assign(sources.lengths, targets.lengths, self.buckets)
        for bucket, items in batches_of(bucket_of, [TEST_ROWS] * len(self.buckets)):
            yield items, _framed(sources, targets, items, TEST_ROWS, self.buckets[bucket])

    def outputs(
        self, predictor: AbstractPredictor, texts: Sequence[str], tell: Any = lambda count: None, *, beam: int = 1
    ) -> list[list[str]]:
        """Returns the output of each member for each source, as a text: greedy, or found by a search with a `beam`.
        `tell` is called with the number of sources of each finished batch."""
        sources, longest = self.vocabulary.sources(texts), self.protocol.longest_output

        def written(batch: Batch) -> np.ndarray:
            if beam > 1:
                return ability(predictor, SearchesOutputs).beam_outputs(batch, longest, beam)
            return ability(predictor, WritesOutputs).outputs(batch, longest)

        all_texts: list[list[str]] = [[""] * len(texts) for _ in range(predictor.num_members)]
        for items, batch in self.asked_batches(sources):
            for member, outputs in enumerate(written(batch)):
                for item, text in zip(items, self.vocabulary.texts(outputs[: len(items)]), strict=True):
                    all_texts[member][item] = text
            tell(len(items))
        return all_texts

    def asked_batches(self, sources: Ragged) -> Iterator[tuple[np.ndarray, Batch]]:
        """Yields sources in batches of one size, shortest first, each after the indices of its sources."""
        order = np.argsort(sources.lengths, kind="stable")
        rows = ASKED_ROWS if len(order) > ASKED_ROWS else FEW_ROWS
        no_targets = Ragged(np.zeros(1, np.int32), np.zeros(len(order) + 1, np.int64))
        for first in range(0, len(order), rows):
            items = order[first : first + rows]
            yield items, _framed(sources, no_targets, items, rows, (int(sources.lengths[items].max()), 1))


def _framed(sources: Ragged, targets: Ragged, items: np.ndarray, size: int, lengths: Pair) -> Batch:
    """Returns items as a batch of `size` rows. Missing rows are copies of the first item, with weight 0."""
    rows = np.concatenate([items, np.repeat(items[:1], size - len(items))])
    weight = (np.arange(size) < len(items)).astype(np.float32)
    return Batch(*sources.padded(rows, lengths[0]), *targets.padded(rows, lengths[1]), weight)


@lru_cache(maxsize=4)
def _encoded(task: AbstractTest, seed: int, vocabulary: Vocabulary) -> tuple[Ragged, Ragged]:
    """Returns sources and targets of the training items as token ids."""
    train: Examples = task.splits(seed).train
    return vocabulary.sources(train.sources), vocabulary.targets(train.targets)


@lru_cache(maxsize=4)
def _buckets(task: AbstractTest, seed: int, vocabulary: Vocabulary, most: int, rows: int) -> tuple[Pair, ...]:
    """Returns the buckets for all items of the base corpus. Every test has the same, so that one program trains all.

    Exceptional targets may be longer than all others; the last bucket is then larger.
    """
    corpus = task.corpus(seed)
    whole = corpus.train + corpus.validation + corpus.test
    sources, targets = (
        np.array([text.count(" ") + 1 for text in texts]) + extra
        for texts, extra in ((whole.sources, vocabulary.ends_sources), (whole.targets, 1))
    )
    *others, last = choose_buckets(sources, targets, most, rows)
    longest = (int(texts.lengths.max()) for texts in _encoded(task, seed, vocabulary))
    return (*others, (max(last[0], next(longest)), max(last[1], next(longest))))
