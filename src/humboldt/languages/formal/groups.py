"""Finite groups of permutations: order, solvability, and the names of the smallest ones.

>>> str(generated([[1, 0, 2], [1, 2, 0]])), str(generated([[1, 2, 0, 3, 4], [0, 1, 3, 4, 2]]))
('S3', 'A5')
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Permutation = tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """A finite group by its order and kind."""

    order: int
    cyclic: bool
    abelian: bool
    solvable: bool

    def __str__(self) -> str:
        if self.cyclic:
            return f"Z{self.order}"
        if self.order == 6:  # the only group of order 6 that is not cyclic
            return "S3"
        if self.order == 60 and not self.solvable:  # the only one of order 60 that is not solvable
            return "A5"
        kind = "abelian" if self.abelian else "solvable" if self.solvable else "non-solvable"
        return f"{kind} group of order {self.order:,}"


def generated(generators: Iterable[Sequence[int]]) -> Group:
    """Returns the group that permutations of 0, 1, ... generate."""
    tuples = [tuple(map(int, generator)) for generator in generators]
    return group_of(np.array(sorted(_closure(tuples))))


def group_of(elements: np.ndarray) -> Group:
    """Returns the group whose elements are the rows, permutations of 0, 1, ..., shape `(order, degree)`."""
    members = [tuple(row) for row in elements.tolist()]
    generators = _generators(members)
    abelian = all(_product(a, b) == _product(b, a) for a in generators for b in generators)
    cyclic = abelian and math.lcm(*map(_order, generators)) == len(members)
    return Group(len(members), cyclic, abelian, abelian or _is_solvable(generators, len(members)))


def _is_solvable(generators: list[Permutation], order: int) -> bool:
    """Returns whether the series of derived groups ends in the trivial group."""
    while order > 1:
        derived = _derived(generators)
        if len(derived) == order:
            return False
        order, generators = len(derived), _generators(sorted(derived))
    return True


def _derived(generators: list[Permutation]) -> set[Permutation]:
    """Returns the commutator subgroup: the smallest normal subgroup with the commutators of the generators."""
    inverses = [_inverse(generator) for generator in generators]
    pairs = [(a, b) for a in range(len(generators)) for b in range(a)]
    subgroup_generators: list[Permutation] = []
    subgroup = {tuple(range(len(generators[0])))}
    pending = [_product(_product(inverses[a], inverses[b]), _product(generators[a], generators[b])) for a, b in pairs]
    while pending:
        element = pending.pop()
        if element in subgroup:
            continue
        subgroup_generators.append(element)
        subgroup = _closure(subgroup_generators)
        pending.extend(_product(_product(inverses[i], element), generators[i]) for i in range(len(generators)))
    return subgroup


def _generators(members: Sequence[Permutation]) -> list[Permutation]:
    """Returns a few elements that generate the group: each at least doubles what those before it generate."""
    generators: list[Permutation] = []
    subgroup = {tuple(range(len(members[0])))}
    for member in members:
        if member not in subgroup:
            generators.append(member)
            subgroup = _closure(generators)
    return generators or [members[0]]


def _closure(generators: Sequence[Permutation]) -> set[Permutation]:
    identity = tuple(range(len(generators[0])))
    elements, pending = {identity}, [identity]
    while pending:
        element = pending.pop()
        for generator in generators:
            product = _product(element, generator)
            if product not in elements:
                elements.add(product)
                pending.append(product)
    return elements


def _product(left: Permutation, right: Permutation) -> Permutation:
    """Returns the product: first `left`, then `right`."""
    return tuple(map(right.__getitem__, left))


def _order(permutation: Permutation) -> int:
    """Returns the least power that is the identity: the least common multiple of the lengths of the cycles."""
    seen: set[int] = set()
    order = 1
    for start in range(len(permutation)):
        length, position = 0, start
        while position not in seen:
            seen.add(position)
            position = permutation[position]
            length += 1
        order = math.lcm(order, max(length, 1))
    return order


def _inverse(permutation: Permutation) -> Permutation:
    inverse = [0] * len(permutation)
    for position, target in enumerate(permutation):
        inverse[target] = position
    return tuple(inverse)
