"""What expressions mean: the paper's examples, the released data, and an interpreter written apart from ours."""

import time

import pytest
from hypothesis import given, settings
from pcfg_set_support import EXPRESSIONS, by_hand, released

from humboldt.languages.pcfg_set import (
    depth,
    interpret,
    length,
    num_functions,
    parse,
    string_arguments,
    to_paper_spelling,
    to_released_spelling,
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("repeat A B C", "A B C A B C"),  # section 4.2
        ("echo remove_first D K , E F", "E F F"),
        ("append swap F G H , repeat I J", "H G F I J I J"),
        ("reverse echo A B C", "C C B A"),  # Table 6, original targets
        ("prepend remove_first A , B , C", "C B"),
        ("echo remove_first A , B C", "B C C"),
        ("prepend reverse A B , C", "C B A"),
        ("shift A", "A"),
        ("swap A", "A"),
        ("swap A B", "B A"),
        ("A B", "A B"),
    ],
)
def test_examples(expression, expected):
    assert interpret(expression) == expected


@settings(deadline=None)
@given(EXPRESSIONS)
def test_another_interpreter_agrees(expression):
    assert interpret(expression) == by_hand(expression)


def test_all_released_pairs_in_under_a_second():
    sources = released("dev.src").read_text().splitlines()
    targets = released("dev.tgt").read_text().splitlines()
    assert len(sources) == len(targets) == 4_860
    begin = time.process_time()
    meanings = [interpret(source) for source in sources]
    assert time.process_time() - begin < 1
    assert meanings == targets


@pytest.mark.parametrize(
    ("expression", "sizes"),
    [
        ("A B", (0, 2, 0)),
        ("copy A B", (1, 3, 1)),
        ("append A B , C D", (1, 6, 1)),
        ("append swap F G H , repeat I J", (2, 9, 3)),
        ("repeat append_syn copy A , swap_first_last echo B", (4, 8, 5)),
    ],
)
def test_depth_length_and_number_of_functions(expression, sizes):
    assert (depth(expression), length(expression), num_functions(expression)) == sizes
    tree = parse(expression)
    assert (depth(tree), length(tree), num_functions(tree)) == sizes


def test_string_arguments():
    assert string_arguments("append swap F G H , repeat I J") == ["F G H", "I J"]


@settings(deadline=None)
@given(EXPRESSIONS)
def test_both_spellings_mean_the_same(expression):
    paper, of_release = to_paper_spelling(expression), to_released_spelling(expression)
    assert interpret(paper) == interpret(of_release) == interpret(expression)
    assert to_paper_spelling(of_release) == paper and to_released_spelling(paper) == of_release
    assert "_twin" not in paper and "swap_first_last" not in paper
    assert "_syn" not in of_release and "swap " not in of_release
