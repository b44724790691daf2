"""The strings of a grammar themselves, each once: membership, what can follow a prefix, and counts by listing.

>>> from humboldt.languages.formal.grammar_file import parse
>>> strings = Strings(parse("S -> S S | a"))
>>> strings.counts(4)
[0, 1, 1, 1, 1]
"""

from collections.abc import Iterator, Sequence

from humboldt.errors import UsageError
from humboldt.languages.chart import END, Column
from humboldt.languages.formal.continuations import Next
from humboldt.languages.formal.grammar_file import Body, ContextFreeGrammar, from_core, to_core

MOST_ITEMS = 60_000  # rules with a position, over all prefixes; a second's work or two

MOST_CHECKED = 100  # of one prefix


class Strings:
    """The strings of a grammar, which may be empty or ambiguous."""

    def __init__(self, grammar: ContextFreeGrammar) -> None:
        self.grammar = grammar
        self._core = grammar.core if grammar.useful else None

    def accepts(self, string: Sequence[str]) -> bool:
        """Returns whether `string` is in the language."""
        return self._core is not None and self._core.accepts(to_core(string))

    def of_length(self, length: int) -> Iterator[Body]:
        """Returns all strings with `length` symbols, each once, in the order of the sorted alphabet."""
        return map(from_core, self._core.of_length(length)) if self._core is not None else iter(())

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns the symbols that can follow `prefix`; none, if no string begins with it."""
        try:
            valid = frozenset() if self._core is None else self._core.valid_next(to_core(prefix))
        except UsageError:
            valid = frozenset()
        return Next(frozenset(from_core(tuple(valid - {END}))), END in valid)

    def after_every_symbol(self, string: Sequence[str]) -> Iterator[Next]:
        """Yields the symbols that can follow each prefix of a string, from the first symbol to the whole."""
        column = None if self._core is None else self._core.chart.root
        for symbol in to_core(string):
            column = column.advance(symbol) if column is not None else None
            valid = frozenset() if column is None else column.valid_next
            yield Next(frozenset(from_core(tuple(valid - {END}))), END in valid)

    def counts(self, longest: int, most_items: int = MOST_ITEMS) -> list[int | None]:
        """Returns the numbers of distinct strings of length 0 to `longest`; `None` from the length on at which
        the work would be too much.

        All prefixes of a length that lead to a string up to `longest` are kept at once, and followed by one symbol.
        """
        counts: list[int | None] = []
        columns = [] if self._core is None else [self._core.chart.root]
        items = 0
        while len(counts) <= longest and items <= most_items:
            counts.append(sum(END in column.valid_next for column in columns))
            left = longest - len(counts)
            grown: list[Column] = []
            for child in (column.advance(symbol) for column in columns for symbol in column.scans if left >= 0):
                items += len(child.items) if child else 0
                if items > most_items:
                    break
                if child and _ends_within(child, left):
                    grown.append(child)
            columns = grown
        return counts + [None] * (longest + 1 - len(counts))


def _ends_within(column: Column, length: int) -> bool:
    """Returns whether some string ends at most `length` symbols later; assumed where the check costs more than
    following the prefix.
    """
    if len(column.items) > MOST_CHECKED:
        return True
    return any(map(column.can_end_after, range(length, -1, -1)))  # the first, longest, settles all others
