"""An Earley chart that computes the symbols that can follow a prefix, one column per symbol.

Columns point to earlier columns, so strings with a common prefix share the columns of that prefix.
"""

from collections.abc import Sequence

from humboldt.errors import UsageError

END = "#"
Body = tuple[str, ...]


class Chart:
    """The columns of one grammar, given as `(head, body)` rules without probabilities."""

    def __init__(self, start: str, rules: Sequence[tuple[str, Body]]) -> None:
        heads = {head for head, _ in rules}
        productive = _closure(rules, heads)
        if start not in productive:
            raise UsageError(
                f"The start symbol {start!r} derives no finite string: each of its rules leads back to a nonterminal "
                f"that never ends. Add a rule such as `{start} -> [0.5]`."
            )
        # Without unproductive rules, every item of a column belongs to some complete string.
        self.start = start
        self.bodies: dict[str, list[Body]] = {head: [] for head in heads}
        for head, body in rules:
            if all(symbol in productive or symbol not in heads for symbol in body):
                self.bodies[head].append(body)
        self.nullable = _closure([rule for rule in rules if all(symbol in heads for symbol in rule[1])], heads)
        self.nonempty: set[str] = set()  # nonterminals that derive a string of at least one symbol
        for _ in heads:
            self.nonempty |= {
                head
                for head, bodies in self.bodies.items()
                if any(symbol in self.nonempty or symbol not in heads for body in bodies for symbol in body)
            }
        self._lengths: tuple[int, dict[str, int]] = (-1, {})
        self.root = Column(self, [(start, body, 0, None) for body in self.bodies[start]], 0)
        self._trail: list[tuple[str, Column]] = []

    def column(self, prefix: Sequence[str]) -> "Column":
        """Returns the column after `prefix`. The last prefix is cached, so extending it by a symbol adds one column."""
        shared = 0
        for symbol, (known, _) in zip(prefix, self._trail, strict=False):
            if symbol != known:
                break
            shared += 1
        del self._trail[shared:]
        column = self._trail[-1][1] if self._trail else self.root
        for position in range(shared, len(prefix)):
            child = column.advance(prefix[position])
            if child is None:
                raise outside(prefix, position, column.valid_next)
            self._trail.append((prefix[position], child))
            column = child
        return column

    def lengths(self, longest: int) -> dict[str, int]:
        """Returns the lengths of each nonterminal's strings, up to `longest`, as the bits of an integer."""
        if self._lengths[0] < longest:
            limit = (2 << max(longest, 2 * self._lengths[0])) - 1
            masks = dict.fromkeys(self.bodies, 0)
            changed = True
            while changed:
                changed = False
                for head, bodies in self.bodies.items():
                    grown = masks[head]
                    for body in bodies:
                        grown |= _sum(body, masks, limit)
                    changed |= grown != masks[head]
                    masks[head] = grown
            self._lengths = (limit.bit_length() - 1, masks)
        return self._lengths[1]


# Head, body, position of the dot, and the column where the item began (`None`: the column that holds the item).
Item = tuple[str, Body, int, "Column | None"]


