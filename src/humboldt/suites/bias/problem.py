"""The examples of a task as batches. NumPy only."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from humboldt.core.identity import Member
from humboldt.languages import Alphabet, Batch, ProblemKind
from humboldt.languages.bias import AbstractBiasTask, Pair, Symbols
from humboldt.suites.bias.protocol import Preferences
from humboldt.training.base import AbstractProblem

SPECIALS, MULTIPLE = 4, 8  # fairseq's vocabulary has four more symbols and is padded to a multiple of eight
DRAWING = 2  # distinguishes the seed of a member's batches from other seeds


class RuleLearning(AbstractProblem):
    """Sources are a task's inputs with an end mark; targets are outputs with an end mark.

    The first models (block 0) are trained on the training set; the others also on some hold-out examples with the
    outputs of a rule. So each member has its own examples, except first models that see all of them at every step.
    If Adam's moments are kept, a member is first trained like the member of each earlier block, then as itself.
    """

    kind = ProblemKind.SEQUENCE_TO_SEQUENCE

    def __init__(self, task: AbstractBiasTask, protocol: Preferences, members: Sequence[Member]) -> None:
        self.task, self.protocol, self.members = task, protocol, members
        self.symbols = task.input_alphabet.symbols
        self.num_symbols = len(self.symbols)
        self.end = self.start = len(task.output_alphabet)
        self.input_size, self.output_size = self.num_symbols + 1, self.end + 1
        if protocol.vocabulary == "fairseq":
            self.input_size, self.output_size = _filled(self.num_symbols), _filled(self.end)
        # Shapes depend on whether hold-out examples are trained on, but not on which members are trained together:
        # another shape could change the last digits of a sum.
        has_holdout = any(member["block"] for member in members)
        self.has_one_batch = protocol.batch_size is None
        self.has_own_examples = has_holdout or not self.has_one_batch
        self.batch_size = protocol.batch_size or len(task.training_pairs) + has_holdout * len(task.holdout_inputs)
        trained = _all_pairs(task) if has_holdout else task.training_pairs
        self._lengths = lengths_of(trained)
        self.longest, self.longest_target = self._lengths
        self.buckets = (self._lengths,)
        self._made: tuple[int | None, Any] | None = None  # the examples of the latest round

    def batch(self, step: int) -> Batch:
        number = step // self.protocol.updates if self.protocol.moments == "kept" else None
        if self._made is None or self._made[0] != number:
            members = self._members_of(number)
            self._made = number, self._whole(members) if self.has_one_batch else self._pools(members)
        made = self._made[1]
        return made if self.has_one_batch else stacked([self._drawn(member, pool, step) for member, pool in made])

    def _members_of(self, number: int | None) -> Sequence[Member]:
        """Returns the members whose examples are used in round `number`, which is `None` without rounds."""
        if number is None:
            return self.members
        return [{**m, "block": min(number, m["block"]), "rule": m["rule"] if number else ""} for m in self.members]

    def _whole(self, members: Sequence[Member]) -> Batch:
        """Returns one batch with all examples of every member."""
        members = members if self.has_own_examples else members[:1]
        rows = [self.batch_of(self._examples(member), self.batch_size, self._lengths) for member in members]
        return stacked(rows) if self.has_own_examples else rows[0]

    def _pools(self, members: Sequence[Member]) -> list[tuple[Member, Batch]]:
        """Returns each member with the examples that it draws from."""
        examples = [(member, self._examples(member)) for member in members]
        return [(member, self.batch_of(pairs, len(pairs), self._lengths)) for member, pairs in examples]

    def _examples(self, member: Member) -> Sequence[Pair]:
        from humboldt.measures.bias import retraining_of

        return retraining_of(self.task, **member, block_size=self.protocol.curve_block).train

    def _drawn(self, member: Member, pool: Batch, step: int) -> Batch:
        """Returns a batch of one member, drawn from its pool with replacement."""
        rule = list(self.task.rules).index(member["rule"]) + 1 if member["rule"] else 0
        rng = np.random.default_rng((member["seed"], rule, member["block"], step, DRAWING))
        rows = rng.integers(len(pool.tokens), size=self.batch_size)
        return pool.take(rows)

    def batch_of(self, pairs: Sequence[Pair], rows: int, lengths: tuple[int, int] | None = None) -> Batch:
        """Returns pairs as a batch with this number of rows; surplus rows have weight 0."""
        longest, longest_target = lengths or lengths_of(pairs)
        sources = _encode([source for source, _ in pairs], self.task.input_alphabet, longest)
        targets = _encode([target for _, target in pairs], self.task.output_alphabet, longest_target)
        surplus = [(0, rows - len(pairs))]
        tokens, mask, ids, real = (np.pad(x, [*surplus, (0, 0)], mode="edge") for x in (*sources, *targets))
        return Batch(tokens, mask, ids, real, np.pad(np.ones(len(pairs), np.float32), surplus))

    def framed(self, symbols: Sequence[str]) -> Batch:
        return self.batch_of([(tuple(symbols), ())], 1)

    def outputs(self, symbols: np.ndarray) -> Symbols:
        """Returns an output, shape `(time,)`, as symbols up to the end mark; unknown ids become `<unk>`."""
        names = self.task.output_alphabet.symbols
        until = np.flatnonzero(symbols == self.end)
        ids = symbols[: until[0]] if len(until) else symbols
        return tuple(names[i] if i < len(names) else "<unk>" for i in ids.tolist())


def _filled(symbols: int) -> int:
    return -(-(symbols + SPECIALS) // MULTIPLE) * MULTIPLE


def _encode(strings: Sequence[Symbols], alphabet: Alphabet, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns token ids with the end mark, and the mask of real tokens, both of shape `(strings, longest)`."""
    tokens = np.zeros((len(strings), longest), np.int32)
    for row, string in enumerate(strings):
        tokens[row, : len(string) + 1] = [*alphabet.encode(string), len(alphabet)]
    lengths = np.array([len(string) + 1 for string in strings])
    return tokens, np.arange(longest)[None, :] < lengths[:, None]


def _fields(batch: Batch) -> list[np.ndarray]:
    return [batch.tokens, batch.mask, batch.targets, batch.target_mask, batch.weight]


def stacked(batches: Sequence[Batch]) -> Batch:
    """Stacks the batches of several members along a new first axis of members."""
    return Batch(*(np.stack(arrays) for arrays in zip(*map(_fields, batches), strict=True)))


def lengths_of(pairs: Sequence[Pair]) -> tuple[int, int]:
    """Returns the lengths of the longest source and of the longest target, with their end marks."""
    return tuple(1 + max(map(len, strings)) for strings in zip(*pairs, strict=True))  # pyright: ignore[reportReturnType]


def _all_pairs(task: AbstractBiasTask) -> list[Pair]:
    return [*task.training_pairs, *(pair for rule in task.rules for pair in task.holdout_pairs(rule))]


def members_of(task: AbstractBiasTask, protocol: Preferences) -> list[dict[str, Any]]:
    """Returns the first models of all seeds and, for description length, those that see some of a rule's examples.

    For the curve of Figure 3 these are of the first rule alone, with larger blocks.
    """
    from humboldt.measures.bias import num_blocks

    seeds = range(protocol.seeds)
    members: list[dict[str, Any]] = [{"seed": seed, "rule": "", "block": 0} for seed in seeds]
    if protocol.description_length:
        members += [
            {"seed": seed, "rule": rule, "block": block}
            for seed in seeds
            for rule in (list(task.rules)[:1] if protocol.curve_block else task.rules)
            for block in range(1, num_blocks(task, protocol.curve_block))
        ]
    return members
