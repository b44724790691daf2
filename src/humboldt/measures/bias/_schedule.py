"""The trainings and coded examples of a measurement of description length (sections 2 and 4.2 of the paper).

The training set is the first block. The hold-out examples follow in random order, in blocks. Step number `block`
retrains the learner, from the same initialisation, on the training set and the first `block` blocks of a rule's
examples, and codes the next block. The first step does not depend on the rule, so all rules share its model.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.bias import AbstractBiasTask, Pair
from humboldt.measures.bias._description_length import Measured


@dataclass(frozen=True)
class Coded:
    """A hold-out example to code: `pair` has the output of `rule`; `index` is its place in the hold-out set."""

    rule: str
    index: int
    pair: Pair


@dataclass(frozen=True)
class Retraining:
    """One training of a learner, with its own examples.

    - `seed`: determines the initialisation and the order of the hold-out examples, equal for all rules and blocks.
    - `rule`: the rule of the hold-out examples in `train`; `None` for the first step, which all rules share.
    - `block`: the number of blocks of hold-out examples in `train`.
    - `train`: the training examples.
    - `coded`: the examples that the trained learner codes: the next block, in the first step once for every rule.
    """

    seed: int
    rule: str | None
    block: int
    train: tuple[Pair, ...]
    coded: tuple[Coded, ...]


def retrainings(
    task: AbstractBiasTask, seed: int, *, rules: Sequence[str] | None = None, block_size: int | None = None
) -> list[Retraining]:
    """Returns all trainings for the description lengths of one seed: one, and for every rule one per further block.

    **Arguments:**

    - `rules`: the rules to include; by default all of the task.
    - `block_size`: by default that of the task.

    >>> from humboldt.languages.bias.count_or_memorization import CountOrMemorization
    >>> len(retrainings(CountOrMemorization(), seed=0))
    39
    """
    names = list(task.rules) if rules is None else list(rules)
    schedule = [retraining_of(task, seed, None, 0, rules=names, block_size=block_size)]
    for rule in names:
        for block in range(1, num_blocks(task, block_size)):
            schedule.append(retraining_of(task, seed, rule, block, block_size=block_size))
    return schedule


def num_blocks(task: AbstractBiasTask, block_size: int | None = None) -> int:
    """Returns the number of blocks of hold-out examples."""
    return len(_blocks(len(task.holdout_inputs), task.block_size if block_size is None else block_size, 0))


def retraining_of(
    task: AbstractBiasTask,
    seed: int,
    rule: str | None,
    block: int,
    *,
    rules: Sequence[str] | None = None,
    block_size: int | None = None,
) -> Retraining:
    """Returns one of the trainings of `retrainings`. Without a rule it is the first, which codes for all `rules`."""
    blocks = _blocks(len(task.holdout_inputs), task.block_size if block_size is None else block_size, seed)
    coded_for = [rule] if rule else list(task.rules) if rules is None else list(rules)
    coded = [Coded(name, index, task.holdout_pairs(name)[index]) for name in coded_for for index in blocks[block]]
    seen = [task.holdout_pairs(rule)[index] for earlier in blocks[:block] for index in earlier] if rule else []
    return Retraining(seed, rule or None, block, (*task.training_pairs, *seen), tuple(coded))


def curve_retrainings(task: AbstractBiasTask, rule: str, seed: int, *, block_size: int = 10) -> list[Retraining]:
    """Returns the trainings of appendix F: each codes *all* hold-out examples that it was not trained on.

    With `composition_or_memorization`, N = 1000 and M = 10, these are the 99 trainings behind a curve of Figure 3.
    """
    blocks = num_blocks(task, block_size)
    return [curve_retraining_of(task, rule, seed, block, block_size=block_size) for block in range(blocks)]


def curve_retraining_of(
    task: AbstractBiasTask, rule: str, seed: int, block: int, *, block_size: int = 10
) -> Retraining:
    """Returns one of the trainings of `curve_retrainings`; its training set is that of `retraining_of`."""
    blocks, pairs = _blocks(len(task.holdout_inputs), block_size, seed), task.holdout_pairs(rule)
    seen = [pairs[index] for earlier in blocks[:block] for index in earlier]
    rest = [Coded(rule, index, pairs[index]) for later in blocks[block:] for index in later]
    return Retraining(seed, rule if block else None, block, (*task.training_pairs, *seen), tuple(rest))


def measured(schedule: Sequence[Retraining], nats: Iterable[Sequence[float]]) -> list[Measured]:
    """Returns the cost of every coded example of a schedule.

    **Arguments:**

    - `nats`: for every training the nats of each example of its `coded`, in the same order: minus the natural logarithm
      of the probability that the trained learner gives to the target and its end.
    """
    costs = []
    for retraining, values in zip(schedule, nats, strict=True):
        if len(values) != len(retraining.coded):
            raise UsageError(
                f"There are {len(values)} values for {len(retraining.coded)} coded examples (seed {retraining.seed}, "
                f"rule {retraining.rule}, block {retraining.block}). Give one value for each, in the same order."
            )
        costs += [
            Measured(retraining.seed, example.rule, example.pair[0], float(value))
            for example, value in zip(retraining.coded, values, strict=True)
        ]
    return costs


def _blocks(count: int, block_size: int, seed: int) -> list[list[int]]:
    """Returns the numbers 0 to `count` - 1 in blocks, in an order given by the seed; the last block may be short."""
    if block_size < 1:
        raise UsageError(f"block_size={block_size} is not possible. A block holds at least 1 example.")
    order = np.random.default_rng(seed).permutation(count).tolist()
    return [order[start : start + block_size] for start in range(0, count, block_size)]
