"""The strings of a pseudo-language as a learner reads them."""

import numpy as np

from humboldt.languages import tasks
from humboldt.suites.syntax.problem import Classification, test_batches
from humboldt.suites.syntax.protocol import PseudoLanguages

test_batches.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]  it is no test
SIZES = {"terminals": (2,), "train": 32, "validation": 8, "test": 12, "long": 10, "epochs": 2, "batch_size": 24}


def problem(task: str = "adj_n_np", **settings) -> Classification:
    protocol = PseudoLanguages(**{**SIZES, **settings})
    (terminals,) = protocol.terminals
    language = tasks.get(f"syntax/{task}")(terminals=terminals)  # pyright: ignore[reportCallIssue]
    return Classification(task, language, protocol)  # pyright: ignore[reportArgumentType]


def test_an_epoch_holds_every_string_once():
    ours = problem()
    train = ours.split("train")
    assert ours.protocol.steps == 2 * 3  # 64 strings are two batches of 24 and one of 16
    epochs = []
    for epoch in range(2):
        batches = [ours.batch(3 * epoch + i) for i in range(3)]
        assert [len(batch.tokens) for batch in batches] == [24, 24, 24]
        assert [int(batch.weight.sum()) for batch in batches] == [24, 24, 16]
        epochs.append([row.tobytes() for batch in batches for row in batch.tokens[batch.weight > 0]])
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(row.tobytes() for row in train.tokens)
    assert epochs[0] != epochs[1]
    np.testing.assert_array_equal(problem().batch(4).tokens, ours.batch(4).tokens)  # a function of the step alone


def test_the_label_stands_at_the_last_real_symbol():
    split = problem().split("long")
    ((count, batch),) = test_batches(split)
    assert count == 20 and len(batch.tokens) == 250
    for row in range(count):
        assert np.flatnonzero(batch.target_mask[row]).tolist() == [split.lengths[row] - 1]
        assert batch.mask[row].sum() == split.lengths[row]
        assert batch.targets[row, split.lengths[row] - 1] == split.labels[row]


def test_what_is_trained_on_does_not_depend_on_what_is_tested_on():
    """So that a larger test is another evaluation, and not another training."""
    ours, theirs = problem(), problem(validation=50, test=60, long=5, long_lengths=(31, 40))
    np.testing.assert_array_equal(ours.split("train").tokens, theirs.split("train").tokens)


def test_the_training_set_is_the_whole_split():
    ours = problem()
    assert len(ours.training_set().tokens) == 64 and ours.training_set().weight.sum() == 64


def test_shortcuts_are_what_classifiers_without_structure_reach():
    found = problem("nested_dependency", terminals=(3,)).shortcuts()
    assert set(found) == {"in_dist", "out_of_dist"} and found["in_dist"]["length"] == 0.5
    assert all(0 <= value <= 1 for audit in found.values() for value in audit.values())
