from itertools import product

import numpy as np
import pytest
from chomsky_support import assert_frequency, drawn, make, oracle
from hypothesis import given
from hypothesis import strategies as st

from humboldt.errors import UsageError
from humboldt.languages.chomsky.stack_manipulation import final_stacks

TASK = make("stack_manipulation")
ACTIONS = ("POP", "PUSH_a", "PUSH_b")


def every_input(length: int, sizes: range) -> list[list[str]]:
    """All inputs whose given stack has one of the `sizes`."""
    return [
        [*stack, *actions]
        for size in sizes
        for stack in product("ab", repeat=size)
        for actions in product(ACTIONS, repeat=length - size)
    ]


@pytest.mark.parametrize("length", range(1, 8))
def test_fast_form_equals_oracle_on_all_short_inputs(length: int):
    sources = every_input(length, range(length + 1))
    targets, lengths = final_stacks(np.array([TASK.input_alphabet.encode(source) for source in sources]))
    for source, target, size in zip(sources, targets, lengths, strict=True):
        assert TASK.output_alphabet.decode(target[:size]) == TASK.oracle(source)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_sampler_draws_every_short_input(length: int):
    expected = every_input(length, range(1, max(length, 2)))
    assert {source for source, _ in drawn(TASK, 20_000, length)} == {" ".join(source) for source in expected}


def test_all_numbers_of_actions_are_equally_likely():
    pairs = drawn(TASK, 10_000, 6)
    for actions in range(1, 6):
        hits = sum(sum(symbol in ACTIONS for symbol in source.split(" ")) == actions for source, _ in pairs)
        assert_frequency(hits, 10_000, 1 / 5)


@given(st.text("ab"), st.lists(st.sampled_from(ACTIONS)))
def test_push_then_pop_changes_nothing(stack: str, actions: list[str]):
    before = TASK.oracle([*stack, *actions])
    for letter in "ab":
        pushed = TASK.oracle([*stack, *actions, f"PUSH_{letter}"])
        assert pushed == [letter, *before]
        assert TASK.oracle([*stack, *actions, f"PUSH_{letter}", "POP"]) == before


def test_stack_after_actions():
    with pytest.raises(UsageError, match="'a' at position 2 follows an action"):
        oracle(TASK, "b POP a")
