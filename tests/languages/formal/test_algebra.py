import numpy as np
import pytest
from languages.formal.regular_support import group_automaton, random_automaton

from humboldt.languages.formal.algebra import Monoid, classify, syntactic_monoid
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.minimal import minimal
from humboldt.languages.formal.regex import parse_regex

S3 = {"a": [1, 0, 2], "b": [1, 2, 0]}
A5 = {"a": [1, 2, 0, 3, 4], "b": [0, 1, 3, 4, 2]}
S5 = {"a": [1, 0, 2, 3, 4], "b": [1, 2, 3, 4, 0]}


def product_table(monoid: Monoid) -> np.ndarray:
    """Shape `(elements, elements)`: first the row's element, then the column's."""
    numbers = {row.tobytes(): i for i, row in enumerate(monoid.elements)}
    return np.array([[numbers[b[a].tobytes()] for b in monoid.elements] for a in monoid.elements])


@pytest.mark.parametrize("seed", range(150))
def test_classes_by_their_definitions(seed: int) -> None:
    automaton = random_automaton(np.random.default_rng(seed), states=3, symbols=2)
    monoid = syntactic_monoid(automaton)
    assert monoid is not None
    size = len(monoid)
    table = product_table(monoid)  # fails if the maps are not closed under composition
    generators = [table[0, monoid.right[0, symbol]] for symbol in range(2)]
    for symbol, generator in enumerate(generators):
        assert (monoid.right[:, symbol] == table[:, generator]).all()
        assert (monoid.left[:, symbol] == table[generator, :]).all()
    power = np.arange(size)
    for _ in range(size):
        power = table[power, np.arange(size)]
    assert monoid.is_aperiodic() == bool((table[power, np.arange(size)] == power).all())
    ideals = {frozenset(row.tolist()) for row in table}
    assert monoid.is_r_trivial() == (len(ideals) == size) == classify(automaton).r_trivial
    assert monoid.is_group() == bool((np.sort(table) == np.arange(size)).all()) == classify(automaton).pure_group
    orders = set()
    for e in range(size):
        if table[e, e] == e:
            local = [x for x in range(size) if table[e, x] == x == table[x, e]]
            orders.add(sum(any(table[x, y] == e == table[y, x] for y in local) for x in local))
    found = monoid.groups()
    assert {group.order for group in found} | {1} == orders | {1}
    assert all(group.solvable for group in found)  # a group that is not has at least 60 elements
    assert (not found) == monoid.is_aperiodic()


@pytest.mark.parametrize(
    ("regex", "star_free", "r_trivial", "groups", "pure"),
    [
        ("( a a )*", False, False, ["Z2"], True),
        ("( a b )*", True, False, [], False),
        ("a* b", True, True, [], False),
        ("( a | b )* a", True, False, [], False),
        ("( a | b )* a b ( a | b )*", True, True, [], False),
        ("a ( a | b )*", True, True, [], False),
        ("( a | b )*", True, True, [], True),
        ("a b | c", True, True, [], False),
        ("( a a a )*", False, False, ["Z3"], True),
        ("( b* a b* a )* b*", False, False, ["Z2"], True),
        ("( a b a b )*", False, False, ["Z2"], False),
        ("( a a )* c ( b b b )*", False, False, ["Z3", "Z2"], False),
    ],
)
def test_known_languages(regex: str, star_free: bool, r_trivial: bool, groups: list[str], pure: bool) -> None:
    found = classify(parse_regex(regex))
    assert (found.star_free, found.r_trivial, found.pure_group) == (star_free, r_trivial, pure)
    assert [str(group) for group in found.groups or ()] == groups and found.solvable is True


@pytest.mark.parametrize(
    ("generators", "name", "solvable"),
    [
        ({"a": [1, 0]}, "Z2", True),
        (S3, "S3", True),
        ({"a": [1, 0, 2, 3], "b": [0, 1, 3, 2]}, "abelian group of order 4", True),
        ({"a": [1, 2, 3, 0], "b": [1, 0, 2, 3]}, "solvable group of order 24", True),
        (A5, "A5", False),
        (S5, "non-solvable group of order 120", False),
    ],
)
def test_word_problems_of_groups(generators: dict[str, list[int]], name: str, solvable: bool) -> None:
    automaton = group_automaton(generators)
    found = classify(automaton)
    assert found.states == len(automaton) == found.elements and found.pure_group and found.star_free is False
    assert [str(group) for group in found.groups or ()] == [name] and found.solvable is solvable


def test_a_group_inside_a_monoid_that_is_none() -> None:
    """A5 on five states beside a symbol that forgets the state."""
    table = np.array([[*row, 0] for row in zip(A5["a"], A5["b"], strict=True)])
    found = classify(Automaton(("a", "b", "r"), table, np.arange(5) == 0))
    assert not found.pure_group and found.solvable is False and [str(g) for g in found.groups or ()] == ["A5"]
    assert found.elements == 65


def test_beyond_the_limit_is_not_decided() -> None:
    found = classify(group_automaton(S5), most_elements=50)
    assert (found.elements, found.groups, found.solvable) == (None, None, None)
    assert found.pure_group and found.star_free is False  # known without the monoid
    rng = np.random.default_rng(0)
    large = Automaton(("a", "b"), rng.integers(0, 50, (50, 2)), rng.random(50) < 0.5)
    assert len(minimal(large)) > 20 and classify(large).star_free is None
    ordered = classify(parse_regex("a? b? c? d? e?"), most_elements=3)
    assert ordered.star_free and ordered.r_trivial and ordered.groups == () and ordered.finite


def test_languages_of_one_state() -> None:
    empty = classify(Automaton(("a",), np.array([[0]]), np.array([False])))
    assert empty.finite and empty.star_free and empty.r_trivial and empty.pure_group and empty.elements == 1
    only_the_empty_string = classify(parse_regex("()"))
    assert only_the_empty_string.finite and only_the_empty_string.star_free
