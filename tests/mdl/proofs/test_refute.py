"""The first mistake is that of reading every string in order, each from its beginning."""

from fractions import Fraction

import numpy as np
import pytest

from humboldt.languages.bliss import get
from humboldt.mdl.proofs.described import described
from humboldt.mdl.proofs.geometry.reals import Undecided
from humboldt.mdl.proofs.geometry.simulation import START, Simulation
from humboldt.mdl.proofs.refute import Bound, Reader

from .mutants import RIGHT, load, mutant

SIZES = {"an_bn": 8, "an_bm_cn_plus_m": 6, "dyck_1": 8}


def in_order(language: str) -> list[str]:
    """All strings up to the size, as the suite orders them."""
    task = get(language)
    if language == "an_bm_cn_plus_m":  # by n + m, then n; its test sets are squares
        return [task.spell(n, size - n) for size in range(2, 7) for n in range(1, size)]  # pyright: ignore[reportAttributeAccessIssue]
    strings = [""] if language == "dyck_1" else []
    for string in task.test_set(after=0, count=100):
        if task.size(string) > SIZES[language]:
            break
        strings.append(string)
    return strings


def first_wrong(language: str, network, measure: str, epsilon: Fraction) -> tuple[str, str] | None:
    """The first string with a wrong step, and the prefix before that step."""
    task, simulation = get(language), Simulation(network)
    for string in in_order(language):
        valid, deterministic = task.valid_mask(string), task.deterministic_mask(string)
        state = START
        for place, symbol in enumerate("#" + string):
            state, step = simulation.step(state, network.symbol_id(symbol))
            follow = frozenset(np.flatnonzero(valid[place]).tolist())
            counts = measure == "M_cat" or deterministic[place]
            if counts and not simulation.is_right(step, follow, measure, epsilon):
                return string, "#" + string[:place]
    return None


@pytest.mark.parametrize("language", SIZES)
def test_the_shortest_mistake_is_the_first_in_order(language: str):
    rng = np.random.default_rng(21)
    found = 0
    for index in range(30):
        network = mutant(load(RIGHT[language][index % len(RIGHT[language])]), rng)
        measure = "M_cat" if language == "dyck_1" or index % 2 else "M_det"
        epsilon = Fraction(("0", "0.005")[index // 2 % 2])
        try:
            wanted = first_wrong(language, network, measure, epsilon)
            mistake = Reader(network, described(language), measure, epsilon).shortest_mistake(Bound(SIZES[language]))
        except Undecided:
            continue
        assert (mistake and (mistake.string, mistake.prefix)) == wanted, network.to_json()
        found += mistake is not None
    assert found > 5
