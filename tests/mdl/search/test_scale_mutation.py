from fractions import Fraction

import numpy as np

from humboldt.mdl.corpus_bits import step_slow
from humboldt.mdl.machine_words import TERM_MASK, pack, unpack
from humboldt.mdl.network import Edge, Network, Unit, Weight
from humboldt.mdl.search.random_numbers import seed_states
from humboldt.mdl.search.scale_mutation import scale_unit

AB = ("#", "a", "b")
W = Weight.parse
COUNTER = Network(
    AB,
    (*[Unit()] * 6, Unit("linear", bias=W("-1/2"))),
    (Edge(1, 6, W("3/2")), Edge(6, 6, W("1"), recurrent=True), Edge(6, 4, W("2/3"))),
)


def scaled(network: Network, seed: int) -> Network | None:
    units, edges = pack(network)
    sizes = np.array([len(units), len(edges)])
    done = scale_unit(seed_states(seed, 1)[0], units, edges, sizes, 3)
    after = unpack(units, edges, AB)
    assert done == (after != network)
    return after if done else None


def value(weight: Weight | None) -> Fraction:
    assert weight is not None
    return Fraction(weight.sign * weight.numerator, weight.denominator)


def test_all_that_flows_into_a_unit_is_multiplied_by_the_same_except_from_itself():
    factors, compensated = set(), 0
    for seed in range(100):
        after = scaled(COUNTER, seed)
        if after is None or after.units == COUNTER.units:  # an output was scaled: it has one edge, or none
            continue
        factor = value(after.units[6].bias) / Fraction(-1, 2)
        factors.add(factor)
        out, into, loop = (edge.weight for edge in after.edges)  # in the order of their targets
        assert value(into) == factor * Fraction(3, 2)
        assert loop == W("1")
        assert value(out) in (Fraction(2, 3), Fraction(2, 3) / factor)
        if value(out) != Fraction(2, 3):
            compensated += 1
            for symbols in ([0, 1, 1, 2], [0, 2, 1]):
                before_state = after_state = None
                for symbol in symbols:
                    before_state, _ = step_slow(COUNTER, before_state, symbol)
                    after_state, _ = step_slow(after, after_state, symbol)
                    assert np.isclose(before_state[4], after_state[4], atol=1e-12)
    assert factors == {Fraction(2), Fraction(3), Fraction(1, 2), Fraction(1, 3)}
    assert compensated > 5


def test_a_unit_that_nothing_flows_into_and_weights_without_room_stay_as_they_are():
    assert all(scaled(Network(AB, (Unit(),) * 6, ()), seed) is None for seed in range(10))
    full = Network(AB, (Unit(),) * 6, (Edge(1, 4, Weight(1, TERM_MASK, TERM_MASK - 1)),))
    assert all(scaled(full, seed) is None for seed in range(40))
