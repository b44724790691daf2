import math
import time
from collections import Counter

import numpy as np
import pytest
from languages.formal.regular_support import (
    language_of,
    probabilities_of,
    random_automaton,
    with_random_weights,
)
from scipy.stats import chisquare

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.automaton_file import parse_automaton
from humboldt.languages.formal.minimal import trimmed
from humboldt.languages.formal.regex import parse_regex
from humboldt.languages.formal.sampling import UniformSampler, WeightedSampler, uniform_integers


def strings(automaton: Automaton, columns: np.ndarray) -> list[tuple[str, ...]]:
    return [automaton.decode(row) for row in columns]


@pytest.mark.parametrize("seed", range(100))
def test_ranks_number_the_strings_of_a_length(seed: int) -> None:
    automaton = random_automaton(np.random.default_rng(seed), states=4, symbols=2 + seed % 2)
    sampler = UniformSampler(automaton)
    for length in range(6):
        expected = sorted(string for string in language_of(automaton, length) if len(string) == length)
        ranked = [sampler.automaton.decode(sampler.string(rank, length)) for rank in range(len(expected))]
        assert ranked == expected
    with pytest.raises(UsageError, match="rank"):
        sampler.string(-1, 0)


@pytest.mark.parametrize(
    ("regex", "length"),
    [("( a b | b a )* c?", 9), ("( a | b )* a b ( a | b )*", 6), ("a* b* c*", 7), ("( a | b b | c c c )*", 7)],
)
def test_draws_are_uniform(regex: str, length: int) -> None:
    sampler = UniformSampler(parse_regex(regex))
    drawn = Counter(strings(sampler.automaton, sampler.draw(np.random.default_rng(7), count=4_000, length=length)))
    every = [string for string in language_of(sampler.automaton, length) if len(string) == length]
    assert set(drawn) <= set(every)
    assert chisquare([drawn[string] for string in every]).pvalue > 0.01


@pytest.mark.parametrize("below", [1, 2, 3, 5, 257, 1_000])
def test_integers_are_uniform(below: int) -> None:
    # Twenty generators, since small draws from one of them share their chance with each other.
    drawn = [n for seed in range(20) for n in uniform_integers(np.random.default_rng(seed), below, 1_000)]
    assert min(drawn) >= 0 and max(drawn) < below
    assert below == 1 or chisquare(np.bincount(drawn, minlength=below)).pvalue > 0.01


