"""A language from a user's file as a task of `bliss`: prefixes are the nodes of a tree instead of a few kinds."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet
from humboldt.languages.bliss.base import AbstractLanguage, Measure
from humboldt.languages.bliss.parts.automaton import AbstractAutomaton, State
from humboldt.languages.bliss.parts.corpus import BOUNDARY, PRIOR, Corpus
from humboldt.languages.bliss.parts.test_set import AbstractTestSet, Trie, check_request
from humboldt.languages.formal.counting import growth
from humboldt.languages.formal.describe import means
from humboldt.languages.formal.grammar_file import from_core
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.formal.prefix_tree import AbstractPrefixTree, GrammarTree, StateTree, ordered
from humboldt.languages.grammar import Grammar

PREFIXES_TRIED = 1_000  # to find a deterministic step
LONGEST = 1_000_000  # symbols of a drawn string
MOST_SYMBOLS = 50_000  # of the alphabet
DIGITS = 10  # by which distributions are compared


def bliss_task(language: RegularLanguage | ContextFreeLanguage) -> type["OwnLanguage"]:
    """Makes the task of a language; raises a usage error if it has no corpus or no endless test set."""
    refuse(language)
    tree = StateTree(language.automaton) if isinstance(language, RegularLanguage) else GrammarTree(language.grammar)
    alphabet = Alphabet((BOUNDARY, *language.alphabet))
    body = {
        "__doc__": f"The language of {language.name}.",
        "__module__": __name__,
        "input_alphabet": alphabet,
        "output_alphabet": alphabet,
        "chance": 1 / len(alphabet),
        "examples": (),
        "language": language,
        "tree": tree,
        "automaton": TreeAutomaton(tree),
        "measure": Measure.DETERMINISTIC if _has_deterministic(tree) else Measure.CATEGORICAL,
        "identity": language.identity(weights=True),
    }
    return type("OwnLanguage", (OwnLanguage,), body)


def refuse(language: RegularLanguage | ContextFreeLanguage) -> None:
    """Raises a usage error, in one sentence, for languages that cannot be learnt from a corpus."""
    if BOUNDARY in language.alphabet:
        raise UsageError(
            f"{language.name} has the symbol {BOUNDARY!r}, which begins and ends every string in this suite: rename it."
        )
    if len(language.alphabet) > MOST_SYMBOLS:
        raise UsageError(f"{language.name} has more than {MOST_SYMBOLS:,} symbols, the limit in this suite: use fewer.")
    if isinstance(language, RegularLanguage):
        is_empty, is_finite = language.automaton.is_empty, growth(language.automaton).kind in ("empty", "finite")
    else:
        is_empty = not language.grammar.useful
        is_finite = not is_empty and language.derivations.shape.longest != float("inf")
    if is_empty:
        raise UsageError(f"The language of {language.name} is empty: there is nothing to train on.")
    if is_finite:
        raise UsageError(
            f"The language of {language.name} is finite: there are no strings of further lengths to test on. Add a "
            "repetition."
        )
    if isinstance(language, ContextFreeLanguage) and not language.properness.is_proper:
        raise UsageError(f"{language.name} gives no corpus. {language.properness.sentence}")


def _has_deterministic(tree: AbstractPrefixTree) -> bool:
    """Returns whether only one symbol can follow one of the first prefixes. The empty prefix does not count."""
    nodes, seen = [0], {0}
    for node in islice(nodes, PREFIXES_TRIED):  # grows while it is read
        if node and np.count_nonzero(tree.distribution(node)) == 1:
            return True
        for _, child in tree.ways(node):
            if child not in seen:
                seen.add(child)
                nodes.append(child)
    return False


class TreeAutomaton(AbstractAutomaton):
    """Reads many strings at once along a tree of prefixes. Prefixes with the same distribution are one kind; kind 0 is
    the empty prefix alone. New kinds appear as strings are read.
    """

    def __init__(self, tree: AbstractPrefixTree) -> None:
        self._tree = tree
        self._children = np.full((64, tree.symbols), -1, np.int64)
        self._kinds = np.full(64, -1, np.int64)
        self._rows = [tree.distribution(0)]
        self._known: dict[tuple[str, ...], int] = {}
        self._kinds[0] = 0

    def table(self) -> np.ndarray:
        """Returns the distributions of all kinds so far, shape `(kinds, symbols)`."""
        return np.stack(self._rows)

    def init(self, count: int) -> State:
        """Returns the empty prefix in each row."""
        return (np.zeros(count, np.int64),)

    def advance(self, state: State, symbols: np.ndarray) -> State:
        """Follows the tree."""
        (nodes,) = state
        children = self._children[nodes, symbols]
        if (children < 0).any():
            unknown = np.unique(np.stack([nodes, symbols], 1)[children < 0], axis=0)
            for node, symbol in unknown.tolist():
                self._add(node, symbol)
            children = self._children[nodes, symbols]
        return (children,)

    def kinds(self, state: State) -> np.ndarray:
        """Returns the kind of the prefix in each row."""
        return self._kinds[state[0]]

    def scan(self, symbols: np.ndarray) -> np.ndarray:
        """Follows the tree up to the first symbol that cannot follow."""
        nodes = [0]
        for symbol in symbols.tolist():
            if not self._tree.distribution(nodes[-1])[symbol] > 0:
                break
            if self._children[nodes[-1], symbol] < 0:
                self._add(nodes[-1], symbol)
            nodes.append(int(self._children[nodes[-1], symbol]))
        kinds = np.zeros(len(symbols) + 1, np.int64)
        kinds[: len(nodes)] = self._kinds[nodes]
        return kinds

    def _add(self, node: int, symbol: int) -> None:
        child = self._tree.child(node, symbol)
        while child >= len(self._kinds):
            self._children = np.concatenate([self._children, np.full_like(self._children, -1)])
            self._kinds = np.concatenate([self._kinds, np.full_like(self._kinds, -1)])
        self._children[node, symbol] = child
        if self._kinds[child] < 0:
            row = self._tree.distribution(child)
            key = tuple(f"{chance:.{DIGITS}g}" for chance in row.tolist())
            if key not in self._known:
                self._known[key] = len(self._rows)
                self._rows.append(row)
            self._kinds[child] = self._known[key]


class OwnLanguage(AbstractLanguage):
    """The language of a file, with the weights of the file instead of a prior.

    If all symbols are single characters, strings are texts as in the paper's languages, otherwise tuples of symbols.
    """

    language: ClassVar[RegularLanguage | ContextFreeLanguage]
    tree: ClassVar[AbstractPrefixTree]
    automaton: ClassVar[TreeAutomaton]  # pyright: ignore[reportIncompatibleVariableOverride]
    identity: ClassVar[dict[str, Any]]

    def distributions(self, p: float = PRIOR) -> np.ndarray:
        """Returns the distributions of the kinds of prefix that have been read so far."""
        self.check_prior(p)
        return self.automaton.table()

    def check_prior(self, p: float) -> None:
        """Raises an error for any prior but the default: the weights are those of the file."""
        if p != PRIOR:
            raise UsageError(
                f"p = {p:g}: {self.language.name} has weights of its own. Write them in the file, and leave p out."
            )

    def size(self, string: Sequence[str]) -> int:
        """Returns the length."""
        return len(string)

    def expected_length(self, p: float = PRIOR) -> float:
        """Returns the mean length by the weights of the file."""
        del p
        return self._expected_length

    @cached_property
    def _expected_length(self) -> float:
        if isinstance(self.language, ContextFreeLanguage):
            return self.language.properness.expected_length
        return means(self.language)[0]

    def grammar(self, p: float = PRIOR) -> Grammar:
        """Returns the grammar of the file."""
        self.check_prior(p)
        if isinstance(self.language, ContextFreeLanguage):
            return self.language.grammar.core
        raise UsageError(f"{self.language.name} is regular, and has no grammar.")

    def draw(self, rng: np.random.RandomState, count: int, p: float) -> list[Any]:
        """Returns strings: by a derivation from left to right, or along the states of the minimal automaton."""
        del p
        if isinstance(self.language, ContextFreeLanguage):
            core = self.language.grammar.core
            return [self._string(from_core(core.sample(rng))) for _ in range(count)]
        return [self._decoded("".join(map(chr, self._walk(rng)))) for _ in range(count)]

    def _walk(self, rng: np.random.RandomState) -> Iterator[int]:
        node = 0
        for _ in range(LONGEST):
            bounds = np.cumsum(self.tree.distribution(node))
            symbol = int(np.searchsorted(bounds, rng.random_sample() * bounds[-1], side="right"))
            if symbol == 0:
                return
            yield symbol
            node = self.tree.child(node, symbol)
        raise UsageError(
            f"A string of {self.language.name} had not ended after {LONGEST:,} symbols. Let it end sooner."
        )

    def test_set(self, *, after: Corpus | int, count: int) -> "OwnTestSet":
        """Returns the strings after the corpus's last (or after a length), by length, then in alphabetical order."""
        check_request(after, count)
        if isinstance(after, Corpus):
            strings = ordered(self.tree, self._coded(after.last))
        else:
            strings = ordered(self.tree, None, length=after + 1)
        return OwnTestSet(self, tuple(islice(strings, count)))

    @cached_property
    def _is_text(self) -> bool:
        return all(len(symbol) == 1 for symbol in self.input_alphabet.symbols)

    def _symbols(self, string: Sequence[str]) -> list[str]:
        if self._is_text or not isinstance(string, str):
            return super()._symbols(string)
        return super()._symbols(string.split())

    def _string(self, symbols: Sequence[str]) -> Any:
        return "".join(symbols) if self._is_text else tuple(symbols)

    def _coded(self, string: Sequence[str]) -> str:
        """Returns a string as text with one character for each symbol; its code point is the symbol's number."""
        return "".join(map(chr, self.input_alphabet.encode(self._symbols(string)).tolist()))

    def _decoded(self, code: str) -> Any:
        symbols = self.input_alphabet.symbols
        if self._is_text:
            return code.translate(dict(enumerate(symbols)))
        return tuple(symbols[ord(character)] for character in code)


