"""A proof that a grammar is unambiguous: it can be parsed from left to right without a choice (Knuth 1965).

>>> from humboldt.languages.formal.grammar_file import parse
>>> is_lr1(parse("S -> a S b | a b")), is_lr1(parse("S -> a S a | b S b | a | b"))
(True, False)
"""

from humboldt.languages.formal.grammar_file import ContextFreeGrammar

MOST_ITEMS = 100_000

State = dict[tuple[int, int], int]  # (rule, dot) and the symbols that may follow the rule, as the bits of an integer


def is_unambiguous(grammar: ContextFreeGrammar) -> bool:
    """Returns whether the grammar is LR(1), read forwards or backwards. False decides nothing."""
    return is_lr1(grammar) or is_lr1(grammar, backwards=True)


def is_lr1(grammar: ContextFreeGrammar, *, backwards: bool = False) -> bool:
    """Returns whether tables of at most `MOST_ITEMS` items show that the useful part of the grammar is LR(1)."""
    rules = [("", (grammar.start,))]
    rules += [(rule.head, rule.body[::-1] if backwards else rule.body) for rule in grammar.useful]
    return len(rules) > 1 and _Automaton(rules, grammar.alphabet).is_deterministic()


class _Automaton:
    def __init__(self, rules: list[tuple[str, tuple[str, ...]]], alphabet: tuple[str, ...]) -> None:
        self.rules = rules
        self.bits = {symbol: 1 << place for place, symbol in enumerate(alphabet)}
        self.end = 1 << len(alphabet)
        self.by_head: dict[str, list[int]] = {}
        for number, (head, _) in enumerate(rules):
            self.by_head.setdefault(head, []).append(number)
        self.nullable: set[str] = set()
        self.first = dict.fromkeys(self.by_head, 0)
        changed = True
        while changed:
            changed = False
            for head, body in rules:
                first, empty = self.first_of(body)
                if first & ~self.first[head] or (empty and head not in self.nullable):
                    changed = True
                    self.first[head] |= first
                    if empty:
                        self.nullable.add(head)

    def first_of(self, body: tuple[str, ...]) -> tuple[int, bool]:
        """Returns the terminals that strings of `body` begin with, and whether it can be empty."""
        terminals = 0
        for symbol in body:
            if symbol not in self.by_head:
                return terminals | self.bits[symbol], False
            terminals |= self.first[symbol]
            if symbol not in self.nullable:
                return terminals, False
        return terminals, True

    def closed(self, kernel: State) -> State:
        """Returns the items of a state, given those after the symbol that leads to it."""
        items = dict(kernel)
        pending = list(kernel)
        while pending:
            rule, dot = pending.pop()
            body = self.rules[rule][1]
            if dot == len(body) or body[dot] not in self.by_head:
                continue
            follow, empty = self.first_of(body[dot + 1 :])
            follow |= items[rule, dot] if empty else 0
            for option in self.by_head[body[dot]]:
                known = items.get((option, 0))
                if known is None or follow & ~known:
                    items[option, 0] = (known or 0) | follow
                    pending.append((option, 0))
        return items

    def is_deterministic(self) -> bool:
        """Returns whether no state leaves a choice between two actions."""
        start: State = {(0, 0): self.end}
        pending, seen, items = [start], {frozenset(start.items())}, 0
        while pending:
            state = self.closed(pending.pop())
            items += len(state)
            if items > MOST_ITEMS:
                return False
            kernels: dict[str, State] = {}
            taken = 0
            for (rule, dot), follow in state.items():
                body = self.rules[rule][1]
                if dot == len(body):
                    if taken & follow:
                        return False
                    taken |= follow
                else:
                    kernels.setdefault(body[dot], {})[rule, dot + 1] = follow
            for symbol, kernel in kernels.items():
                if taken & self.bits.get(symbol, 0):
                    return False
                key = frozenset(kernel.items())
                if key not in seen:
                    seen.add(key)
                    pending.append(kernel)
        return True
