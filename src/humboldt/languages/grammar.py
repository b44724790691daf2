"""Probabilistic context-free grammars, given as text.

>>> grammar = Grammar.parse("S -> a S b [0.7] | [0.3]")
>>> round(grammar.probability("a a b b".split()), 6)
0.147
>>> [" ".join(string) for string in grammar.strings(longest=4)]
['', 'a b', 'a a b b']
>>> sorted(grammar.valid_next("a a b".split()))
['b']
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.chart import END, Chart, Column

PROBABILITY = re.compile(r"\[([0-9.eE+-]+)\]")
FORM = "Write a rule as `S -> a S b [0.7] | [0.3]`: symbols and probabilities separated by spaces."


@dataclass(frozen=True)
class Rule:
    """`head` becomes `body` with `probability`; the empty body is the empty string."""

    head: str
    body: tuple[str, ...]
    probability: float
    line: int = field(default=0, compare=False)  # its line in the text, for messages

    def __str__(self) -> str:
        return f"{' '.join((self.head, '->', *self.body))} [{self.probability:g}]"


class Grammar:
    """A probabilistic context-free grammar. The head of the first rule is the start symbol; heads are nonterminals.

    **Arguments:**

    - `rules`: in the order in which sampling chooses among the rules of a head.
    - `alphabet`: the terminals, in the order that enumeration follows; by default in order of appearance.
    """

    def __init__(self, rules: Sequence[Rule], alphabet: Sequence[str] | None = None) -> None:
        if not rules:
            raise UsageError(f"The grammar has no rule, so it has no start symbol. {FORM}")
        self.rules = tuple(rules)
        self.start = rules[0].head
        self.by_head: dict[str, list[Rule]] = {}
        for rule in rules:
            self.by_head.setdefault(rule.head, []).append(rule)
        for head, alternatives in self.by_head.items():
            _check_probabilities(head, alternatives)
        terminals = dict.fromkeys(symbol for rule in rules for symbol in rule.body if symbol not in self.by_head)
        self.alphabet = tuple(terminals) if alphabet is None else tuple(alphabet)
        for symbol in terminals:
            if symbol == END or symbol not in self.alphabet:
                reason = "it marks the boundary of strings" if symbol == END else "it is not in the alphabet given"
                raise UsageError(
                    f"The rules use the terminal {symbol!r}, but {reason}. Rename it, or give it rules of its own."
                )
        self.chart = Chart(self.start, tuple((rule.head, rule.body) for rule in rules))

    @classmethod
    def parse(cls, text: str, alphabet: Sequence[str] | None = None) -> "Grammar":
        """Reads one line per head: `HEAD -> symbols [probability] | symbols [probability]`.

        Nothing before a probability (or `ε`) is the empty string. A head with a single rule may leave out `[1]`.
        """
        rules: list[Rule] = []
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                rules.extend(_parse_line(number, line.split()))
        return cls(rules, alphabet)

    def sample(
        self, rng: np.random.RandomState | np.random.Generator, *, most_expansions: int = 1_000_000
    ) -> list[str]:
        """Returns one random string.

        The leftmost nonterminal is expanded, with one `rng.choice` each time, also where a head has a single rule:
        corpora published outside Humboldt were drawn this way, and any other order would give other strings.
        """
        string: list[str] = []
        pending = [self.start]  # the rest of the sentential form, leftmost symbol last
        expansions = 0
        while pending:
            symbol = pending.pop()
            if symbol not in self.by_head:
                string.append(symbol)
                continue
            expansions += 1
            if expansions > most_expansions:
                raise UsageError(
                    f"A derivation from {self.start!r} had not ended after {most_expansions:,} expansions. A grammar "
                    "must end with probability one to be sampled. Make its recursive rules less probable."
                )
            alternatives = self.by_head[symbol]
            choice = rng.choice(len(alternatives), p=[rule.probability for rule in alternatives])
            pending.extend(reversed(alternatives[choice].body))
        return string

    def valid_next(self, prefix: Sequence[str]) -> frozenset[str]:
        """Returns the symbols that can follow `prefix` in some string of the language, with `#` if it can end.

        Raises an error that names the first wrong position if no string begins with `prefix`.
        """
        return self.chart.column(prefix).valid_next

    def accepts(self, string: Sequence[str]) -> bool:
        """Returns whether `string` is in the language."""
        column: Column | None = self.chart.root
        for symbol in string:
            column = column.advance(symbol)
            if column is None:
                return False
        return END in column.valid_next

    def of_length(self, length: int) -> Iterator[tuple[str, ...]]:
        """Yields all strings with `length` symbols, each once, in lexicographic order, with one string in memory."""
        trail: list[tuple[Column, Iterator[str]]] = [(self.chart.root, iter(self.alphabet))]
        string: list[str] = []
        if not self.chart.root.can_end_after(length):
            return
        while trail:
            column, symbols = trail[-1]
            if len(string) == length:
                yield tuple(string)
                symbols = iter(())
            for symbol in symbols:
                child = column.advance(symbol)
                if child is not None and child.can_end_after(length - len(string) - 1):
                    string.append(symbol)
                    trail.append((child, iter(self.alphabet)))
                    break
            else:
                trail.pop()
                if string:
                    string.pop()

    def strings(self, longest: int) -> Iterator[tuple[str, ...]]:
        """Yields all strings up to `longest` symbols, by length, then lexicographically."""
        for length in range(longest + 1):
            yield from self.of_length(length)

    @cached_property
    def heads(self) -> dict[str, int]:
        """The row of every nonterminal in matrices."""
        return {head: row for row, head in enumerate(self.by_head)}

    @cached_property
    def empty_probability(self) -> dict[str, float]:
        """The probability that each nonterminal derives the empty string.

        The least solution of e_A = Σ P(A -> B C ...) e_B e_C ..., by Newton's method from 0, which climbs to it
        monotonically (Etessami and Yannakakis 2009).
        """
        values = np.zeros(len(self.heads))
        for _ in range(100):
            image, slope = np.zeros_like(values), np.zeros((len(values), len(values)))
            for rule in self.rules:
                if not self.chart.nullable.issuperset(rule.body):  # this also skips heads that never end
                    continue
                rows = [self.heads[symbol] for symbol in rule.body]
                row = self.heads[rule.head]
                image[row] += rule.probability * math.prod(values[rows])
                for i, column in enumerate(rows):
                    slope[row, column] += rule.probability * math.prod(values[rows[:i] + rows[i + 1 :]])
            try:
                change = np.linalg.solve(np.eye(len(values)) - slope, image - values)
            except np.linalg.LinAlgError:  # reached the double root of a critical grammar exactly
                break
            values = values + change
            if np.abs(change).max() < 1e-16:
                break
        return {head: float(values[row]) for head, row in self.heads.items()}

    def probability(self, string: Sequence[str]) -> float:
        """Returns the probability of `string`, summed over its derivations (inside algorithm)."""
        string = tuple(string)
        if not string:
            return self.empty_probability[self.start]
        if not set(string) <= set(self.alphabet):
            return 0.0
        return _inside(self, string)

    def _expected_visits(self) -> np.ndarray | None:
        """Returns the mean expansions of each nonterminal in a derivation, shape `(heads,)`; `None` if infinite."""
        offspring = np.zeros((len(self.heads), len(self.heads)))
        for rule in self.rules:
            for symbol in rule.body:
                if symbol in self.heads:
                    offspring[self.heads[rule.head], self.heads[symbol]] += rule.probability
        if np.abs(np.linalg.eigvals(offspring)).max() >= 1 - 1e-12:
            return None
        return np.linalg.solve(np.eye(len(offspring)) - offspring.T, np.eye(len(offspring))[0])

    def expected_length(self) -> float:
        """Returns the mean length of a sampled string; infinite where derivations grow as fast as they end."""
        visits = self._expected_visits()
        if visits is None:
            return math.inf
        terminals = [rule.probability * sum(symbol not in self.heads for symbol in rule.body) for rule in self.rules]
        return float(sum(visits[self.heads[rule.head]] * n for rule, n in zip(self.rules, terminals, strict=True)))

    def entropy(self) -> float:
        """Returns the entropy of derivations in bits; also that of strings if every string has one derivation."""
        visits = self._expected_visits()
        if visits is None:
            return math.inf
        bits = [-rule.probability * math.log2(rule.probability) for rule in self.rules]
        return float(sum(visits[self.heads[rule.head]] * n for rule, n in zip(self.rules, bits, strict=True)))


def _check_probabilities(head: str, alternatives: Sequence[Rule]) -> None:
    lines = sorted({rule.line for rule in alternatives if rule.line})
    where = f"Line {' and '.join(map(str, lines))}, " if lines else ""
    for rule in alternatives:
        if not 0 < rule.probability <= 1:
            raise UsageError(
                f"{where}rule `{rule}`, has probability {rule.probability:g}, which is not in (0, 1]. "
                "Correct it, or leave the rule out."
            )
    total = math.fsum(rule.probability for rule in alternatives)
    if abs(total - 1) > 1e-9:
        listing = " | ".join(" ".join([*rule.body, f"[{rule.probability:g}]"]) for rule in alternatives)
        raise UsageError(
            f"{where}rules `{head} -> {listing}`, have probabilities that sum to {total:g}. "
            "Those of one head must sum to 1: change them."
        )


def _parse_line(number: int, tokens: list[str]) -> Iterator[Rule]:
    if len(tokens) < 2 or tokens[1] != "->" or tokens[0] in ("->", "|"):
        raise UsageError(f"Line {number}, `{' '.join(tokens)}`, does not begin with a head and `->`. {FORM}")
    alternatives: list[list[str]] = [[]]
    for token in tokens[2:]:
        if token == "|":
            alternatives.append([])
        else:
            alternatives[-1].append(token)
    for body in alternatives:
        shown = f"Line {number}, rule `{' '.join([tokens[0], '->', *body])}`,"
        match = PROBABILITY.fullmatch(body[-1]) if body else None
        if match is None and (len(alternatives) > 1 or not body):
            raise UsageError(f"{shown} has no probability. {FORM}")
        symbols = [symbol for symbol in (body if match is None else body[:-1]) if symbol != "ε"]
        if "->" in symbols or any(PROBABILITY.fullmatch(symbol) for symbol in symbols):
            raise UsageError(f"{shown} holds more than one rule. Put `|` between the rules of one head. {FORM}")
        try:
            probability = 1.0 if match is None else float(match[1])
        except ValueError:
            raise UsageError(f"{shown} has a probability that is not a number. {FORM}") from None
        yield Rule(tokens[0], tuple(symbols), probability, number)


def _inside(grammar: Grammar, string: tuple[str, ...]) -> float:
    """Returns the probability of `string`, from the inside probabilities of all spans, shortest first.

    Symbols of a rule may be empty, so the probability b of a span depends on itself: b = c + U b, where U[A, B] is
    the probability that A derives B alone, and c sums the ways that split the span. Hence
    b = (I - U)^-1 c. `rest[r, k][i, j]` is the probability that the body of rule r from position k on derives i..j.
    """
    size, heads, empty = len(string), grammar.heads, grammar.empty_probability
    blank = [[empty.get(symbol, 0.0) for symbol in rule.body] for rule in grammar.rules]
    unit = np.zeros((len(heads), len(heads)))
    for rule, chances in zip(grammar.rules, blank, strict=True):
        for k, symbol in enumerate(rule.body):
            if symbol in grammar.chart.nonempty:  # others contribute nothing, and could make the matrix singular
                others = math.prod(chances[:k]) * math.prod(chances[k + 1 :])
                unit[heads[rule.head], heads[symbol]] += rule.probability * others
    closure = np.linalg.inv(np.eye(len(heads)) - unit)

    inside = np.zeros((len(heads), size + 1, size + 1))
    word = {symbol: np.diag([float(s == symbol) for s in string], 1) for symbol in grammar.alphabet}
    rest = {
        (r, k): np.diag(np.full(size + 1, math.prod(blank[r][k:])))
        for r, rule in enumerate(grammar.rules)
        for k in range(len(rule.body) + 1)
    }
    for span in range(1, size + 1):
        for i in range(size - span + 1):
            j = i + span
            split: dict[tuple[int, int], float] = {}
            for r, rule in enumerate(grammar.rules):
                split[r, len(rule.body)] = 0.0
                for k in reversed(range(len(rule.body))):
                    symbol = rule.body[k]
                    table = inside[heads[symbol]] if symbol in heads else word[symbol]
                    value = table[i, i + 1 : j] @ rest[r, k + 1][i + 1 : j, j] + blank[r][k] * split[r, k + 1]
                    if symbol not in heads:
                        value += table[i, j] * rest[r, k + 1][j, j]
                    split[r, k] = float(value)
            ways = np.zeros(len(heads))
            for r, rule in enumerate(grammar.rules):
                ways[heads[rule.head]] += rule.probability * split[r, 0]
            inside[:, i, j] = closure @ ways
            for r, rule in enumerate(grammar.rules):
                alone = 0.0  # one symbol from k on derives the whole span
                for k in reversed(range(len(rule.body))):
                    symbol = rule.body[k]
                    whole = inside[heads[symbol], i, j] if symbol in heads else 0.0
                    alone = whole * rest[r, k + 1][j, j] + blank[r][k] * alone
                    rest[r, k][i, j] = split[r, k] + alone
    return float(inside[heads[grammar.start], 0, size])
