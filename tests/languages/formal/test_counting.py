import math
import time

import numpy as np
import pytest
from languages.formal.regular_support import language_of, random_automaton

from humboldt.errors import UsageError
from humboldt.languages.formal import counting
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.counting import Counts, growth, strings_of_length, strongly_connected
from humboldt.languages.formal.minimal import minimal
from humboldt.languages.formal.regex import parse_regex


@pytest.mark.parametrize("seed", range(200))
def test_counts_are_those_of_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = random_automaton(rng, states=int(rng.integers(1, 6)), symbols=1 + seed % 3)
    longest = (8, 8, 6)[seed % 3]
    lengths = [len(string) for string in language_of(automaton, longest)]
    counts = Counts(automaton, longest)
    for length in range(longest + 1):
        assert counts.strings(length) == lengths.count(length)
    for state in range(len(counts.automaton)):
        moved = Automaton(counts.automaton.alphabet, counts.automaton.table, counts.automaton.accepting, state)
        assert counts.suffixes(3)[state] == sum(len(string) == 3 for string in language_of(moved, 3))


@pytest.mark.parametrize("seed", range(100))
def test_growth_fits_the_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = random_automaton(rng, states=4, symbols=1 + seed % 2)
    found, counts = growth(automaton), Counts(automaton, 240)
    if found.kind == "finite":
        assert found.count == len(language_of(automaton, 6)) and not any(counts.strings(n) for n in range(4, 12))
        return
    near, far = (max(counts.strings(length) for length in range(n - 12, n)) for n in (120, 240))
    if found.kind == "polynomial":
        assert found.degree is not None and near > 0
        assert np.log2(far / near) == pytest.approx(found.degree, abs=0.3)
    else:
        assert (math.log(far) - math.log(near)) / 120 == pytest.approx(math.log(found.rate), abs=0.03)


@pytest.mark.parametrize(
    ("regex", "kind", "rate", "degree", "count"),
    [
        ("a b? c?", "finite", 0, None, 4),
        ("()", "finite", 0, None, 1),
        ("( a | b ) " * 100, "finite", 0, None, 2**100),
        ("( a a )*", "polynomial", 1, 0, None),
        ("a* b* c*", "polynomial", 1, 2, None),
        ("( a b )* ( c d )* a*", "polynomial", 1, 2, None),
        ("( a | b )*", "exponential", 2, None, None),
        ("( a | b b )*", "exponential", (1 + 5**0.5) / 2, None, None),
        ("( a a | b b )*", "exponential", 2**0.5, None, None),
        ("a* ( b | c c )* d*", "exponential", (1 + 5**0.5) / 2, None, None),
    ],
)
def test_known_growths(regex: str, kind: str, rate: float, degree: int | None, count: int | None) -> None:
    found = growth(parse_regex(regex))
    assert (found.kind, found.degree, found.count) == (kind, degree, count)
    assert found.rate == pytest.approx(rate)


@pytest.mark.parametrize("seed", range(20))
def test_rates_are_eigenvalues(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((40, 2)) < 0.25, MISSING, rng.integers(0, 40, (40, 2)))
    automaton = minimal(Automaton(("a", "b"), table, rng.random(40) < 0.5))
    matrix = np.zeros((len(automaton), len(automaton)))
    sources, _, targets = automaton.edges
    np.add.at(matrix, (sources, targets), 1)
    if growth(automaton).kind == "exponential":
        assert growth(automaton).rate == pytest.approx(np.abs(np.linalg.eigvals(matrix)).max(), abs=1e-9)


def chord(states: int) -> Automaton:
    """A cycle, and a transition that leaves out two of its states."""
    table = np.full((states, 2), MISSING)
    table[:, 0] = (np.arange(states) + 1) % states
    table[0, 1] = 3
    return Automaton(("a", "b"), table, np.arange(states) == 0)


@pytest.mark.parametrize("states", [5, 100, 400])
def test_rates_of_long_loops(states: int) -> None:
    rate = growth(chord(states)).rate
    assert rate**-states + rate ** -(states - 2) == pytest.approx(1, abs=1e-8)


def test_rates_that_do_not_settle_are_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "DENSE", 50)
    found = growth(chord(100))
    assert found.kind == "exponential" and math.isnan(found.rate)


def test_counts_of_any_size_in_seconds() -> None:
    rng = np.random.default_rng(0)
    automaton = Automaton(("a", "b"), rng.integers(0, 1_250, (1_250, 2)), rng.random(1_250) < 0.5)
    begin = time.process_time()
    counts = Counts(automaton, 500)
    assert len(counts.automaton) > 900 and counts.strings(500).bit_length() > 490
    assert time.process_time() - begin < 5
    complement = Automaton(("a", "b"), automaton.table, ~automaton.accepting)
    assert counts.strings(500) + strings_of_length(complement, 500) == 2**500


def test_requests_that_cannot_be_met_are_refused() -> None:
    counts = Counts(parse_regex("( a | b )* a"))
    with pytest.raises(UsageError, match="length -1"):
        counts.strings(-1)
    with pytest.raises(UsageError, match="2 GB"):
        counts.strings(1_000_000)


@pytest.mark.parametrize("seed", range(50))
def test_components_by_mutual_reachability(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 9))
    edges = rng.random((nodes, nodes)) < 0.2
    reach = np.linalg.matrix_power(edges + np.eye(nodes), nodes) > 0
    found = strongly_connected([np.nonzero(row)[0].tolist() for row in edges])
    assert sorted(node for part in found for node in part) == list(range(nodes))
    place = {node: i for i, part in enumerate(found) for node in part}
    for one in range(nodes):
        for other in range(nodes):
            assert (place[one] == place[other]) == bool(reach[one, other] and reach[other, one])
            assert not reach[one, other] or place[one] >= place[other]
