"""Training and test strings of a Chomsky task as batches. NumPy only."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Batch, Pairs, ProblemKind, frame_steps, frame_transduction
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.suites.capabilities import WrongString
from humboldt.suites.chomsky.protocol import LengthGeneralisation
from humboldt.training.base import AbstractProblem

STRINGS_TRIED = 16  # of each length, to find the shortest that a member gets wrong
TEST_ROWS = 512  # strings per test batch at most: enough to fill a CPU, few enough to waste little on padding


class Transduction(AbstractProblem):
    """Input, then `∅` symbols at which a model answers; every training batch has one length and fresh strings.

    With `mixed_lengths`, every string of a batch has a length of its own. With `answer_at="last"`, a model answers at
    the last symbol of the input.
    """

    kind = ProblemKind.TRANSDUCTION

    def __init__(self, task: AbstractTransduction, protocol: LengthGeneralisation) -> None:
        self.task, self.protocol = task, protocol
        self.batch_size = protocol.batch_size
        self.symbols = task.input_alphabet.symbols
        inputs, outputs = len(task.input_alphabet), len(task.output_alphabet)
        # A model that reads its own answers needs ids for them.
        self.num_symbols = max(inputs, outputs) if protocol.autoregressive else inputs
        self.input_size = self.num_symbols + 1 + (protocol.computation_tokens > 0)
        self.output_size = outputs
        self.answers_from = self.num_symbols if protocol.autoregressive else None
        self.test_dropout_seed = protocol.test_seed if protocol.test_dropout else None
        self.lengths = training_lengths(task, protocol)
        first, last = self.lengths
        self.longest = max(self._drawn(np.random.default_rng(0), n, 1).time for n in range(first, last + 1))

    def batch(self, step: int) -> Batch:
        rng = np.random.default_rng((self.protocol.data_seed, step))
        first, last = self.lengths
        if self.protocol.mixed_lengths:
            lengths, counts = np.unique(rng.integers(first, last + 1, self.protocol.batch_size), return_counts=True)
            drawn = [self.task.sample(rng, int(n), int(length)) for length, n in zip(lengths, counts, strict=True)]
            return self.frame(Pairs.concatenate(drawn), count_padding=self.protocol.train_padding)
        return self._drawn(rng, int(rng.integers(first, last + 1)), self.protocol.batch_size)

    def frame(self, pairs: Pairs, *, count_padding: bool = False) -> Batch:
        """Returns strings as a batch that the model reads."""
        if self.task.answers_at_every_step:
            return frame_steps(pairs)
        return frame_transduction(
            pairs,
            self.num_symbols,
            computation_tokens=self.protocol.computation_tokens,
            autoregressive=self.protocol.autoregressive,
            count_padding=count_padding,
            answer_at_last=self.protocol.answer_at == "last",
        )

    def framed(self, symbols: Sequence[str]) -> Batch:
        ids = self.task.input_alphabet.encode(symbols)
        # The number of answers depends on the length alone, so any string of this length gives it.
        like = self.task.sample(np.random.default_rng(0), 1, len(ids))
        return self.frame(replace(like, inputs=ids[None], targets=np.zeros_like(like.targets)), count_padding=True)

    def _drawn(self, rng: np.random.Generator, length: int, size: int) -> Batch:
        return self.frame(self.task.sample(rng, size, length), count_padding=self.protocol.train_padding)

    def test_pairs(self) -> Iterator[tuple[int, Pairs]]:
        """Yields each scored length with its test strings."""
        for length in self.protocol.scored_lengths():
            rng = np.random.default_rng((self.protocol.test_seed, length))
            yield length, self.task.sample(rng, self.protocol.strings_per_length, length)

    def test_batches(self) -> Iterator[tuple[np.ndarray, np.ndarray, Batch]]:
        """Yields the test strings in batches, each after the lengths and target lengths of its rows, shapes `(rows,)`.

        Every batch has the same number of rows; the last is filled with copies, whose length is 0.
        """
        num_rows = min(TEST_ROWS, len(self.protocol.scored_lengths()) * self.protocol.strings_per_length)
        rows: list[tuple[int, Pairs]] = []

        def emit() -> tuple[np.ndarray, np.ndarray, Batch]:
            lengths = np.concatenate([np.full(len(pairs), length) for length, pairs in rows])
            filling = -len(lengths) % num_rows
            parts = [pairs for _, pairs in rows]
            while filling > 0:
                parts.append(parts[-1].head(filling))
                filling -= len(parts[-1])
            pairs = Pairs.concatenate(parts)
            lengths = np.pad(lengths, (0, len(pairs) - len(lengths)))
            batch = replace(self.frame(pairs), weight=(lengths > 0).astype(np.float32))
            return lengths, pairs.target_lengths, batch

        for length, pairs in self.test_pairs():
            rows.append((length, pairs))
            if sum(len(pairs) for _, pairs in rows) >= num_rows:
                yield emit()
                rows = []
        if rows:
            yield emit()


def shortest_wrong(problem: Transduction, correct: Callable[[Batch], np.ndarray]) -> WrongString:
    """Finds the shortest string that a member gets wrong. `correct` counts the correct symbols of each row."""
    first, last = problem.lengths
    longest = problem.protocol.test_lengths[1]
    beyond = [min(longest, last + step) for step in (1, 2, 3, 5, 8, 12, 20, 30, 45, 60)]
    groups = [
        range(first, last + 1),
        dict.fromkeys(beyond),
        dict.fromkeys(min(longest, n) for n in (150, 250, longest)),
    ]
    rng = np.random.default_rng(problem.protocol.test_seed)
    for lengths in groups:
        drawn = [problem.task.sample(rng, STRINGS_TRIED, length) for length in lengths]
        pairs = Pairs.concatenate(drawn)
        wrong = np.flatnonzero(correct(problem.frame(pairs)) < pairs.target_lengths)
        if len(wrong):  # rows are in the order of their lengths
            row = int(wrong[0])
            symbols = problem.task.input_alphabet.decode(pairs.inputs[row][: pairs.input_lengths[row]])
            return WrongString(tuple(symbols), f"{STRINGS_TRIED} strings of each length from {first} on")
    return WrongString(None, f"{STRINGS_TRIED} strings of each of {sum(map(len, groups))} lengths up to {longest}")


def check_framing(task: AbstractTransduction, protocol: LengthGeneralisation) -> None:
    """Raises a usage error if an autoregressive model could not read its own answers."""
    if task.answers_at_every_step and protocol.autoregressive:
        raise UsageError(
            "autoregressive=true: with answers=every a model answers at the symbols that it reads, and cannot read its "
            "own answers. Use autoregressive=false."
        )


def training_lengths(task: AbstractTransduction, protocol: LengthGeneralisation) -> tuple[int, int]:
    """Returns the first and last length in training; lengths that are too short for the task are never drawn."""
    first, last = protocol.train_lengths
    if task.shortest > last:
        raise UsageError(
            f"train_lengths {protocol.train_lengths}: this task needs lengths of at least {task.shortest}. "
            f"Use train_lengths={first},{max(task.shortest, 40)}."
        )
    return max(first, task.shortest), last


def most_tokens(task: AbstractTransduction, protocol: LengthGeneralisation) -> int:
    """Returns the number of tokens of the longest test string, with its answer."""
    longest = task.sample(np.random.default_rng(0), 1, protocol.test_lengths[1])
    return Transduction(task, protocol).frame(longest).time


def check_answers(task: AbstractTransduction, protocol: LengthGeneralisation) -> None:
    """Raises a `UsageError` if an answer at the last input symbol does not fit the task or the protocol."""
    if protocol.answer_at == "mark":
        return
    longest = task.sample(np.random.default_rng(0), 1, max(task.shortest, 8)).targets.shape[1]
    if longest > 1 or protocol.autoregressive or protocol.computation_tokens:
        raise UsageError(
            "answer_at=last: the last symbol of the input has room for one answer, but this task has "
            f"{longest} with autoregressive={str(protocol.autoregressive).lower()} and "
            f"computation_tokens={protocol.computation_tokens}. Use answer_at=mark."
        )
