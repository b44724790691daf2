"""Beam search held to a plain one that asks for the probability of every beginning."""

import itertools
import math

import equinox as eqx
import jax
import numpy as np
import pytest

from humboldt.languages import Batch
from humboldt.models.zoo.lstm_s2s import LSTMS2S
from humboldt.training.ensemble.beam import beam_outputs
from humboldt.training.ensemble.decode import greedy_outputs, nats_of_targets
from humboldt.training.ensemble.members import stack_weights

END, START, LONGEST = 2, 3, 4
SOURCES = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]])


@pytest.fixture(scope="module")
def members():
    """Two networks with weights large enough to have opinions, and the part that they share."""
    model = LSTMS2S(embedding_size=4, hidden_size=6)
    stacked = stack_weights(lambda key: model.build(2, 4, num_symbols=2, key=key), [0, 1])
    weights, static = eqx.partition(stacked, eqx.is_array)
    return jax.tree.map(lambda x: 4 * x, weights), static


def batch_of(sources, targets=((0,),)):
    targets = np.broadcast_to(np.array(targets), (len(sources), len(targets[0])))
    ones = np.ones_like
    return Batch(sources, ones(sources, bool), targets, ones(targets, bool), np.ones(len(sources), np.float32))


def log_probability(members, source, said):
    weights, static = members
    return -nats_of_targets(weights, static, batch_of(source[None], [said]), start=START)[:, 0]


def plain_search(members, member, source, beam):
    """Hypotheses as lists; what has ended stays."""
    hypotheses = [((), 0.0)]
    for _ in range(LONGEST):
        longer = []
        for said, value in hypotheses:
            if said and said[-1] == END:
                longer.append((said, value))
            else:
                longer += [((*said, s), log_probability(members, source, [*said, s])[member]) for s in range(4)]
        hypotheses = sorted(longer, key=lambda pair: -pair[1])[:beam]
        if hypotheses[0][0][-1] == END:
            break
    return hypotheses[0][0]


def searched(members, beam):
    weights, static = members
    return beam_outputs(weights, static, batch_of(SOURCES), start=START, end=END, longest=LONGEST, beam=beam)


def greedy(members):
    weights, static = members
    return greedy_outputs(weights, static, batch_of(SOURCES), start=START, end=END, longest=LONGEST)


def filled(said):
    return [*said, *[END] * (LONGEST - len(said))]


def test_a_beam_of_one_is_greedy(members):
    np.testing.assert_array_equal(searched(members, 1), greedy(members))


@pytest.mark.parametrize("beam", [2, 3])
def test_a_beam_is_what_a_plain_search_keeps(members, beam):
    found = searched(members, beam)
    for member, row in itertools.product(range(2), range(len(SOURCES))):
        assert found[member, row].tolist() == filled(plain_search(members, member, SOURCES[row], beam))


def test_a_wide_beam_finds_the_likeliest_output(members):
    found, alone = searched(members, 4**LONGEST), greedy(members)
    better = 0
    for row, source in enumerate(SOURCES):
        complete = [s for n in range(LONGEST) for s in itertools.product((0, 1, 3), repeat=n)]
        outputs = [(*s, END) for s in complete] + list(itertools.product((0, 1, 3), repeat=LONGEST))
        values = np.array([log_probability(members, source, output) for output in outputs])
        for member in range(2):
            best = outputs[values[:, member].argmax()]
            assert math.isclose(np.exp(values[:, member]).sum(), 1, rel_tol=1e-4)  # nothing is left out
            assert found[member, row].tolist() == filled(best)
            better += filled(best) != alone[member, row].tolist()
    assert better, "greedy outputs are the likeliest everywhere: these networks test nothing"
