"""The `.automaton` format: one statement a line.

    start even          # one state
    accept even [0.3]   # one or more states, each with a weight or none
    even 1 odd          # from `even`, the symbol `1` leads to `odd`; a missing transition rejects
    odd 1 even

Where a weight is written, the automaton is weighted: the weights of a state's transitions and of stopping in it form a
distribution, in which those without a weight share equally what is left.

>>> parity = parse_automaton("start even \\n accept even \\n even 1 odd \\n odd 1 even")
>>> parity.accepts(["1", "1"]), parity.names
(True, ('even', 'odd'))
"""

import difflib
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from humboldt.languages.formal.automaton import MISSING, MOST_STATES, Automaton, refuse_size
from humboldt.languages.formal.text import EMPTY, Token, shares, spelled, statements, tokens

FORM = "Statements are `start STATE`, `accept STATE`, and `STATE SYMBOL STATE`."


@dataclass
class _Statements:
    """The statements read so far, with their tokens, which hold the places for errors."""

    start: Token | None = None
    accept: dict[str, tuple[Token, Fraction | None]] = field(default_factory=dict)
    moves: dict[str, dict[str, tuple[Token, str, Fraction | None]]] = field(default_factory=dict)
    mentions: dict[str, Token] = field(default_factory=dict)  # the first of each state

    def state(self, token: Token, expected: str = "the name of a state") -> str:
        if token.kind != "symbol":
            raise token.error(expected, hint="Operators and brackets must be quoted.")
        self.mentions.setdefault(token.text, token)
        if len(self.mentions) > MOST_STATES:
            raise token.problem(f"the automaton has more than {MOST_STATES:,} states, the limit.")
        return token.text


def parse_automaton(text: str, file: str = "text") -> Automaton:
    """Reads an automaton. States are numbered in order of appearance, the start first."""
    words = tokens(text, file)
    content = _Statements()
    for statement in statements(words):
        _read(statement, content)
    end = words[-1]
    if content.start is None:
        raise end.error("a line such as `start even`, which names the start", hint="" if content.mentions else FORM)
    if not content.accept:
        raise end.error("a line such as `accept even`, which names a state that accepts")
    _check_defined(content)
    automaton = _built(content)
    _check_each(
        automaton,
        automaton.reachable,
        content,
        "cannot be reached from the start. Add a transition to it, or leave it out.",
    )
    if not _is_weighted(content):
        return automaton
    endless = "cannot reach a state that accepts, so strings would not end. Leave it out: a missing transition rejects."
    _check_each(automaton, automaton.live, content, endless)
    return _weighted(automaton, content)


def _read(statement: list[Token], content: _Statements) -> None:
    head = statement[0]
    if head.is_word("start"):
        content.state(statement[1])
        _end(statement, 2, "the end of the line: an automaton has one start")
        if content.start is not None:
            raise head.problem(f"a second start; line {content.start.line} names the first. Keep one.")
        content.start = statement[1]
    elif head.is_word("accept"):
        _read_accept(statement, content)
    else:
        _read_transition(statement, content)


def _read_accept(statement: list[Token], content: _Statements) -> None:
    content.state(statement[1])
    position = 1
    while statement[position].kind not in ("newline", "end"):
        token = statement[position]
        name = content.state(token, "the name of a state, or the end of the line")
        position += 1
        weight = statement[position].weight
        position += weight is not None
        if name in content.accept:
            earlier = content.accept[name][0]
            raise token.problem(f"state {name!r} already accepts, by line {earlier.line}. List it once.")
        content.accept[name] = (token, weight)


def _read_transition(statement: list[Token], content: _Statements) -> None:
    head, symbol = statement[0], statement[1]
    if head.kind != "symbol":
        raise head.error("a statement", hint=FORM)
    if symbol.kind != "symbol" or statement[2].kind != "symbol":
        at = symbol if symbol.kind != "symbol" else statement[2]
        known = difflib.get_close_matches(head.text, ("start", "accept"), n=1)
        guess = f"Did you mean `{known[0]}`? " if known and not head.quoted else ""
        raise at.error(
            f"a {'symbol' if at is symbol else 'state'} after `{head}`",
            hint=f"{guess}{FORM} Operators and brackets must be quoted.",
        )
    if symbol.is_word(EMPTY):
        raise symbol.error(
            "a symbol", hint=f"Every transition reads one. To use `{EMPTY}` itself, quote it: '{EMPTY}'."
        )
    weight = statement[3].weight
    _end(statement, 3 if weight is None else 4, "a weight such as `[0.5]` or the end of the line")
    source, target = content.state(head), content.state(statement[2])
    moves = content.moves.setdefault(source, {})
    if symbol.text in moves:
        earlier = moves[symbol.text][0]
        raise symbol.problem(
            f"state {source!r} has a second transition for {spelled(symbol.text)}; line {earlier.line} has the first. "
            "An automaton is deterministic: keep one, or write a regular expression."
        )
    moves[symbol.text] = (statement[2], target, weight)


def _end(statement: list[Token], position: int, expected: str) -> None:
    if statement[position].kind not in ("newline", "end"):
        raise statement[position].error(expected)


def _check_defined(content: _Statements) -> None:
    defined = content.moves.keys() | content.accept.keys()
    for name, token in content.mentions.items():
        if name not in defined:
            nearest = difflib.get_close_matches(name, sorted(defined), n=1)
            guess = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise token.problem(
                f"state {name!r} is not defined: it has no transition and does not accept.{guess} Add a line for it, "
                "or leave out the transitions to it: a missing transition rejects."
            )


def _check_each(automaton: Automaton, holds: np.ndarray, content: _Statements, problem: str) -> None:
    if not holds.all():
        name = automaton.names[int(np.argmin(holds))]
        raise content.mentions[name].problem(f"state {name!r} {problem}")


def _built(content: _Statements) -> Automaton:
    """Returns the automaton without its weights."""
    assert content.start is not None
    names = tuple(dict.fromkeys((content.start.text, *content.mentions)))
    alphabet = tuple(sorted({symbol for moves in content.moves.values() for symbol in moves}))
    refuse_size(len(names), len(alphabet))
    numbers = {name: number for number, name in enumerate(names)}
    columns = {symbol: column for column, symbol in enumerate(alphabet)}
    table = np.full((len(names), len(alphabet)), MISSING, np.int32)
    for source, moves in content.moves.items():
        for symbol, (_, target, _) in moves.items():
            table[numbers[source], columns[symbol]] = numbers[target]
    accepting = np.array([name in content.accept for name in names])
    return Automaton(alphabet, table, accepting, 0, names)


def _is_weighted(content: _Statements) -> bool:
    stops = any(weight is not None for _, weight in content.accept.values())
    return stops or any(weight is not None for moves in content.moves.values() for _, _, weight in moves.values())


def _weighted(automaton: Automaton, content: _Statements) -> Automaton:
    moves = np.zeros(automaton.table.shape)
    stops = np.zeros(len(automaton))
    for number, name in enumerate(automaton.names):
        ways = content.moves.get(name, {})
        weights = [weight for _, _, weight in ways.values()]
        if name in content.accept:
            weights.append(content.accept[name][1])
        shared = [float(share) for share in shares(weights, f"state {name!r}", content.mentions[name])]
        if name in content.accept:
            stops[number] = shared.pop()
        for symbol, share in zip(ways, shared, strict=True):
            moves[number, automaton.ids[symbol]] = share
    return Automaton(
        automaton.alphabet, automaton.table, automaton.accepting, automaton.start, automaton.names, moves, stops
    )
