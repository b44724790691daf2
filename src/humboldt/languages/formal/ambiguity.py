"""Ambiguity of grammars. It is undecidable in general; the result includes the length up to which it was checked.

>>> from humboldt.languages.formal.grammar_file import parse
>>> print(ambiguity(parse("S -> a S | S a | b"), longest=4).sentence)
The grammar is ambiguous: 2 derivations of `a b a`, among them S(a S(S(b) a)) and S(S(a S(b)) a).
>>> print(ambiguity(parse("S -> a S b | a b")).sentence)
The grammar is unambiguous: it is LR(1).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Literal

import numpy as np

from humboldt.languages.chart import spell
from humboldt.languages.formal.derivations import Derivations
from humboldt.languages.formal.enumeration import MOST_ITEMS, Strings
from humboldt.languages.formal.grammar_file import Body, ContextFreeGrammar
from humboldt.languages.formal.lr import is_lr1
from humboldt.languages.formal.text import EMPTY, shortened, spelled

TRIES = 20  # derivations drawn of each length at which strings are too many to list
LARGEST_TREE = 400  # nonterminals times positions up to which derivations are written out

LONGEST_TREE = 120  # characters of a derivation that a sentence quotes


@dataclass(frozen=True)
class Ambiguity:
    """The result of a search for ambiguity.

    - `verdict`: `open` where neither a proof nor two derivations of one string were found.
    - `checked`: the length up to which derivations and strings were found equal in number, if they were counted.
    - `string`, `derivations`: two derivations of one string, where there are any and they are short.
    - `counts`: the numbers of distinct strings of length 0 to `longest`, `None` where they are not known.
    """

    verdict: Literal["unambiguous", "ambiguous", "open"]
    sentence: str
    checked: int | None = None
    string: Body | None = None
    derivations: tuple[str, ...] = ()
    counts: tuple[int | None, ...] = field(default=(), repr=False)


def ambiguity(
    grammar: ContextFreeGrammar,
    *,
    longest: int = 20,
    derivations: Derivations | None = None,
    most_items: int = MOST_ITEMS,
) -> Ambiguity:
    """Looks for a proof, then compares derivations with strings for all lengths up to `longest`."""
    derivations = derivations or Derivations(grammar)
    if not grammar.useful:
        return Ambiguity("unambiguous", "The language is empty.", counts=(0,) * (longest + 1))
    if not derivations.circular:
        for backwards in (False, True):
            if is_lr1(grammar, backwards=backwards):
                read = ", read from right to left" if backwards else ""
                sentence = f"The grammar is unambiguous: it is LR(1){read}."
                return Ambiguity("unambiguous", sentence, counts=tuple(derivations.counts(longest)))
    strings = Strings(grammar)
    counts = tuple(strings.counts(longest, most_items))
    if derivations.circular:
        sentence = (
            f"The grammar is ambiguous: {circle(grammar)}, so strings have infinitely many derivations. Numbers of "
            "derivations are those of a grammar with the same strings, without such circles and empty rules."
        )
        return Ambiguity("ambiguous", sentence, counts=counts)
    string, checked = _search(strings, derivations, counts)
    if string is not None:
        parses = derivations.parses(string)
        number = f"{parses:,}" if parses < 10**12 else "more than 10^12"
        trees = written(grammar, string)
        short = all(len(tree) <= LONGEST_TREE for tree in trees)
        among = f", among them {' and '.join(trees)}" if trees and short else ""
        sentence = f"The grammar is ambiguous: {number} derivations of `{_shown(string)}`{among}."
        return Ambiguity("ambiguous", sentence, checked, string, trees, counts)
    if (derivations.shape.longest or 0) <= checked:
        sentence = "The grammar is unambiguous: each string of the language, which is finite, has one derivation."
        return Ambiguity("unambiguous", sentence, checked, counts=counts)
    sentence = f"The grammar is unambiguous up to length {checked}: each of these strings has one derivation."
    return Ambiguity("open", sentence, checked, counts=counts)


def _search(strings: Strings, derivations: Derivations, counts: Sequence[int | None]) -> tuple[Body | None, int]:
    """Returns a string with several derivations, or `None`, and the last length at which there is certainly none."""
    checked = -1
    for length, count in enumerate(counts):
        if count is None:
            break
        if derivations.count(length) > count:
            return next(string for string in strings.of_length(length) if derivations.parses(string) > 1), checked
        checked = length
    rng = np.random.default_rng(0)
    for length in range(checked + 1, len(counts)):
        for _ in range(TRIES if derivations.count(length) else 0):
            string = derivations.sample(length, rng)
            if derivations.parses(string) > 1:
                return string, checked
    return None, checked


def circle(grammar: ContextFreeGrammar) -> str:
    """Returns the shortest way in which a nonterminal derives itself alone, in words."""
    steps: dict[str, dict[str, str]] = {}
    for rule in grammar.useful:
        for at, symbol in enumerate(rule.body):
            others = (*rule.body[:at], *rule.body[at + 1 :])
            if symbol in grammar.by_head and grammar.nullable.issuperset(others):
                empty = [f"{other} empty" for other in dict.fromkeys(others)]
                step = f"{rule} with {', '.join(empty)}" if empty else str(rule)
                known = steps.setdefault(rule.head, {})
                known[symbol] = min(known.get(symbol, step), step, key=len)
    best: list[str] = []
    for start in steps:
        trail = {start: [start]}
        queue = [start]
        for node in queue:  # grows while it is read
            for after in steps.get(node, {}):
                if after == start and (not best or len(trail[node]) < len(best)):
                    best = trail[node]
                if after not in trail:
                    trail[after] = [*trail[node], after]
                    queue.append(after)
    by = [steps[head][after] for head, after in zip(best, [*best[1:], best[0]], strict=True)]
    return f"{best[0]} derives itself by `{'`, `'.join(shortened(step, LONGEST_TREE) for step in by)}`"


def written(grammar: ContextFreeGrammar, string: Body, most: int = 2) -> tuple[str, ...]:
    """Returns derivations of a short string as text, `S(a S(b))`; none of a long one. The grammar must have no
    circles."""
    if len({rule.head for rule in grammar.useful}) * (len(string) + 1) > LARGEST_TREE:
        return ()
    rules: dict[str, list[Body]] = {}
    for rule in grammar.useful:
        rules.setdefault(rule.head, []).append(rule.body)
    derived = _derived(rules, string)

    def ends(symbol: str, begin: int) -> list[int]:
        if symbol not in rules:
            return [begin + 1] if string[begin : begin + 1] == (symbol,) else []
        return [end for end in range(begin, len(string) + 1) if (begin, end) in derived[symbol]]

    @lru_cache(None)
    def fits(body: Body, begin: int, end: int) -> bool:
        if not body:
            return begin == end
        return any(fits(body[1:], middle, end) for middle in ends(body[0], begin) if middle <= end)

    def trees(symbol: str, begin: int, end: int) -> Iterator[str]:
        if symbol not in rules:
            yield spelled(symbol)
            return
        for body in rules[symbol]:
            if fits(body, begin, end):
                for parts in forests(body, begin, end):
                    yield f"{symbol}({' '.join(parts) or EMPTY})"

    def forests(body: Body, begin: int, end: int) -> Iterator[tuple[str, ...]]:
        if not body:
            yield ()
            return
        for middle in ends(body[0], begin):
            if middle <= end and fits(body[1:], middle, end):
                for tree in trees(body[0], begin, middle):
                    for rest in forests(body[1:], middle, end):
                        yield (tree, *rest)

    return tuple(islice(trees(grammar.start, 0, len(string)), most))


def _derived(rules: dict[str, list[Body]], string: Body) -> dict[str, set[tuple[int, int]]]:
    """Returns the parts `(begin, end)` of the string that each nonterminal derives, by iteration to a fixed point."""
    size = len(string)
    derived: dict[str, set[tuple[int, int]]] = {head: set() for head in rules}
    changed = True
    while changed:
        changed = False
        for head, bodies in rules.items():
            for body in bodies:
                parts = {(at, at) for at in range(size + 1)}
                for symbol in body:
                    known = derived.get(symbol)
                    if known is None:
                        known = {(at, at + 1) for at in range(size) if string[at] == symbol}
                    parts = {(begin, end) for begin, middle in parts for at, end in known if at == middle}
                changed |= not parts <= derived[head]
                derived[head] |= parts
    return derived


def _shown(string: Body) -> str:
    return spell(tuple(map(spelled, string))) or EMPTY
