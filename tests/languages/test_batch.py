import numpy as np

from humboldt.languages import Pairs, frame_transduction

EMPTY, COMPUTE = 3, 4  # with three input symbols


def test_one_empty_token_for_each_output():
    batch = frame_transduction(Pairs.full(np.array([[1, 2]]), np.array([[2, 0]])), 3)
    assert batch.tokens.tolist() == [[1, 2, EMPTY, EMPTY]]
    assert batch.targets.tolist() == [[0, 0, 2, 0]]
    assert batch.target_mask.tolist() == [[False, False, True, True]]
    assert batch.mask.all()


def test_computation_tokens_stand_between():
    batch = frame_transduction(Pairs.full(np.array([[1, 2]]), np.array([[2]])), 3, computation_tokens=2)
    assert batch.tokens.tolist() == [[1, 2, COMPUTE, COMPUTE, COMPUTE, COMPUTE, EMPTY]]
    assert batch.target_mask.tolist() == [[False] * 6 + [True]]


def test_what_follows_a_terminator_is_asked_for_but_not_scored():
    batch = frame_transduction(Pairs.full(np.array([[1]]), np.array([[2, 1, 0]]), np.array([2])), 3)
    assert batch.tokens.tolist() == [[1, EMPTY, EMPTY, EMPTY]]
    assert batch.target_mask.tolist() == [[False, True, True, False]]
    assert batch.mask.all()


def test_padding_of_the_target_counts_where_that_is_asked_for():
    pairs = Pairs.full(np.array([[1], [0]]), np.array([[2, 1, 0], [1, 0, 0]]), np.array([2, 1]))
    batch = frame_transduction(pairs, 3, count_padding=True)
    assert batch.target_mask.tolist() == [[False, True, True, True]] * 2
    assert batch.targets.tolist() == [[0, 2, 1, 0], [0, 1, 0, 0]]


def test_rows_of_different_length():
    short = Pairs.full(np.array([[1]]), np.array([[2]]))
    long = Pairs.full(np.array([[2, 2, 2]]), np.array([[1]]))
    batch = frame_transduction(Pairs.concatenate([short, long]), 3)
    assert batch.tokens.tolist() == [[1, EMPTY, 0, 0], [2, 2, 2, EMPTY]]
    assert batch.mask.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.targets.tolist() == [[0, 2, 0, 0], [0, 0, 0, 1]]
    assert batch.padded(6).tokens.tolist() == [[1, EMPTY, 0, 0, 0, 0], [2, 2, 2, EMPTY, 0, 0]]


def test_autoregressive_models_are_told_their_previous_answer():
    pairs = Pairs.full(np.array([[1, 0]]), np.array([[2, 1, 0]]), np.array([2]))
    batch = frame_transduction(pairs, 3, computation_tokens=1, autoregressive=True)
    assert batch.tokens.tolist() == [[1, 0, COMPUTE, COMPUTE, EMPTY, 2, 1]]
    assert batch.targets.tolist() == [[0, 0, 0, 0, 2, 1, 0]]
    assert batch.target_mask.tolist() == [[False] * 4 + [True, True, False]]
