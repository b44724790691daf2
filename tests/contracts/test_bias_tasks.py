"""What every task of the bias suite promises, beyond what every task does."""

import pytest

from humboldt.languages import ProblemKind, tasks
from humboldt.languages.bias import AbstractBiasTask

NAMES = tasks.names("bias/")


def make(name: str) -> AbstractBiasTask:
    task = tasks.get(name)()
    assert isinstance(task, AbstractBiasTask)
    return task


every_task = pytest.mark.parametrize("name", NAMES)


@every_task
def test_the_task_keeps_the_promises_of_section_2(name: str):
    task = make(name)
    assert task.problem is ProblemKind.SEQUENCE_TO_SEQUENCE
    task.verify()
    assert task.block_size >= 1


@every_task
def test_the_rules_agree_with_the_outputs_worked_by_hand(name: str):
    task = make(name)
    assert {rule for rule, _, _ in task.rule_examples} == set(task.rules), "every rule has a worked output"
    for rule, source, target in task.rule_examples:
        assert task.output(rule, source) == tuple(target.split()), (rule, source)


@every_task
def test_every_string_is_in_the_alphabets(name: str):
    task = make(name)
    for source in (*task.training_targets, *task.holdout_inputs):
        task.input_alphabet.encode(source)
    for rule in task.rules:
        for _, target in task.holdout_pairs(rule):
            task.output_alphabet.encode(target)


@every_task
def test_two_objects_of_one_task_say_the_same(name: str):
    left, right = make(name), make(name)
    assert left.training_pairs == right.training_pairs
    assert left.input_alphabet == right.input_alphabet and left.output_alphabet == right.output_alphabet
    for rule in left.rules:
        assert left.holdout_pairs(rule) == right.holdout_pairs(rule)