class OwnTestSet(AbstractTestSet):
    """Strings by length, as texts with one character for each symbol; its code point is the symbol's number."""

    def __init__(self, language: OwnLanguage, codes: tuple[str, ...]) -> None:
        self.language = language
        self.p = PRIOR
        self._own, self._codes = language, codes

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, index: int) -> Any:
        return self._own._decoded(self._codes[index])

    @cached_property
    def lengths(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The length of each string, shape `(count,)`."""
        return np.array([len(code) for code in self._codes])

    @cached_property
    def deterministic_steps(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The deterministic steps of each string, shape `(count,)`. Reads all strings at once."""
        automaton, steps = self._own.automaton, np.zeros(len(self), np.int64)
        order = np.argsort(-self.lengths, kind="stable")  # those that have not ended are a slice
        table = self._table([self._codes[row] for row in order])
        left = self.lengths[order]
        state = automaton.init(len(self))
        for position in range(table.shape[1]):
            going = int(np.searchsorted(-left, -position, side="right"))
            if position:
                state = automaton.advance((state[0][:going],), table[:going, position - 1].astype(np.int64))
                kinds = automaton.kinds(state)
                steps[order[:going]] += self._own.deterministic_kinds()[kinds]
        return steps

    def trie(self, first: int, last: int) -> Trie:
        """Builds the trie by sorting the texts, whose order is that of the alphabet."""
        codes = self._codes[first:last]
        order = np.array(sorted(range(len(codes)), key=codes.__getitem__))
        table = self._table([codes[row] for row in order])
        shared = np.full(len(order), -1)
        for row in range(1, len(order)):
            shared[row] = (table[row] != table[row - 1]).argmax()
        lengths = self.lengths[first:last][order]
        return Trie(first + order, lengths, shared, lambda rows, position: table[rows, position].astype(np.int64))

    def _table(self, codes: Sequence[str]) -> np.ndarray:
        """Returns the numbers of the symbols, shape `(count, longest + 1)`, with 0 after the end."""
        small = len(self._own.input_alphabet) <= 256
        table = np.zeros((len(codes), max(map(len, codes), default=0) + 1), np.uint8 if small else np.uint16)
        for row, code in enumerate(codes):
            data = np.frombuffer(code.encode("latin-1" if small else "utf-16-le"), table.dtype.newbyteorder("<"))
            table[row, : len(code)] = data
        return table
