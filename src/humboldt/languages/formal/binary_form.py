"""Context-free grammars with at most two symbols to the right of an arrow, and what follows from them by counting.

A long body is split from the left: `S -> a S b` becomes `S -> <a> <S b>`, `<S b> -> S <b>`, where `<a> -> a`. Each
derivation of the grammar is one derivation of its binary form, so both have the same numbers and probabilities.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from humboldt.languages.formal.counting import strongly_connected
from humboldt.languages.formal.grammar_file import ContextFreeGrammar


@dataclass(frozen=True)
class BinaryForm:
    """The useful part of a grammar. Nonterminals are numbers, the start is 0; weights are those of the file.

    `rules` have bodies of none, one or two nonterminals, `lexical` rules one terminal, as its place in `alphabet`.
    """

    size: int
    alphabet: tuple[str, ...]
    rules: tuple[tuple[int, tuple[int, ...], Fraction], ...]
    lexical: tuple[tuple[int, int, Fraction], ...]

    @cached_property
    def nullable(self) -> frozenset[int]:
        """Nonterminals that derive the empty string."""
        nullable: set[int] = set()
        while True:
            grown = {head for head, body, _ in self.rules if nullable.issuperset(body)}
            if grown <= nullable:
                return frozenset(nullable)
            nullable |= grown

    @cached_property
    def nonempty(self) -> frozenset[int]:
        """Nonterminals that derive a string of one symbol or more."""
        nonempty = {head for head, _, _ in self.lexical}
        while True:
            grown = nonempty | {head for head, body, _ in self.rules if not nonempty.isdisjoint(body)}
            if grown == nonempty:
                return frozenset(nonempty)
            nonempty = grown

    def units(self) -> dict[tuple[int, int], list[tuple[Fraction, int | None]]]:
        """Returns, for A and B, the rules by which A derives B alone: their weight, and the sibling that must be
        empty."""
        nullable = self.nullable
        units: dict[tuple[int, int], list[tuple[Fraction, int | None]]] = {}
        for head, body, weight in self.rules:
            if len(body) == 1:
                units.setdefault((head, body[0]), []).append((weight, None))
            elif len(body) == 2:
                for kept, left_out in (body, body[::-1]):
                    if left_out in nullable:
                        units.setdefault((head, kept), []).append((weight, left_out))
        return units

    def circles(self) -> list[list[int]]:
        """Returns groups of nonterminals that derive one another, and so themselves, alone."""
        graph = followers(self.size, self.units())
        return [nodes for nodes in strongly_connected(graph) if len(nodes) > 1 or nodes[0] in graph[nodes[0]]]


def binary_form(grammar: ContextFreeGrammar) -> BinaryForm:
    """Returns the binary form of the useful alternatives; of the empty language it has one nonterminal and no rule."""
    alphabet = {symbol: place for place, symbol in enumerate(grammar.alphabet)}
    numbers: dict[tuple[str, ...] | str, int] = {grammar.start: 0}
    rules: list[tuple[int, tuple[int, ...], Fraction]] = []
    lexical: list[tuple[int, int, Fraction]] = []
    one = Fraction(1)

    def number(body: tuple[str, ...]) -> int:
        """Returns the nonterminal for a body or a part of it; a new one gets its only rule."""
        key = body[0] if len(body) == 1 and body[0] in grammar.by_head else body
        if key not in numbers:
            numbers[key] = len(numbers)
            if isinstance(key, tuple):
                pending.append((numbers[key], key, one))
        return numbers[key]

    pending: list[tuple[int, tuple[str, ...], Fraction]] = []
    for rule in grammar.useful:
        pending.append((number((rule.head,)), rule.body, rule.weight))
        while pending:
            head, body, weight = pending.pop()
            if len(body) == 1 and body[0] in alphabet:
                lexical.append((head, alphabet[body[0]], weight))
            elif len(body) < 2:
                rules.append((head, tuple(number((symbol,)) for symbol in body), weight))
            else:
                rules.append((head, (number(body[:1]), number(body[1:])), weight))
    return BinaryForm(len(numbers), grammar.alphabet, tuple(rules), tuple(lexical))


def followers(size: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Returns a graph on `size` nodes as the nodes that each one leads to."""
    ends_of: list[set[int]] = [set() for _ in range(size)]
    for start, end in pairs:
        ends_of[start].add(end)
    return [sorted(ends) for ends in ends_of]
