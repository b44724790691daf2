"""What members are trained on: every item once an epoch, marks where the toolkits have them."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from humboldt.languages import tasks
from humboldt.suites.pcfg_set.problem import START, Expressions, Vocabulary
from humboldt.suites.pcfg_set.protocol import Compositionality

SIZES: dict[str, Any] = {"size": 1500, "letters": 60, "deepest": 3}
OF_TASK: dict[str, dict[str, Any]] = {
    "productivity": {"most_functions": 2},
    "overgeneralisation": {"rates": (0.02,)},
    "substitutivity_primitive": {"synonym_share": 0.01},
}


def problem(task: str = "task_accuracy", toolkit: str = "opennmt", **settings: Any) -> Expressions:
    made: Any = tasks.get(f"pcfg_set/{task}")(**SIZES, **OF_TASK.get(task, {}))
    return Expressions(
        made, Compositionality(**{"batch_size": 32, "epochs": 2, **settings}), SimpleNamespace(toolkit=toolkit)
    )


def read_back(one: Expressions, step: int) -> list[tuple[str, str]]:
    """The rows of a batch that count, as texts."""
    batch, vocabulary = one.batch(step), one.vocabulary
    words = [*vocabulary.symbols, "?", "$"]
    found = []
    for row in np.flatnonzero(batch.weight):
        source = " ".join(words[i] for i in batch.tokens[row][batch.mask[row]])
        found.append((source, vocabulary.texts(batch.targets[row][batch.target_mask[row]][None])[0]))
    return found


@pytest.mark.parametrize("task", [name.partition("/")[2] for name in tasks.names("pcfg_set/")])
def test_an_epoch_holds_every_item_once(task: str):
    one = problem(task)
    for epoch in (0, 1):
        steps = range(epoch * one.steps_per_epoch, (epoch + 1) * one.steps_per_epoch)
        seen = Counter(pair for step in steps for pair in read_back(one, step))
        assert seen == Counter(one.splits.train)
    assert read_back(one, 0) != read_back(one, one.steps_per_epoch)
    assert one.milestones == (one.steps_per_epoch, 2 * one.steps_per_epoch) and one.steps == one.milestones[-1]


def test_a_batch_is_a_function_of_its_number_and_fits_a_bucket():
    one, again = problem(), problem()
    for step in (7, 3, 7, one.steps_per_epoch + 1):
        batch, other = one.batch(step), again.batch(step)
        assert np.array_equal(batch.tokens, other.tokens) and np.array_equal(batch.targets, other.targets)
        assert (batch.time, batch.target_time) in one.buckets and len(batch.tokens) == 32


def test_all_tests_of_a_corpus_share_a_program():
    """Token ids and padded lengths are the same, so that what is compiled for one test trains on the others."""
    shared = {
        (problem(task).buckets, problem(task).input_size) for task in ("task_accuracy", "systematicity", "productivity")
    }
    assert len(shared) == 1


def test_marks_are_those_of_the_toolkits():
    opennmt, fairseq = problem(), problem(toolkit="fairseq")
    assert (opennmt.end, opennmt.start, opennmt.output_size) == (60, 61, 62)
    assert (fairseq.end, fairseq.start, fairseq.output_size) == (60, 60, 61)
    assert fairseq.input_size == opennmt.input_size + 1
    assert all(source.endswith(" $") for source, _ in read_back(fairseq, 0))
    batch = opennmt.batch(0)
    last = batch.target_mask.sum(1) - 1
    assert (batch.targets[np.arange(32), last] == opennmt.end).all()


def test_a_batch_has_at_most_so_many_tokens():
    one = problem(most_tokens=200)
    whole = 0
    for step in range(one.steps_per_epoch):
        batch = one.batch(step)
        rows = int(batch.weight.sum())
        whole += rows
        assert rows * max(batch.time, batch.target_time) <= 200 and len(batch.tokens) == 32
    assert whole == len(one.splits.train)


@pytest.mark.parametrize("toolkit", ["opennmt", "fairseq"])  # whose sources end with a mark
def test_long_items_can_be_left_out_of_training(toolkit: str):
    one = problem(toolkit=toolkit, longest_item=12)
    seen = Counter(
        (source.removesuffix(" $"), target)
        for step in range(one.steps_per_epoch)
        for source, target in read_back(one, step)
    )
    short = [pair for pair in one.splits.train if all(text.count(" ") < 12 for text in pair)]
    assert seen == Counter(short) and 0 < len(short) < len(one.splits.train)
    assert problem(toolkit=toolkit).buckets == one.buckets


def test_the_validation_set_is_read_once():
    one = problem()
    items = np.concatenate([items for items, _ in one.validation_batches()])
    assert sorted(items.tolist()) == list(range(len(one.splits.validation)))
    assert len({batch.tokens.shape for _, batch in one.validation_batches()}) <= len(one.buckets)


def test_vocabulary_reads_anything_and_writes_what_was_said():
    words = Vocabulary(("copy", "A", "B"), ("A", "B"), False)
    assert words.sources(["copy A ?", ""]).ids.tolist() == [0, 1, words.unknown]
    assert words.targets(["B A"]).ids.tolist() == [1, 0, words.end]
    outputs = np.array([[1, 0, words.end, words.end], [words.end, 1, 1, 1], [1, words.start, 0, 0]])
    assert words.texts(outputs) == ["B A", "", f"B {START} A A"]
