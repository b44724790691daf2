"""The growth of the number of derivations with length, and the shortest and longest string.

>>> from humboldt.languages.formal.grammar_file import parse
>>> from humboldt.languages.formal.binary_form import binary_form
>>> from humboldt.languages.formal.counted_form import counted_form
>>> shape = Shape(counted_form(binary_form(parse("S -> '(' S ')' S |"))))
>>> shape.growth.kind, round(shape.growth.rate, 6), shape.shortest, shape.longest
('exponential', 2.0, 0, inf)
"""

import math
from functools import cached_property

from humboldt.languages.formal.binary_form import followers
from humboldt.languages.formal.counted_form import CountedForm
from humboldt.languages.formal.counting import Growth, strongly_connected
from humboldt.languages.formal.weighted_form import least_solution

LARGEST = 100  # nonterminals in binary form up to which the rate of exponential growth is computed
MOST_COUNTED = 10**100  # derivations in all; of more, the number is left out
MOST_WAYS = 10**15  # of one rule, up to which the rate is computed
STEPS = 40  # halvings of the interval that holds it


class Shape:
    """The loops of a grammar, and the sums over ways without loops, computed from the rules alone.

    Every loop from a nonterminal back to itself adds symbols, since there are no empty rules and no circles.
    """

    def __init__(self, form: CountedForm) -> None:
        self.form = form
        self.bodies: dict[int, list[tuple[tuple[int, ...], int]]] = {}  # of each head: nonterminals, number of ways
        for pair, heads in form.pairs.items():
            for head, weight in heads:
                self.bodies.setdefault(head, []).append((pair, weight))
        for (head, symbol), weight in form.units.items():
            self.bodies.setdefault(head, []).append(((symbol,), weight))
        graph = followers(form.size, ((h, s) for h, bodies in self.bodies.items() for body, _ in bodies for s in body))
        met, queue = {form.start}, [form.start]
        for node in queue:  # grows while it is read
            queue += [after for after in graph[node] if after not in met]
            met.update(graph[node])
        self.components = [nodes for nodes in strongly_connected(graph) if met.issuperset(nodes)]
        self.loops = [len(nodes) > 1 or nodes[0] in graph[nodes[0]] for nodes in self.components]

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is no string at all."""
        return not self.form.empty and not self._has_strings

    @cached_property
    def _has_strings(self) -> bool:
        return bool(self.form.lexical_of.get(self.form.start) or self.bodies.get(self.form.start))

    @cached_property
    def shortest(self) -> int | None:
        """The length of the shortest string; `None` in the empty language."""
        if self.form.empty:
            return 0
        if self.is_empty:
            return None
        lengths: dict[int, int] = dict.fromkeys(self.form.lexical_of, 1)
        changed = True
        while changed:
            changed = False
            for head, bodies in self.bodies.items():
                for body, _ in bodies:
                    if all(symbol in lengths for symbol in body):
                        length = sum(lengths[symbol] for symbol in body)
                        if length < lengths.get(head, length + 1):
                            lengths[head], changed = length, True
        return lengths[self.form.start]

    @cached_property
    def longest(self) -> int | float | None:
        """The length of the longest string: infinite if there is none, `None` in the empty language."""
        if self.is_empty:
            return None
        if any(self.loops):
            return math.inf
        lengths: dict[int, int] = {}
        for (node,) in self.components:
            options = [sum(lengths[symbol] for symbol in body) for body, _ in self.bodies.get(node, ())]
            lengths[node] = max([*options, int(node in self.form.lexical_of)])
        return lengths[self.form.start]

    @cached_property
    def growth(self) -> Growth:
        """The growth of the number of derivations. Two ways round a loop make it exponential; else the number of loops
        that one derivation can hold decides.
        """
        totals: dict[int, float] = {}  # of all derivations from a nonterminal
        depth: dict[int, int] = {}
        for nodes, loop in zip(self.components, self.loops, strict=True):
            inside = set(nodes)
            for node in nodes:
                around = [(body, weight) for body, weight in self.bodies.get(node, ()) if inside.intersection(body)]
                if loop and (len(around) > 1 or not self._is_single(*around[0], inside, totals)):
                    return Growth("exponential", self._rate())
            totals |= dict.fromkeys(nodes, math.inf if loop else self._total(nodes[0], totals))
            ways = [body for node in nodes for body, _ in self.bodies.get(node, ()) if not inside.intersection(body)]
            deepest = max((sum(depth[symbol] for symbol in body) for body in ways), default=0)
            depth |= dict.fromkeys(nodes, deepest + loop)
        if self.is_empty or not any(self.loops):
            total = totals[self.form.start] if self._has_strings else 0
            return Growth("finite", 0.0, count=None if total == math.inf else int(total) + self.form.empty)
        return Growth("polynomial", 1.0, degree=depth[self.form.start] - 1)

    def _total(self, node: int, totals: dict[int, float]) -> float:
        total: float = _capped(sum(weight for _, weight in self.form.lexical_of.get(node, ())))
        for body, weight in self.bodies.get(node, ()):
            ways: float = _capped(weight)
            for symbol in body:
                ways = _capped(ways * totals[symbol])
            total = _capped(total + ways)
        return total

    def _is_single(self, body: tuple[int, ...], weight: int, inside: set[int], totals: dict[int, float]) -> bool:
        """Returns whether a rule goes round its loop in one way only."""
        others = [symbol for symbol in body if symbol not in inside]
        return weight == 1 and len(others) == len(body) - 1 and all(totals[symbol] == 1 for symbol in others)

    def _rate(self) -> float:
        """Returns one over the largest x at which the sum of x to the length over all derivations is finite; NaN if
        there are too many nonterminals or derivations.
        """
        weights = [w for bodies in self.bodies.values() for _, w in bodies]
        weights += [w for pairs in self.form.lexical_of.values() for _, w in pairs]
        if self.form.size > LARGEST or max(weights) > MOST_WAYS:
            return math.nan
        rules = [(h, body, float(w)) for h, bodies in self.bodies.items() for body, w in bodies]
        lexical = [(head, float(w)) for head, pairs in self.form.lexical_of.items() for _, w in pairs]

        def is_finite(x: float) -> bool:
            values = least_solution(self.form.size, rules, [(head, weight * x) for head, weight in lexical])
            return math.isfinite(values[self.form.start])

        high = 1.0
        while not is_finite(high / 2):
            high /= 2
        low = high / 2
        for _ in range(STEPS):
            x = (low + high) / 2
            low, high = (x, high) if is_finite(x) else (low, x)
        rate = 2 / (low + high)
        return float(round(rate)) if abs(rate - round(rate)) < 1e-9 else rate


def _capped(number: float) -> float:
    """Returns infinity in place of a number that is too large to be reported, and would be to be converted."""
    return number if number < MOST_COUNTED else math.inf
