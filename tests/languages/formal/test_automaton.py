import numpy as np
import pytest
from languages.formal.regular_support import all_strings, language_of, random_automaton

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton

PARITY = Automaton(("0", "1"), np.array([[0, 1], [1, 0]]), np.array([True, False]), names=("even", "odd"))


@pytest.mark.parametrize("seed", range(20))
def test_traces_follow_the_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = random_automaton(rng, states=4, symbols=3)
    columns = rng.integers(-1, 3, (30, 6))
    for row, states in zip(columns, automaton.trace(columns), strict=True):
        for step in range(7):
            broken = (row[:step] < 0).any()
            assert states[step] == (MISSING if broken else automaton.run(automaton.decode(row[:step])))


def test_symbols_outside_the_alphabet_reject() -> None:
    assert PARITY.run(["1", "2"]) == MISSING and not PARITY.accepts(["2"])
    assert PARITY.encode(["1", "2", "0"]).tolist() == [1, MISSING, 0]
    assert PARITY.decode([1, 0, MISSING]) == ("1", "0")


@pytest.mark.parametrize("seed", range(40))
def test_reachable_and_live_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = random_automaton(rng, states=4, symbols=2)
    for state in range(4):
        moved = Automaton(automaton.alphabet, automaton.table, automaton.accepting, state)
        assert automaton.live[state] == bool(language_of(moved, 4)) == (not moved.is_empty)
    reached = {automaton.run(string) for string in all_strings(automaton.alphabet, 4)} - {MISSING}
    assert set(np.nonzero(automaton.reachable)[0]) == reached


def test_arrays_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        PARITY.table[0, 0] = 1


def test_tables_that_do_not_fit_are_refused() -> None:
    table, accepting = np.array([[0, 1], [1, 0]]), np.array([True, False])
    with pytest.raises(ValueError, match="sorted"):
        Automaton(("b", "a"), table, accepting)
    with pytest.raises(ValueError, match="shape"):
        Automaton(("a",), table, accepting)
    with pytest.raises(ValueError, match="outside"):
        Automaton(("a", "b"), table + 1, accepting)
    with pytest.raises(ValueError, match="Start"):
        Automaton(("a", "b"), table, accepting, start=2)
    with pytest.raises(ValueError, match="both"):
        Automaton(("a", "b"), table, accepting, moves=table * 0.5)
    halves, stops = np.full((2, 2), 0.5), np.array([0.0, 0.0])
    with pytest.raises(ValueError, match="distribution"):
        Automaton(("a", "b"), table, accepting, moves=halves, stops=stops)
    with pytest.raises(ValueError, match="cannot reach"):
        Automaton(("a",), np.array([[1], [1]]), accepting, moves=np.array([[0.5], [1.0]]), stops=np.array([0.5, 0.0]))
    with pytest.raises(UsageError, match="10,000"):
        Automaton(("a",), np.zeros((10_001, 1)), np.zeros(10_001))
    with pytest.raises(UsageError, match="1,000,000"):
        Automaton(tuple(sorted(map(str, range(1_001)))), np.zeros((1_000, 1_001)), np.zeros(1_000))