class EveryByte(np.random.Generator):
    """Gives every byte once, the largest first."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))
        self.rest = bytes(reversed(range(256)))

    def bytes(self, length: int) -> bytes:
        drawn, self.rest = self.rest[:length], self.rest[length:]
        assert len(drawn) == length
        return drawn


@pytest.mark.parametrize("below", [2, 3, 5, 7, 100, 129, 255, 256])
def test_equally_many_draws_of_the_generator_give_each_integer(below: int) -> None:
    share = 2 ** (8 - (below - 1).bit_length())  # how many bytes lead to each integer
    drawn = uniform_integers(EveryByte(), below, share * below)
    assert np.bincount(drawn, minlength=below).tolist() == [share] * below


def test_large_integers_fill_their_range() -> None:
    below = 3 * 2**300 + 1
    drawn = uniform_integers(np.random.default_rng(0), below, 3_000)
    assert max(drawn) < below
    assert chisquare(np.bincount([number * 10 // below for number in drawn], minlength=10)).pvalue > 0.01


def test_draws_depend_on_the_generator_alone() -> None:
    sampler, other = UniformSampler(parse_regex("( a | b )* c")), UniformSampler(parse_regex("( b | a )* c"))
    one = sampler.draw(np.random.default_rng(5), count=20, length=30)
    other.draw(np.random.default_rng(1), count=3, length=50)
    assert np.array_equal(one, other.draw(np.random.default_rng(5), count=20, length=30))
    assert sampler.draw(np.random.default_rng(0), count=0, length=3).shape == (0, 3)
    assert sampler.draw(np.random.default_rng(0), count=2, length=1).tolist() == [[2], [2]]


def test_long_strings_are_drawn_quickly() -> None:
    rng = np.random.default_rng(0)
    automaton = Automaton(("a", "b", "c"), rng.integers(0, 300, (300, 3)), rng.random(300) < 0.5)
    sampler, weighted = UniformSampler(automaton), WeightedSampler(automaton)
    begin = time.process_time()
    drawn = sampler.draw(rng, count=1_000, length=500)
    assert sampler.automaton.accepting[sampler.automaton.trace(drawn)[:, -1]].all()
    drawn = weighted.draw_of_length(rng, count=1_000, length=500)
    assert weighted.automaton.accepting[weighted.automaton.trace(drawn)[:, -1]].all()
    assert time.process_time() - begin < 5


WEIGHTED = "start s\naccept s [0.2] t\ns a s [0.3]\ns b t\nt a s [1/6]\nt b t\nt c u\nu c t"


def test_weighted_draws_of_a_length() -> None:
    automaton = parse_automaton(WEIGHTED)
    sampler = WeightedSampler(automaton)
    drawn = Counter(
        strings(sampler.automaton, sampler.draw_of_length(np.random.default_rng(2), count=20_000, length=4))
    )
    exact = {string: p for string, p in probabilities_of(automaton, 4).items() if len(string) == 4}
    assert set(drawn) <= set(exact)
    expected = np.array(list(exact.values())) / sum(exact.values()) * 20_000
    assert chisquare([drawn[string] for string in exact], expected).pvalue > 0.01


def test_weighted_draws_of_any_length() -> None:
    automaton = parse_automaton(WEIGHTED)
    sampler = WeightedSampler(automaton)
    columns, lengths = sampler.draw(np.random.default_rng(4), count=20_000)
    drawn = Counter(strings(sampler.automaton, columns))
    assert [len(string) for string in strings(sampler.automaton, columns)] == lengths.tolist()
    exact = {string: p for string, p in probabilities_of(automaton, 12).items() if p > 5e-4}
    observed = [drawn.pop(string, 0) for string in exact]
    expected = [20_000 * p for p in exact.values()]
    rest = sum(drawn.values())
    assert chisquare([*observed, rest], [*expected, 20_000 - sum(expected)]).pvalue > 0.01


@pytest.mark.parametrize("seed", range(40))
def test_probabilities_of_lengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = trimmed(random_automaton(rng, states=4, symbols=2))
    if automaton.is_empty:
        return
    weighted = with_random_weights(automaton, rng)
    sampler = WeightedSampler(weighted)
    exact = np.zeros(8)
    for string, p in probabilities_of(weighted, 7).items():
        exact[len(string)] += p
    assert np.exp([sampler.log_probability_of_length(n) for n in range(8)]) == pytest.approx(exact)


def test_probabilities_too_small_for_a_float_are_kept() -> None:
    sampler = WeightedSampler(
        parse_automaton("start s\naccept s\ns a s [0.1]\ns b t [0.0001]\nt b t [0.001]\naccept t")
    )
    assert sampler.log_probability_of_length(500) == pytest.approx(
        math.log(0.8999) + 500 * math.log(0.1) + math.log1p(0.0001 * 0.999 / 0.8999 / 0.099), abs=1e-6
    )
    assert sampler.draw_of_length(np.random.default_rng(0), count=3, length=500).shape == (3, 500)


def test_requests_that_cannot_be_met_are_refused() -> None:
    pairs = parse_regex("( a b )*")
    with pytest.raises(UsageError, match="no string of length 3"):
        UniformSampler(pairs).draw(np.random.default_rng(0), count=1, length=3)
    with pytest.raises(UsageError, match="no string of length 3"):
        WeightedSampler(pairs).draw_of_length(np.random.default_rng(0), count=1, length=3)
    with pytest.raises(UsageError, match="length -2"):
        WeightedSampler(pairs).draw_of_length(np.random.default_rng(0), count=1, length=-2)
    with pytest.raises(UsageError, match="after 10 symbols"):
        endless = parse_automaton("start s\naccept s [0.0001]\ns a s")
        WeightedSampler(endless).draw(np.random.default_rng(0), count=5, longest=10)
    empty = Automaton(("a",), np.array([[0]]), np.array([False]))
    with pytest.raises(UsageError, match="empty"):
        WeightedSampler(empty)
    with pytest.raises(UsageError, match="no string"):
        UniformSampler(empty).draw(np.random.default_rng(0), count=1, length=0)
