"""The form of a grammar in which its derivations are counted: no empty rules, and no circles."""

from humboldt.errors import UsageError
from humboldt.languages.formal.binary_form import BinaryForm, followers
from humboldt.languages.formal.counting import strongly_connected

MOST_BITS = 10_000  # of a number of derivations of the empty string


class CountedForm:
    """A grammar with rules A -> B C and A -> a only, with whole numbers as weights, and how nonterminals derive one
    another alone. `above[B]` lists `(A, number of ways)`, B itself among them; `below[A]` lists the same by A.
    """

    def __init__(
        self,
        size: int,
        start: int,
        empty: int,
        binary: dict[tuple[int, int, int], int],
        lexical: dict[tuple[int, int], int],
        units: dict[tuple[int, int], int],
    ) -> None:
        self.size, self.start, self.empty, self.units = size, start, empty, units
        self.pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.rules_of: dict[int, list[tuple[tuple[int, int], int]]] = {}
        for (head, first, second), weight in binary.items():
            self.pairs.setdefault((first, second), []).append((head, weight))
            self.rules_of.setdefault(head, []).append(((first, second), weight))
        self.lexical: dict[int, list[tuple[int, int]]] = {}
        self.lexical_of: dict[int, list[tuple[int, int]]] = {}
        for (head, symbol), weight in lexical.items():
            self.lexical.setdefault(symbol, []).append((head, weight))
            self.lexical_of.setdefault(head, []).append((symbol, weight))
        children: dict[int, list[tuple[int, int]]] = {symbol: [] for symbol in range(size)}
        for (head, symbol), ways in units.items():
            children[head].append((symbol, ways))
        below: list[dict[int, int]] = [{} for _ in range(size)]
        for (node,) in strongly_connected(followers(size, units)):  # no circles are left, so each component is one node
            below[node][node] = 1
            for child, ways in children[node]:
                for symbol, more in below[child].items():
                    below[node][symbol] = below[node].get(symbol, 0) + ways * more
        self.below = [list(symbols.items()) for symbols in below]
        self.above: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        for head, symbols in enumerate(self.below):
            for symbol, ways in symbols:
                self.above[symbol].append((head, ways))

    def lifted(self, ways: dict[int, int]) -> dict[int, int]:
        """Returns the numbers of all derivations, given those by first binary or lexical rule."""
        total: dict[int, int] = {}
        for symbol, count in ways.items():
            for head, chains in self.above[symbol]:
                total[head] = total.get(head, 0) + chains * count
        return total


def counted_form(form: BinaryForm) -> CountedForm:
    """Returns the form in which derivations are counted, without circles if there are any."""
    return _without_circles(form) if form.circles() else _as_they_are(form)


def _as_they_are(form: BinaryForm) -> CountedForm:
    empty = dict.fromkeys(form.nullable, 0)
    rules = [(head, body) for head, body, _ in form.rules if form.nullable.issuperset(body)]
    while True:  # as no circle leads through them, this ends after as many rounds as they can nest
        grown = dict.fromkeys(empty, 0)
        for head, body in rules:
            ways = 1
            for symbol in body:
                ways *= empty[symbol]
            grown[head] += ways
        if grown == empty:
            break
        if max(grown.values()).bit_length() > MOST_BITS:
            raise UsageError(
                f"The empty string has more than 2^{MOST_BITS:,} derivations, the limit for counting. Write a grammar "
                "with fewer ways to be empty."
            )
        empty = grown
    nonempty = form.nonempty
    return CountedForm(
        form.size,
        0,
        empty.get(0, 0),
        {(head, *body): 1 for head, body, _ in form.rules if len(body) == 2 and nonempty.issuperset(body)},
        {(head, symbol): 1 for head, symbol, _ in form.lexical},
        {
            (head, kept): sum(1 if sibling is None else empty[sibling] for _, sibling in ways)
            for (head, kept), ways in form.units().items()
            if kept in nonempty
        },
    )


def _without_circles(form: BinaryForm) -> CountedForm:
    nonempty = form.nonempty
    units = [pair for pair in form.units() if pair[1] in nonempty]
    merged = {
        node: number for number, nodes in enumerate(strongly_connected(followers(form.size, units))) for node in nodes
    }
    joined = [(head, *body) for head, body, _ in form.rules if len(body) == 2 and nonempty.issuperset(body)]
    return CountedForm(
        max(merged.values()) + 1,
        merged[0],
        int(0 in form.nullable),
        {(merged[a], merged[b], merged[c]): 1 for a, b, c in joined},
        {(merged[head], symbol): 1 for head, symbol, _ in form.lexical},
        {(merged[a], merged[b]): 1 for a, b in units if merged[a] != merged[b]},
    )