class Column:
    """All partial derivations of a prefix: rules with a dot, and the column where each began."""

    __slots__ = ("_ends", "_outer", "chart", "depth", "items", "scans", "valid_next", "waiting")

    def __init__(self, chart: Chart, seeds: list[Item], depth: int) -> None:
        self.chart = chart
        self.depth = depth
        self.waiting: dict[str, list[Item]] = {}
        self.scans: dict[str, list[Item]] = {}
        self._ends: tuple[int, int] = (-1, 0)  # see `can_end_after`
        self._outer: tuple[int, dict[str, int]] = (-1, {})  # see `_outer_lengths`
        root = None if depth == 0 else chart.root
        ends = False
        queue, seen = list(seeds), set(seeds)

        def add(item: Item) -> None:
            if item not in seen:
                seen.add(item)
                queue.append(item)

        for item in queue:  # grows while it is read
            head, body, dot, origin = item
            if dot == len(body):
                ends |= head == chart.start and origin is root
                for parent, outer, at, began in (self if origin is None else origin).waiting.get(head, ()):
                    # `None` means the column that holds the item: here that is `origin`.
                    add((parent, outer, at + 1, origin if began is None else began))
            elif body[dot] in chart.bodies:
                symbol = body[dot]
                if symbol not in self.waiting:
                    self.waiting[symbol] = []
                    for option in chart.bodies[symbol]:
                        add((symbol, option, 0, None))
                self.waiting[symbol].append(item)
                if symbol in chart.nullable:  # its completion may have been processed before this item
                    add((head, body, dot + 1, origin))
            else:
                self.scans.setdefault(body[dot], []).append(item)
        self.items = queue
        self.valid_next = frozenset(self.scans) | (frozenset((END,)) if ends else frozenset())

    def advance(self, symbol: str) -> "Column | None":
        """Returns the column after one more symbol, or `None` if that symbol cannot follow."""
        items = self.scans.get(symbol)
        if items is None:
            return None
        seeds: list[Item] = [(h, body, dot + 1, self if began is None else began) for h, body, dot, began in items]
        return Column(self.chart, seeds, self.depth + 1)

    def can_end_after(self, length: int) -> bool:
        """Returns whether exactly `length` more symbols can complete a string."""
        if self._ends[0] < length:
            lengths, limit = self.chart.lengths(length), (2 << length) - 1
            mask = 0
            for head, body, dot, began in self.items:
                outer = (self if began is None else began)._outer_lengths(length)
                mask |= _add(_sum(body[dot:], lengths, limit), outer.get(head, 0), limit)
            self._ends = (length, mask)
        return bool(self._ends[1] >> length & 1)

    def _outer_lengths(self, longest: int) -> dict[str, int]:
        """Returns the numbers of symbols, up to `longest`, that can follow each nonterminal that began here.

        Each set of numbers is the bits of an integer. Items point to earlier columns, so these are computed first, in
        a loop because there can be thousands.
        """
        needed: set[Column] = {self}
        pending: list[Column] = [self]
        while pending:
            for *_, began in pending.pop().items:
                if began is not None and began._outer[0] < longest and began not in needed:
                    needed.add(began)
                    pending.append(began)
        lengths, limit = self.chart.lengths(longest), (2 << longest) - 1
        for column in sorted(needed, key=lambda column: column.depth):
            if column._outer[0] >= longest:
                continue
            table = {self.chart.start: 1} if column.depth == 0 else {}
            column._outer = (longest, table)
            changed = True
            while changed:  # rules that began in the same column may lead to each other
                changed = False
                for symbol, items in column.waiting.items():
                    grown = table.get(symbol, 0)
                    for head, body, dot, began in items:
                        beyond = (column if began is None else began)._outer[1].get(head, 0)
                        grown |= _add(_sum(body[dot + 1 :], lengths, limit), beyond, limit)
                    changed |= grown != table.get(symbol, 0)
                    table[symbol] = grown
        return self._outer[1]


def outside(string: Sequence[str], position: int, valid: frozenset[str]) -> UsageError:
    """Returns the error for a string that leaves the language at `position`."""
    given = repr(string[position]) if position < len(string) else "the end"
    options = " or ".join(repr(symbol) for symbol in sorted(valid)) or "nothing"
    return UsageError(
        f"{spell(string)!r} is not in the language: at position {position}, after {spell(string[:position])!r}, "
        f"comes {given}, where only {options} can follow ({END!r} is the end). Correct or remove the string."
    )


def spell(string: Sequence[str], most: int = 40) -> str:
    """Returns the symbols as one line; the runs of a long string are written as powers.

    >>> spell("aab"), spell("a" * 500 + "b")
    ('a a b', 'a^500 b')
    """
    if len(string) <= most:
        return " ".join(string)
    runs: list[list] = []
    for symbol in string:
        if runs and runs[-1][0] == symbol:
            runs[-1][1] += 1
        else:
            runs.append([symbol, 1])
    return " ".join(symbol if count == 1 else f"{symbol}^{count}" for symbol, count in runs)


def _closure(rules: Sequence[tuple[str, Body]], heads: set[str]) -> set[str]:
    """Returns the smallest set that holds each head with a rule whose nonterminals are all in the set."""
    closed: set[str] = set()
    while True:
        grown = {h for h, body in rules if all(s in closed or s not in heads for s in body)}
        if grown <= closed:
            return closed
        closed |= grown


def _add(first: int, second: int, limit: int) -> int:
    """Returns all sums of a length from each of two sets, up to `limit`; sets are the bits of integers."""
    if first.bit_count() > second.bit_count():
        first, second = second, first
    total = 0
    while first:
        low = first & -first
        total |= second << (low.bit_length() - 1)
        first ^= low
    return total & limit


def _sum(body: Sequence[str], masks: dict[str, int], limit: int) -> int:
    total = 1
    for symbol in body:
        total = _add(total, masks.get(symbol, 2), limit)
    return total
