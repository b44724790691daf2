"""Where floats are said to agree with a proof, they do; and they do not for ever."""

import pytest

from humboldt.languages.bliss import get
from humboldt.mdl.proofs import Proved, float_size, prove
from humboldt.mdl.proofs.network import Edge, Network, Unit, Weight

from .mutants import load, step_slow


def first_float_mistake(network: Network, most: int) -> int | None:
    """The first n at which a deterministic step of a^n b^n is wrong, as the suite evaluates it."""
    language = get("an_bn")
    for n in range(1, most + 1):
        values = None
        string = language.spell(n)  # pyright: ignore[reportAttributeAccessIssue]
        for place, symbol in enumerate("#" + string):
            values, chances = step_slow(network, values, network.symbol_id(symbol))
            if place > n:
                target = network.symbol_id((string + "#")[place])
                if any(chance >= chances[target] for i, chance in enumerate(chances) if i != target):
                    return n
    return None


def saturating() -> Network:
    """Right for real numbers, since tanh is below 1: b has 1, and # has tanh(n - k), and 2 more at the end."""
    one = Weight(1, 1, 1)
    units = (*[Unit()] * 6, Unit(), Unit("tanh"), Unit("step", bias=Weight(1, 1, 2)))
    minus = Weight(-1, 1, 1)
    edges = (
        Edge(2, 5, one),
        Edge(7, 3, one),
        Edge(8, 3, Weight(1, 2, 1)),
        Edge(1, 6, one),
        Edge(2, 6, minus),
        Edge(6, 6, one, recurrent=True),
        Edge(6, 7, one),
        Edge(6, 8, minus),
    )
    return Network(("#", "a", "b"), units, edges)


def certificate(network: Network, language: str, **options: object) -> dict:
    verdict = prove(network, language, **options)  # pyright: ignore[reportArgumentType]
    assert isinstance(verdict, Proved)
    return verdict.certificate


def test_a_proof_for_real_numbers_may_fail_in_floats_and_the_size_says_when():
    network = saturating()
    size = float_size(certificate(network, "an_bn"), network)
    assert first_float_mistake(network, 30) == 21  # tanh(20) is 1 in floats
    assert 10 <= size < 21


@pytest.mark.parametrize("name", ["an_bn_100_paper_seed_100", "an_bn_100_wide_seed_2"])
def test_floats_agree_as_far_as_they_are_run(name: str):
    network = load(name)
    assert float_size(certificate(network, "an_bn"), network, most=2**40) == 2**40
    assert first_float_mistake(network, 60) is None


def test_thirds_are_rounded_and_so_the_size_is_smaller():
    network = load("an_bn_cn_100_paper_seed_100")  # a bias of -1/3
    assert 10**4 < float_size(certificate(network, "an_bn_cn"), network) < 10**8


def test_an_output_of_exactly_0_stays_0_in_floats():
    network = load("dyck_1_500_paper_seed_100")
    for epsilon in (0, 0.005):
        assert float_size(certificate(network, "dyck_1", epsilon=epsilon), network, most=2**30) == 2**30
