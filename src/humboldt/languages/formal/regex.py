"""The `.regex` format: operators `| * + ?` and brackets, symbols separated by spaces.

    ( a b | b a )* c?    # `ab` would be one symbol; an alternative may be empty; lines do not matter

An expression becomes an automaton by its positions (Glushkov 1961), then by sets of positions, then minimised.

>>> language = parse_regex("( a b | b a )* c?")
>>> language.accepts("a b b a c".split()), language.accepts("a b b c".split())
(True, False)
"""

from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, MOST_STATES, Automaton, refuse_size
from humboldt.languages.formal.minimal import minimal
from humboldt.languages.formal.text import EMPTY, Token, spelled, tokens

MOST_POSITIONS = 5_000  # symbols that an expression is written with
MOST_WORK = 2_000_000  # positions looked at while sets of positions are followed
FOREIGN = (".", "^", "$")  # have a meaning in other notations


@dataclass(frozen=True)
class Part:
    """A subexpression: whether it matches the empty string, which positions can come first (a set of bits), and which
    can come last. No two subexpressions share a position.
    """

    nullable: bool = True
    first: int = 0
    last: tuple[int, ...] = ()


@dataclass
class Positions:
    """The positions of an expression: the symbol of each and a set of bits for those that can follow it."""

    symbols: list[str] = field(default_factory=list)
    follow: list[int] = field(default_factory=list)

    def symbol(self, token: Token) -> Part:
        """Returns a new position for a symbol."""
        if len(self.symbols) >= MOST_POSITIONS:
            raise token.problem(f"the expression has more than {MOST_POSITIONS:,} symbols, the limit. Shorten it.")
        self.symbols.append(token.text)
        self.follow.append(0)
        return Part(False, 1 << (len(self.symbols) - 1), (len(self.symbols) - 1,))

    def sequence(self, left: Part, right: Part) -> Part:
        """Returns the subexpression `left right`."""
        self._link(left.last, right.first)
        first = left.first | right.first if left.nullable else left.first
        return Part(left.nullable and right.nullable, first, left.last + right.last if right.nullable else right.last)

    def repeated(self, part: Part, operator: str) -> Part:
        """Returns the subexpression `part*`, `part+` or `part?`."""
        if operator in "*+":
            self._link(part.last, part.first)
        return Part(part.nullable or operator in "*?", part.first, part.last)

    def _link(self, last: tuple[int, ...], first: int) -> None:
        for position in last:
            self.follow[position] |= first


@dataclass
class _Bracket:
    """An open bracket, or the whole expression: alternatives that are complete, and the parts of the current one."""

    opened: Token | None
    alternatives: list[Part] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def close_alternative(self, positions: Positions) -> None:
        self.alternatives.append(reduce(positions.sequence, self.parts, Part()))
        self.parts = []

    def union(self) -> Part:
        return Part(
            any(part.nullable for part in self.alternatives),
            reduce(or_, (part.first for part in self.alternatives)),
            tuple(position for part in self.alternatives for position in part.last),
        )


def parse_regex(text: str, file: str = "text") -> Automaton:
    """Reads a regular expression as its minimal automaton."""
    positions = Positions()
    whole = _parse(tokens(text, file), positions)
    return minimal(_determinised(whole, positions, file))


def _parse(words: list[Token], positions: Positions) -> Part:
    """Reads an expression with a stack of open brackets: no recursion, so depth is not limited by Python."""
    words = [word for word in words if word.kind != "newline"]
    if len(words) == 1:
        raise words[0].error("a regular expression such as `( a b | b a )* c?`", hint="`()` is the empty string.")
    stack = [_Bracket(None)]
    before: Token | None = None
    for word in words:
        current = stack[-1]
        if word.is_word(*FOREIGN) or (word.text.startswith("\\") and not word.quoted):
            raise word.error(
                "a symbol", hint=f"It has no meaning here. To use it as a symbol, quote it: '{word.text}'."
            )
        if word.is_word(EMPTY):
            current.parts.append(Part())
        elif word.kind == "symbol":
            current.parts.append(positions.symbol(word))
        elif word.is_operator("("):
            stack.append(_Bracket(word))
        elif word.is_operator("|"):
            current.close_alternative(positions)
        elif word.is_operator("*", "+", "?"):
            if before is None or before.is_operator("(", "|"):
                raise word.error("a symbol or `(`")
            if before.is_operator("*", "+", "?"):
                raise word.error(
                    "a symbol, `(`, `)` or `|`",
                    hint=f"Put the repeated part in brackets: ( a{before.text} ){word.text}, "
                    f"or quote the symbol: {spelled(word.text)}.",
                )
            current.parts[-1] = positions.repeated(current.parts[-1], word.text)
        elif word.is_operator(")"):
            if len(stack) == 1:
                raise word.error("a symbol: no bracket is open")
            current.close_alternative(positions)
            stack.pop()
            stack[-1].parts.append(current.union())
        elif word.kind == "end":
            if current.opened is not None:
                at = current.opened
                raise word.error(f"`)` for the bracket opened on line {at.line}, column {at.column}")
            current.close_alternative(positions)
        elif word.kind == "weight":
            raise word.error("a symbol", hint="A regular expression has no weights: write an automaton or a grammar.")
        elif word.is_operator("{", "}"):
            raise word.error(
                "a symbol",
                hint=f"Counts such as {{2,3}} are not part of the notation: write the symbols out. "
                f"To use `{word.text}` as a symbol, quote it: '{word.text}'.",
            )
        else:
            raise word.error("a symbol")
        before = word
    return stack[0].union()


def _determinised(whole: Part, positions: Positions, file: str) -> Automaton:
    """Returns the automaton whose states are the positions that can come next, and whether the string may end."""
    alphabet = tuple(sorted(set(positions.symbols)))
    columns = {symbol: column for column, symbol in enumerate(alphabet)}
    column_of = [columns[symbol] for symbol in positions.symbols]
    final = set(whole.last)
    states = [(whole.first, whole.nullable)]
    numbers = {states[0]: 0}
    rows: list[list[tuple[int, int]]] = []
    work = 0
    for possible, _ in states:  # grows while it is read
        reached: dict[int, list[int]] = {}
        for position in _bits(possible):
            reached.setdefault(column_of[position], []).append(position)
            work += 1
        row = []
        for column, places in reached.items():
            target = reduce(or_, map(positions.follow.__getitem__, places)), not final.isdisjoint(places)
            number = numbers.setdefault(target, len(states))
            if number == len(states):
                states.append(target)
            row.append((column, number))
        rows.append(row)
        refuse_size(min(len(states), MOST_STATES), len(alphabet))
        if len(states) > MOST_STATES or work > MOST_WORK:
            limit = f"{MOST_STATES:,} states" if len(states) > MOST_STATES else f"{MOST_WORK:,} steps"
            raise UsageError(
                f"The expression in {file} needs more than {limit} to become a deterministic automaton, the limit. "
                "Alternatives that stay open for long, such as ( a | b )* a ( a | b ) ( a | b ) ..., double the states "
                "with each symbol. Shorten them."
            )
    table = np.full((len(states), len(alphabet)), MISSING, np.int32)
    for state, row in enumerate(rows):
        for column, number in row:
            table[state, column] = number
    return Automaton(alphabet, table, np.array([accepts for _, accepts in states]))


def _bits(number: int) -> list[int]:
    """Returns the positions of the ones in a binary number."""
    data = np.frombuffer(number.to_bytes((number.bit_length() + 7) // 8, "little"), np.uint8)
    return np.nonzero(np.unpackbits(data, bitorder="little"))[0].tolist()
