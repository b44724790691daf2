"""Which examples are trained on and which are coded, step by step."""

from collections import Counter
from typing import Any

import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.bias import AbstractBiasTask
from humboldt.measures.bias import Retraining, curve_retrainings, measured, retrainings


def make(name: str, **settings: Any) -> AbstractBiasTask:
    task = tasks.get(f"bias/{name}")(**settings)
    assert isinstance(task, AbstractBiasTask)
    return task


SMALL = [
    make("count_or_memorization", l=10),
    make("add_or_multiply", l=5),
    make("multiply_by_3", l=5),
    make("hierarchical_or_linear"),
    make("composition_or_memorization", M=24),
]


@pytest.mark.parametrize(
    ("name", "settings", "trainings"),
    [
        ("count_or_memorization", {"l": 40}, 39),
        ("count_or_memorization", {"l": 10}, 39),
        ("add_or_multiply", {"l": 20}, 16),
        ("multiply_by_3", {"l": 10}, 21),
        ("hierarchical_or_linear", {}, 7),
        ("composition_or_memorization", {"M": 36}, 7),
        ("composition_or_memorization", {"M": 24}, 31),
        ("composition_or_memorization", {"M": 6}, 67),
        ("scan_jump", {}, 15),
    ],
)
def test_how_many_trainings_a_seed_needs(name: str, settings: dict[str, Any], trainings: int):
    assert len(retrainings(make(name, **settings), seed=1)) == trainings


def by_transmission(task: AbstractBiasTask, rule: str, order: list[int], block_size: int) -> list[tuple]:
    """Section 2, literally: Alice and Bob share what was sent; each block is sent under what they shared before it."""
    pairs = task.holdout_pairs(rule)
    shared = list(task.training_pairs)
    steps = []
    waiting = list(order)
    while waiting:
        block, waiting = waiting[:block_size], waiting[block_size:]
        steps.append((tuple(shared), [pairs[index] for index in block]))
        shared.extend(pairs[index] for index in block)
    return steps


@pytest.mark.parametrize("block_size", [None, 1, 3, 100])
@pytest.mark.parametrize("task", SMALL, ids=lambda task: type(task).__name__)
def test_every_rule_is_transmitted_block_by_block(task: AbstractBiasTask, block_size: int | None):
    schedule = retrainings(task, seed=5, block_size=block_size)
    first, *others = schedule
    assert first.rule is None and first.block == 0 and first.train == task.training_pairs
    orders = []
    for rule in task.rules:
        steps = [first, *(step for step in others if step.rule == rule)]
        assert [step.block for step in steps] == list(range(len(steps)))
        coded = [[example for example in step.coded if example.rule == rule] for step in steps]
        order = [example.index for examples in coded for example in examples]
        expected = by_transmission(task, rule, order, block_size or task.block_size)
        assert [
            (step.train, [e.pair for e in examples]) for step, examples in zip(steps, coded, strict=True)
        ] == expected
        orders.append(order)
    assert sorted(orders[0]) == list(range(len(task.holdout_inputs)))
    assert all(order == orders[0] for order in orders), "the same order for all rules, so that tests can be paired"
    assert all(example.rule == step.rule for step in others for example in step.coded)


def test_the_order_depends_on_the_seed_alone():
    task = make("count_or_memorization")
    assert retrainings(task, seed=3) == retrainings(make("count_or_memorization"), seed=3)

    def order(seed: int, **choice: Any) -> list[int]:
        schedule = retrainings(task, seed, **choice)
        return [example.index for step in schedule for example in step.coded if example.rule == "mem"]

    assert order(3) == order(3, rules=["mem"]) == order(3, block_size=4)
    assert len({tuple(order(seed)) for seed in range(20)}) == 20


def test_orders_are_uniform_enough():
    task = make("add_or_multiply")
    first = Counter(retrainings(task, seed)[0].coded[0].index for seed in range(600))
    assert sorted(first) == [0, 1, 2, 3, 4, 5]
    assert all(60 < count < 140 for count in first.values())  # 100 expected, standard deviation 9


def test_a_block_of_everything_is_one_training():
    (only,) = retrainings(make("add_or_multiply"), seed=0, block_size=6)
    assert only.rule is None and len(only.coded) == 18


def test_the_curve_codes_all_that_is_left():
    task = make("composition_or_memorization", N=60, M=10)
    schedule = curve_retrainings(task, "comp", seed=2)
    assert [(step.block, len(step.train), len(step.coded)) for step in schedule] == [
        (0, 70, 50),
        (1, 80, 40),
        (2, 90, 30),
        (3, 100, 20),
        (4, 110, 10),
    ]
    for step in schedule:
        assert {*step.train, *(example.pair for example in step.coded)} == {
            *task.training_pairs,
            *task.holdout_pairs("comp"),
        }
    assert len(curve_retrainings(make("composition_or_memorization", N=1000, M=10), "comp", seed=0)) == 99


def test_values_are_matched_with_examples():
    schedule = retrainings(make("add_or_multiply"), seed=0)

    def nats(step: Retraining) -> list[float]:
        return [100 * step.block + len(example.pair[1]) for example in step.coded]

    costs = measured(schedule, [nats(step) for step in schedule])
    assert len(costs) == 18
    assert {each.nats % 100 for each in costs if each.rule == "mem"} == {40}
    with pytest.raises(UsageError, match=r"2 values for 1 coded examples \(seed 0, rule add, block 1\)"):
        measured(schedule, [nats(step) + [0.0] * (step.block > 0) for step in schedule])


def test_blocks_have_examples():
    with pytest.raises(UsageError, match="block_size=0 is not possible"):
        retrainings(make("add_or_multiply"), seed=0, block_size=0)
