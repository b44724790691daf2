from itertools import permutations

import numpy as np
import pytest

from humboldt.languages.formal.groups import generated, group_of


def solvable_by_definition(elements: set[tuple[int, ...]]) -> bool:
    """All commutators, closed under products, until nothing is left or nothing changes."""

    def times(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(two[i] for i in one)

    def inverse(one: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(i) for i in np.argsort(one))

    while len(elements) > 1:
        smaller = {times(times(inverse(a), inverse(b)), times(a, b)) for a in elements for b in elements}
        while len(grown := smaller | {times(a, b) for a in smaller for b in smaller}) > len(smaller):
            smaller = grown
        if smaller == elements:
            return False
        elements = smaller
    return True


@pytest.mark.parametrize("seed", range(40))
def test_random_groups_by_their_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    degree = int(rng.integers(2, 6))
    generators = [tuple(rng.permutation(degree).tolist()) for _ in range(int(rng.integers(1, 3)))]
    elements = {tuple(range(degree))}
    while len(grown := elements | {tuple(g[i] for i in e) for e in elements for g in generators}) > len(elements):
        elements = grown
    group = generated(generators)
    assert group.order == len(elements)
    assert group.abelian == all(tuple(a[i] for i in b) == tuple(b[i] for i in a) for a in elements for b in elements)
    orders = []
    for element in elements:
        power, order = element, 1
        while power != tuple(range(degree)):
            power, order = tuple(element[i] for i in power), order + 1
        orders.append(order)
    assert group.cyclic == (max(orders) == len(elements))
    if len(elements) <= 60:
        assert group.solvable == solvable_by_definition(elements)


@pytest.mark.parametrize(
    ("generators", "name"),
    [
        ([[0, 1]], "Z1"),
        ([[1, 2, 3, 4, 5, 0]], "Z6"),
        ([[1, 2, 0, 3, 4], [0, 1, 2, 4, 3]], "Z6"),
        ([[1, 0, 2], [1, 2, 0]], "S3"),
        ([[1, 0, 2, 3], [0, 1, 3, 2]], "abelian group of order 4"),
        ([[1, 2, 3, 0], [3, 2, 1, 0]], "solvable group of order 8"),
        ([[1, 2, 3, 4, 0], [1, 2, 0, 3, 4]], "A5"),
    ],
)
def test_names(generators: list[list[int]], name: str) -> None:
    assert str(generated(generators)) == name


def test_all_permutations_of_six() -> None:
    group = group_of(np.array(list(permutations(range(6)))))
    assert group.order == 720 and not group.solvable and not group.abelian
