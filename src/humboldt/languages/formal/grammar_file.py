"""Context-free grammars as text files.

>>> grammar = parse("S -> a S b [0.7] | a b", file="my.grammar")
>>> print(grammar)
S -> a S b [7/10] | a b [3/10]
>>> parse("S -> a T", file="my.grammar")
Traceback (most recent call last):
    ...
humboldt.languages.formal.text.ParseError: my.grammar, line 1, column 8: `T` is capitalised like a nonterminal, but ...
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from humboldt.languages.chart import END
from humboldt.languages.formal.text import (
    EMPTY,
    ParseError,
    Token,
    shares,
    shortened,
    spelled,
    statements,
    tokens,
)
from humboldt.languages.formal.text import read as read_text
from humboldt.languages.grammar import Grammar, Rule

MOST_ALTERNATIVES = 1_000
MOST_BODY_SYMBOLS = 2_000  # of all alternatives together
LONGEST_BODY = 200

HASH = "# "  # the symbol `#` where `#` is the end; no symbol of a file has a space

Body = tuple[str, ...]


@dataclass(frozen=True)
class Alternative:
    """`head` becomes `body` with probability `weight`; the empty body is the empty string."""

    head: str
    body: Body
    weight: Fraction
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.head} -> {' '.join(map(spelled, self.body)) or EMPTY}"


class ContextFreeGrammar:
    """A weighted context-free grammar whose weights sum to one for each head. The first head is the start.

    `weighted` is whether the file has weights. `alternatives` includes those that cannot be reached from the start or
    never end; `reachable` and `useful` leave them out, and `notes` reports them.
    """

    def __init__(self, alternatives: Sequence[Alternative], *, weighted: bool = True) -> None:
        self.alternatives = tuple(alternatives)
        self.start = self.alternatives[0].head
        self.weighted = weighted
        self.by_head: dict[str, list[Alternative]] = {}
        for alternative in self.alternatives:
            self.by_head.setdefault(alternative.head, []).append(alternative)

    @cached_property
    def productive(self) -> frozenset[str]:
        """Nonterminals that derive at least one finite string."""
        return self._closed(self.alternatives)

    @cached_property
    def nullable(self) -> frozenset[str]:
        """Nonterminals that derive the empty string."""
        heads = self.by_head
        return self._closed([rule for rule in self.alternatives if all(symbol in heads for symbol in rule.body)])

    @cached_property
    def reachable(self) -> tuple[Alternative, ...]:
        """The alternatives of all nonterminals that a derivation from the start can reach."""
        met = self._met(lambda rule: True)
        return tuple(rule for rule in self.alternatives if rule.head in met)

    @cached_property
    def useful(self) -> tuple[Alternative, ...]:
        """The alternatives that take part in the derivation of some string; empty for the empty language."""
        met = self._met(self._ends) if self.start in self.productive else frozenset()
        return tuple(rule for rule in self.alternatives if rule.head in met and self._ends(rule))

    @cached_property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols of the strings, sorted."""
        return tuple(sorted({symbol for rule in self.useful for symbol in rule.body if symbol not in self.by_head}))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each useless nonterminal."""
        met = {rule.head for rule in self.reachable}
        used = {rule.head for rule in self.useful}
        sentences = []
        for head, rules in self.by_head.items():
            where = f"Line {rules[0].line}: " if rules[0].line else ""
            if head not in self.productive:
                sentences.append(
                    f"{where}{head} derives no finite string, as each of its rules leads to one that never ends."
                )
            elif head not in met:
                sentences.append(f"{where}{head} cannot be reached from {self.start}.")
            elif head not in used:
                sentences.append(f"{where}{head} occurs only beside nonterminals that derive no finite string.")
        return tuple(sentences)

    def identity(self, *, weights: bool = True) -> dict[str, object]:
        """Returns the identity of the language, with or without its weights, as plain data for JSON.

        Names of nonterminals, the order of heads, spelling and comments do not count. The order of the alternatives of
        a head does: samples of one seed follow it.
        """
        numbers, queue, rules = {self.start: 0}, [self.start], []
        for head in queue:  # grows while it is read
            for rule in self.by_head[head]:
                body: list[object] = []
                for symbol in rule.body:
                    if symbol in self.by_head and symbol not in numbers:
                        numbers[symbol] = len(numbers)
                        queue.append(symbol)
                    body.append(numbers.get(symbol, symbol))
                rules.append([numbers[head], body, str(rule.weight)] if weights else [numbers[head], body])
        return {"kind": "grammar", "rules": rules}

    @cached_property
    def core(self) -> Grammar:
        """The same grammar for sampling and enumeration. There `#` is the end of a string, so the symbol `#` has
        another name: see `to_core` and `from_core`. The empty language has none.
        """
        terminals = {symbol for rule in self.reachable for symbol in rule.body if symbol not in self.by_head}
        rules = [Rule(rule.head, to_core(rule.body), float(rule.weight), rule.line) for rule in self.reachable]
        return Grammar(rules, alphabet=to_core(sorted(terminals)))

    def _ends(self, rule: Alternative) -> bool:
        return all(symbol in self.productive or symbol not in self.by_head for symbol in rule.body)

    def _closed(self, rules: Sequence[Alternative]) -> frozenset[str]:
        """Returns the smallest set of heads of rules whose nonterminals are all in the set, in linear time."""
        waiting: dict[str, list[int]] = {}
        open_symbols = []
        for number, rule in enumerate(rules):
            needed = {symbol for symbol in rule.body if symbol in self.by_head}
            open_symbols.append(len(needed))
            for symbol in needed:
                waiting.setdefault(symbol, []).append(number)
        queue = [rule.head for rule, needed in zip(rules, open_symbols, strict=True) if not needed]
        closed: set[str] = set()
        for head in queue:  # grows while it is read
            if head in closed:
                continue
            closed.add(head)
            for number in waiting.get(head, ()):
                open_symbols[number] -= 1
                if not open_symbols[number]:
                    queue.append(rules[number].head)
        return frozenset(closed)

    def _met(self, follow: Callable[[Alternative], bool]) -> frozenset[str]:
        queue, met = [self.start], {self.start}
        for head in queue:  # grows while it is read
            for rule in filter(follow, self.by_head[head]):
                for symbol in rule.body:
                    if symbol in self.by_head and symbol not in met:
                        met.add(symbol)
                        queue.append(symbol)
        return frozenset(met)

    def _spelled(self, symbol: str) -> str:
        plain = spelled(symbol)
        return f"'{symbol}'" if plain == symbol and symbol[0].isupper() and symbol not in self.by_head else plain

    def __str__(self) -> str:
        lines = []
        for head, rules in self.by_head.items():
            bodies = [" ".join([*map(self._spelled, rule.body), f"[{rule.weight}]"]) for rule in rules]
            lines.append(f"{head} -> {' | '.join(bodies)}")
        return "\n".join(lines)


def read(path: str | Path) -> ContextFreeGrammar:
    """Returns the grammar in a file."""
    return parse(read_text(path), file=str(path))


def parse(text: str, file: str = "text") -> ContextFreeGrammar:
    """Reads lines `HEAD -> symbols [weight] | symbols [weight]`; lines with the same head add to it.

    No symbol, or `ε`, is the empty string. Alternatives of a head without a weight share what the others leave.
    """
    words = tokens(text, file)
    reader = _Reader()
    for statement in statements(words):
        reader.line(statement)
    if not reader.bodies:
        raise words[-1].error("a rule such as `S -> a S b | a b`")
    return reader.grammar()


class _Reader:
    """Collects the alternatives of a file, each with the tokens that errors point to."""

    def __init__(self) -> None:
        self.heads: dict[str, Token] = {}
        self.bodies: list[tuple[str, list[Token], Fraction | None, Token]] = []  # the last: where the alternative is
        self.symbols = 0

    def line(self, statement: list[Token]) -> None:
        """Returns one line of the file, with its closing token."""
        head, *rest = statement
        if head.kind != "symbol" or head.quoted or head.is_word(EMPTY):
            raise head.error("the left side of a rule, such as `S` in `S -> a S b`", hint=_hint_head(head))
        if not rest[0].is_operator("->"):
            raise rest[0].error(f"`->` after the left side `{shortened(head.text)}`")
        self.heads.setdefault(head.text, head)
        body: list[Token] = []
        weight: Token | None = None
        place = rest[0]
        for token in rest[1:]:
            closing = token.kind in ("newline", "end")
            if closing or token.is_operator("|"):
                self._add(head, body, weight, body[0] if body else weight or place)
                body, weight, place = [], None, token
            elif token.kind == "weight":
                if weight is not None:
                    raise token.error("`|` or the end of the line after the weight", hint="An alternative has one.")
                weight = token
            elif token.kind == "symbol":
                if weight is not None:
                    raise token.error("`|` or the end of the line after the weight", hint="It comes last.")
                body.append(token)
            elif token.is_operator("->"):
                raise token.error("a symbol, a weight, `|` or the end of the line", hint=HINT_ARROW)
            else:
                raise token.error("a symbol, a weight, `|` or the end of the line")

    def _add(self, head: Token, body: list[Token], weight: Token | None, place: Token) -> None:
        for token in body:
            if token.is_word(EMPTY) and len(body) > 1:
                raise token.error("no other symbol beside it", hint=f"`{EMPTY}` is the empty string: leave it out.")
        body = [token for token in body if not token.is_word(EMPTY)]
        self.symbols += len(body)
        for count, most, of in (
            (len(body), LONGEST_BODY, "symbols in one alternative"),
            (len(self.bodies) + 1, MOST_ALTERNATIVES, "alternatives"),
            (self.symbols, MOST_BODY_SYMBOLS, "symbols in all alternatives"),
        ):
            if count > most:
                raise place.problem(f"the grammar has more than {most:,} {of}, the limit. Write a smaller grammar.")
        self.bodies.append((head.text, body, None if weight is None else weight.weight, place))

    def grammar(self) -> ContextFreeGrammar:
        """Checks what needs the whole file: names, repetitions and sums."""
        seen: dict[tuple[str, Body], Token] = {}
        for head, body, _, place in self.bodies:
            for token in body:
                self._check_symbol(token)
            key = head, tuple(token.text for token in body)
            if key in seen:
                shown = f"{head} -> {' '.join(map(str, body)) or EMPTY}"
                raise place.problem(
                    f"the rule `{shortened(shown)}` is already in line {seen[key].line}. Write it once, "
                    "with the sum of the weights."
                )
            seen[key] = place
        alternatives: dict[int, Alternative] = {}
        for head, token in self.heads.items():
            numbers = [number for number, body in enumerate(self.bodies) if body[0] == head]
            weights = self._shares([self.bodies[number][2] for number in numbers], token, numbers)
            for number, weight in zip(numbers, weights, strict=True):
                _, body, _, place = self.bodies[number]
                symbols = tuple(symbol.text for symbol in body)
                alternatives[number] = Alternative(head, symbols, weight, place.line, place.column)
        weighted = any(weight is not None for _, _, weight, _ in self.bodies)
        return ContextFreeGrammar([alternatives[number] for number in sorted(alternatives)], weighted=weighted)

    def _shares(self, weights: list[Fraction | None], head: Token, numbers: list[int]) -> list[Fraction]:
        given = Fraction(0)
        for weight, number in zip(weights, numbers, strict=True):
            given += weight or 0
            if given > 1 + Fraction(1, 10**9):
                raise self.bodies[number][3].problem(
                    f"with this alternative the weights of `{head.text}` sum to {float(given):g}, more than 1. "
                    "Lower them."
                )
        return shares(weights, f"`{head.text}`", head)

    def _check_symbol(self, token: Token) -> None:
        if token.quoted and token.text in self.heads:
            raise token.problem(
                f"'{token.text}' in quotes is a symbol of strings, but `{token.text}` is also the left side of a rule. "
                "Rename one of them, or leave out the quotes."
            )
        if not token.quoted and token.text not in self.heads and token.text[0].isupper():
            raise self._no_rule(token)

    def _no_rule(self, token: Token) -> ParseError:
        near = difflib.get_close_matches(token.text, self.heads, n=1, cutoff=0.5)
        guess = f" Did you mean `{near[0]}`?" if near else ""
        return token.problem(
            f"`{shortened(token.text)}` is capitalised like a nonterminal, but has no rule.{guess} Add a rule, or "
            f"quote it to use it as a symbol of strings: '{shortened(token.text)}'."
        )


def to_core(string: Sequence[str]) -> Body:
    """Returns a string for `ContextFreeGrammar.core`."""
    return tuple(HASH if symbol == END else symbol for symbol in string)


def from_core(string: Sequence[str]) -> Body:
    """Returns a string from `ContextFreeGrammar.core`."""
    return tuple(END if symbol == HASH else symbol for symbol in string)


HINT_ARROW = "Each rule needs its own line."


def _hint_head(head: Token) -> str:
    if head.is_operator("|"):
        return "Alternatives on a new line begin with the left side and `->` again."
    return "A left side is a name without quotes." if head.kind == "symbol" else ""
