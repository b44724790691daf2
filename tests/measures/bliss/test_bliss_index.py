"""The B-index, and the models whose index is known beforehand."""

import pytest

from humboldt.errors import UsageError
from humboldt.languages.bliss import NAMES, Measure, get
from humboldt.measures.bliss import BIndex, Oracle, Persistent, Scope, Sizes, Uniform, b_index, evaluate, sizes

FACTORS = (1, 2, 4, 10)
MARGINS = (0.005, 0.0)


def indices(name, model, *, order=3, factors=FACTORS):
    """The index of a model that needs no training, at each margin and scope: `{(epsilon, scope): "10"}`."""
    language = get(name)
    met = {(epsilon, scope): {} for epsilon in MARGINS for scope in Scope}
    for factor in factors:
        size = sizes(factor, order)
        test_set = language.test_set(after=language.corpus(size.train, 100), count=size.test)
        found = evaluate(test_set, model(language))
        for epsilon, scope in met:
            met[epsilon, scope][factor] = found.score(language.measure, epsilon).met(scope)
    return {key: str(b_index(value)) for key, value in met.items()}


def uniform(language):
    return Uniform(len(language.input_alphabet))


def always_b(language):
    return Persistent(len(language.input_alphabet), language.input_alphabet.symbols.index("b"))


@pytest.mark.parametrize(
    "name, order",
    [("an_bn", 2), ("an_bn_cn", 2), ("an_bn_cn_dn", 2), ("an_bm_cn_plus_m", 2), ("dyck_1", 3), ("dyck_2", 3)],
)
def test_the_language_itself_gets_10(name, order):
    """Of a lower order where the paper's has more than 10^7 symbols; see the slow test below."""
    assert set(indices(name, Oracle, order=order).values()) == {"10"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["an_bn", "an_bn_cn", "an_bn_cn_dn", "an_bm_cn_plus_m"])
def test_the_language_itself_gets_10_at_full_size(name):
    assert set(indices(name, Oracle).values()) == {"10"}


@pytest.mark.parametrize("name", NAMES)
def test_knowing_nothing_is_below_1(name):
    assert set(indices(name, uniform).values()) == {"<1"}


def test_the_papers_warning():
    """Section 3.5: a model that always says `b` passes where errors are spread over the test set, and only there."""
    found = indices("an_bn", always_b, factors=(1, 10))
    assert found[0.005, Scope.TEST_SET] == "10"
    assert found[0.005, Scope.STRING] == "<1"
    assert found[0.0, Scope.TEST_SET] == "<1"
    assert found[0.0, Scope.STRING] == "<1"


def test_the_papers_measure_for_each_language():
    measures = [get(name).measure for name in NAMES]
    assert measures == [Measure.DETERMINISTIC] * 4 + [Measure.CATEGORICAL] * 2


def test_sizes():
    assert [sizes(b) for b in FACTORS] == [Sizes(1000, 1000), Sizes(500, 2000), Sizes(250, 4000), Sizes(100, 10_000)]
    assert sizes(3, 2) == Sizes(33, 300)
    for factor, order in ((0, 3), (1001, 3), (1, -1)):
        with pytest.raises(UsageError, match="leaves no training string"):
            sizes(factor, order)


def test_the_index_is_the_largest_factor_met():
    assert b_index({1: True, 2: True, 4: False, 10: False}) == BIndex(2, 1)
    assert str(b_index({10: True, 1: True})) == "10"
    assert str(b_index({1: False, 2: True})) == "2"  # equation (1) takes the maximum, whatever lies below
    assert b_index({1: False}).is_below
    assert str(b_index({1: False, 2: False})) == "<1"
    assert str(b_index({2: False, 4: False})) == "<2"
    with pytest.raises(UsageError, match="No factor was tried"):
        b_index({})
