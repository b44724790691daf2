"""The four regular tasks: golden strings that no machine may change, exhaustive short inputs, properties."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humboldt.languages import tasks
from humboldt.languages.chomsky.cycle_navigation import CycleNavigation
from humboldt.languages.chomsky.even_pairs import EvenPairs
from humboldt.languages.chomsky.modular_arithmetic_simple import ModularArithmeticSimple, evaluate
from humboldt.languages.chomsky.parity_check import ParityCheck

BINARY = st.lists(st.sampled_from("ab"), min_size=1, max_size=60)

GOLDEN = {
    "even_pairs": ["bbbaaaaa a", "abbbbbbb a"],
    "parity_check": ["bbbaaaaa a", "abbbbbbb a"],
    "cycle_navigation": ["21100000 1", "02121122 4"],
    "modular_arithmetic_simple": ["4-3*2-1-1 1", "0*0*0-0-4 1"],
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_strings(name: str):
    task = tasks.get(f"chomsky/{name}")()
    pairs = task.sample(np.random.default_rng(0), 2, 8)  # pyright: ignore[reportAttributeAccessIssue]
    found = [f"{''.join(s)} {''.join(t)}" for s, t in pairs.symbols(task.input_alphabet, task.output_alphabet)]
    assert found == GOLDEN[name]


@given(BINARY)
def test_even_pairs_compares_the_ends(symbols: list[str]):
    assert EvenPairs().oracle(symbols) == ["b" if symbols[0] == symbols[-1] else "a"]


@given(BINARY)
def test_parity_counts(symbols: list[str]):
    assert ParityCheck().oracle(symbols) == ["b" if symbols.count("b") % 2 == 0 else "a"]


@given(st.lists(st.sampled_from("012"), min_size=1, max_size=60))
def test_a_walk_is_a_sum(moves: list[str]):
    assert CycleNavigation().oracle(moves) == [str((moves.count("1") - moves.count("2")) % 5)]


@pytest.mark.parametrize("length", [1, 3, 5])
def test_arithmetic_exhaustively(length: int):
    task = ModularArithmeticSimple()
    parts = ["01234" if i % 2 == 0 else "+-*" for i in range(length)]
    inputs = list(itertools.product(*parts))
    values = evaluate(np.stack([task.input_alphabet.encode(symbols) for symbols in inputs]))
    assert [str(value) for value in values] == [task.oracle(symbols)[0] for symbols in inputs]


def test_an_even_length_becomes_the_next_odd_one():
    sample = ModularArithmeticSimple().sample(np.random.default_rng(0), 3, 40)
    assert sample.inputs.shape == (3, 41) and (sample.input_lengths == 41).all()
