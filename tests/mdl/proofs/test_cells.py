"""What cells say is what exact simulation sees, at every place of short strings."""

import numpy as np
import pytest

from humboldt.mdl.proofs import Proved, prove
from humboldt.mdl.proofs.cells import TooManyCells
from humboldt.mdl.proofs.described import described
from humboldt.mdl.proofs.geometry.blocks import BlockProver
from humboldt.mdl.proofs.geometry.reals import Undecided
from humboldt.mdl.proofs.geometry.simulation import START, Simulation
from humboldt.mdl.proofs.geometry.walk import BlockWalk

from .mutants import RIGHT, load, mutant


def at(form, point):
    return form[0] + sum(x * y for x, y in zip(form[2:], point, strict=True))


@pytest.mark.parametrize("language", ["an_bn", "an_bn_cn", "an_bm_cn_plus_m"])
def test_values_lie_between_the_bounds_of_the_cells_that_hold_the_point(language: str):
    rng = np.random.default_rng(5)
    strings, examined = described(language), 0
    for index in range(6):
        network = mutant(load(RIGHT[language][index % len(RIGHT[language])]), rng)
        try:
            walk = BlockWalk(strings.free, strings.needs)
            cells = BlockProver(network, walk).find()
            simulation = Simulation(network)
            for free in [(1,), (2,), (5,)] if strings.free == 1 else [(1, 1), (2, 1), (1, 3)]:
                for place, point, state in prefixes(simulation, strings, free):
                    inside = [
                        cell
                        for cell in cells
                        if cell.place == place
                        and all(
                            row[0] + sum(x * y for x, y in zip(row[1:], point, strict=True)) >= 0 for row in cell.rows
                        )
                    ]
                    assert inside, (network.to_json(), place, point)
                    for cell in inside:
                        for unit, value in cell.state.items():
                            low, high = simulation.reals.bounds(simulation.states[state][unit])
                            assert value.low is None or at(value.low, point) <= high, network.to_json()
                            assert value.high is None or at(value.high, point) >= low, network.to_json()
                            examined += 1
        except (Undecided, TooManyCells):
            continue
    assert examined > 100


def prefixes(simulation, strings, free):
    """The place, the variables and the state after each prefix of a string."""
    runs = [*free, *(sum(x * y for x, y in zip(row, free, strict=True)) for row in strings.needs)]
    state, _ = simulation.step(START, 0)
    yield 0, (0,) * (len(free) + 1), state
    for block, run in enumerate(runs, 1):
        for k in range(1, run + 1):
            state, _ = simulation.step(state, block)
            known = tuple(length if i < block - 1 else 0 for i, length in enumerate(free))
            yield block, (*known, k), state


def test_a_worked_example():
    """docs/proofs.md explains this certificate."""
    verdict = prove(load("an_bn_100_paper_seed_102"), "an_bn")
    assert isinstance(verdict, Proved)
    assert [(cell["place"], cell["values"]) for cell in verdict.certificate["cells"]] == [
        (0, {"6": [["0", "0", "0"]] * 2}),
        (1, {"6": [["0", "0", "1"]] * 2}),
        (2, {"6": [["0", "1", "-1"]] * 2}),
    ]
