"""Strings of the Chomsky tasks as a learner reads them."""

import numpy as np
import pytest
from chomsky_support import make

from humboldt.suites.chomsky.problem import TEST_ROWS, Transduction
from humboldt.suites.chomsky.protocol import LengthGeneralisation


def problem(task: str, **settings) -> Transduction:
    return Transduction(make(task), LengthGeneralisation(**settings))


def test_training_batches_have_one_length_in_the_training_range():
    parity = problem("parity_check", batch_size=4)
    times = [parity.batch(step).time for step in range(400)]
    assert min(times) == 2 and max(times) == 41 == parity.longest  # 1..40 symbols and one ∅
    assert all(parity.batch(step).mask.all() for step in range(20))


def test_a_length_that_is_too_short_for_a_task_is_never_drawn():
    addition = problem("binary_addition", batch_size=2, train_lengths=(1, 4), test_lengths=(5, 6))
    lengths = {int(addition.batch(step).mask[0].sum()) for step in range(50)}
    assert addition.lengths == (3, 4) and len(lengths) == 2


def test_a_batch_is_a_function_of_the_step_and_the_seed():
    first, again, other = (problem("reverse_string", batch_size=4, data_seed=seed) for seed in (0, 0, 1))
    assert first.batch(5).tokens.tobytes() == again.batch(5).tokens.tobytes() != first.batch(6).tokens.tobytes()
    assert [other.batch(i).time for i in range(9)] != [first.batch(i).time for i in range(9)]


def test_test_batches_cover_each_length_once():
    chosen = LengthGeneralisation(strings_per_length=100, num_test_lengths=24)
    counts: dict[int, int] = {}
    for lengths, symbols, batch in Transduction(make("modular_arithmetic_simple"), chosen).test_batches():
        assert len(lengths) == len(symbols) == len(batch.tokens) and len(lengths) % TEST_ROWS == 0
        np.testing.assert_array_equal(batch.target_mask.sum(1), symbols)
        for length in lengths[lengths > 0].tolist():
            counts[length] = counts.get(length, 0) + 1
    assert list(counts) == chosen.scored_lengths()
    assert set(counts.values()) == {100}


def test_test_strings_do_not_depend_on_which_other_lengths_are_scored():
    few, many = (
        problem("reverse_string", strings_per_length=2, test_lengths=(41, 50), num_test_lengths=n) for n in (2, 10)
    )
    wanted, found = dict(few.test_pairs()), dict(many.test_pairs())
    assert set(wanted) == {41, 50}
    for length, pairs in wanted.items():
        np.testing.assert_array_equal(pairs.inputs, found[length].inputs)


@pytest.mark.parametrize("counts", [False, True])
def test_the_loss_can_count_the_padding_of_targets_but_tests_never_do(counts: bool):
    stacks = problem(
        "stack_manipulation", batch_size=8, train_lengths=(5, 6), test_lengths=(7, 7), train_padding=counts
    )
    batch = stacks.batch(0)
    answers = batch.tokens == stacks.num_symbols
    assert (batch.target_mask.sum() == answers.sum()) is np.bool_(counts)
    *_, tested = next(stacks.test_batches())
    assert not (tested.target_mask == (tested.tokens == stacks.num_symbols)).all()


def test_ids_of_a_model_that_hears_its_answers():
    plain, told = (problem("cycle_navigation", autoregressive=is_told) for is_told in (False, True))
    assert (plain.num_symbols, plain.input_size, plain.answers_from) == (3, 4, None)
    assert (told.num_symbols, told.input_size, told.answers_from) == (5, 6, 5)  # five places on the cycle
    assert problem("cycle_navigation", computation_tokens=1).input_size == 5


def test_dropout_in_tests_has_the_seed_of_the_test_or_is_off():
    assert problem("parity_check").test_dropout_seed is None
    assert problem("parity_check", test_dropout=True, test_seed=7).test_dropout_seed == 7
