"""A language from a user's file: `.regex`, `.automaton` or `.grammar`.

>>> language = ContextFreeLanguage(parse_grammar("S -> a S b [0.7] | a b"), "my.grammar")
>>> language.accepts("a a b b".split()), language.count(6), language.valid_next(["a"]).symbols == {"a", "b"}
(True, 1, True)
"""

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.automaton_file import parse_automaton
from humboldt.languages.formal.continuations import Continuations, Next
from humboldt.languages.formal.counting import Counts
from humboldt.languages.formal.derivations import Derivations
from humboldt.languages.formal.enumeration import Strings
from humboldt.languages.formal.grammar_file import ContextFreeGrammar, from_core
from humboldt.languages.formal.grammar_file import parse as parse_grammar
from humboldt.languages.formal.lr import is_unambiguous
from humboldt.languages.formal.minimal import canonical
from humboldt.languages.formal.prefixes import Prefixes
from humboldt.languages.formal.properness import Properness, properness
from humboldt.languages.formal.regex import parse_regex
from humboldt.languages.formal.sampling import UniformSampler, WeightedSampler
from humboldt.languages.formal.text import read as read_text

String = tuple[str, ...]


class AbstractLanguage(ABC):
    """A set of strings with probabilities. Strings and prefixes are sequences of symbols.

    If a file has no weights, the continuations (of a state, or alternatives of a nonterminal) are equally probable.
    `name` is what messages call the language, such as the name of its file; it is not part of its identity.
    """

    name: str
    alphabet: tuple[str, ...]

    @abstractmethod
    def accepts(self, string: Sequence[str]) -> bool:
        """Returns whether `string` is in the language."""

    @abstractmethod
    def count(self, length: int) -> int | None:
        """Returns the number of strings of `length`; `None` if they cannot be counted."""

    @abstractmethod
    def uniform(self, rng: np.random.Generator, *, count: int, length: int) -> list[String]:
        """Returns strings of one length, each with exactly the same probability."""

    @abstractmethod
    def weighted(self, rng: np.random.Generator, *, count: int) -> list[String]:
        """Returns strings of any length, by the weights of the file."""

    @abstractmethod
    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns the symbols that can follow `prefix`, and whether it can end; nothing if no string begins with it."""

    @abstractmethod
    def next_distribution(self, prefix: Sequence[str]) -> dict[str | None, float]:
        """Returns the probabilities of the symbols that can follow `prefix`, and of ending under `None`."""

    @abstractmethod
    def probability(self, string: Sequence[str]) -> float:
        """Returns the probability of a string, by the weights of the file."""

    @abstractmethod
    def identity(self, *, weights: bool = True) -> dict[str, Any]:
        """Returns plain data, equal for two files only if they describe the same language; without `weights`, only as a
        set of strings. Regular languages are equal whatever their files look like; grammars up to names and spelling.
        """


class RegularLanguage(AbstractLanguage):
    """The language of a regular expression or an automaton."""

    def __init__(self, automaton: Automaton, name: str = "text") -> None:
        self.automaton, self.name, self.alphabet = automaton, name, automaton.alphabet

    @cached_property
    def counts(self) -> Counts:
        """Numbers of strings by state and length."""
        return Counts(self.automaton)

    @cached_property
    def _continuations(self) -> Continuations:
        return Continuations(self.automaton)

    @cached_property
    def _uniform(self) -> UniformSampler:
        return UniformSampler(self.automaton)

    @cached_property
    def _weighted(self) -> WeightedSampler:
        return WeightedSampler(self.automaton)

    def accepts(self, string: Sequence[str]) -> bool:
        return self.automaton.accepts(string)

    def count(self, length: int) -> int:
        return self.counts.strings(length)

    def uniform(self, rng: np.random.Generator, *, count: int, length: int) -> list[String]:
        rows = self._uniform.draw(rng, count=count, length=length)
        return [self._uniform.automaton.decode(row) for row in rows.tolist()]

    def weighted(self, rng: np.random.Generator, *, count: int) -> list[String]:
        rows, _ = self._weighted.draw(rng, count=count)
        return [self._weighted.automaton.decode(row) for row in rows.tolist()]

    def valid_next(self, prefix: Sequence[str]) -> Next:
        return self._continuations.next_symbols(prefix)

    def next_distribution(self, prefix: Sequence[str]) -> dict[str | None, float]:
        return self._continuations.next_distribution(prefix)

    def probability(self, string: Sequence[str]) -> float:
        return self._continuations.probability(string)

    def identity(self, *, weights: bool = True) -> dict[str, Any]:
        return {"kind": "regular", **canonical(self.automaton, "weighted" if weights else "acceptance")}


class ContextFreeLanguage(AbstractLanguage):
    """The language of a grammar. Probabilities are those given that a derivation ends."""

    def __init__(self, grammar: ContextFreeGrammar, name: str = "text") -> None:
        self.grammar, self.name, self.alphabet = grammar, name, grammar.alphabet

    @cached_property
    def derivations(self) -> Derivations:
        """Numbers of derivations by length."""
        return Derivations(self.grammar)

    @cached_property
    def strings(self) -> Strings:
        """The strings, one by one."""
        return Strings(self.grammar)

    @cached_property
    def prefixes(self) -> Prefixes:
        """Probabilities of prefixes."""
        return Prefixes(self.grammar)

    @cached_property
    def properness(self) -> Properness:
        """Whether derivations end."""
        return properness(self.grammar)

    @cached_property
    def is_unambiguous(self) -> bool:
        """Whether each string is proved to have one derivation, so that counts and samples need no list of strings."""
        return is_unambiguous(self.grammar)

    @cached_property
    def _listed(self) -> dict[int, int | None]:
        return {}

    def accepts(self, string: Sequence[str]) -> bool:
        return self.strings.accepts(string)

    def count(self, length: int) -> int | None:
        if self.is_unambiguous or not self.derivations.count(length):
            return self.derivations.count(length)
        if length not in self._listed:
            self._listed |= dict(enumerate(self.strings.counts(length)))
        return self._listed[length]

    def uniform(self, rng: np.random.Generator, *, count: int, length: int) -> list[String]:
        draw = self.derivations.sample if self.is_unambiguous else self.derivations.uniform
        return [draw(length, rng) for _ in range(count)]

    def weighted(self, rng: np.random.Generator, *, count: int) -> list[String]:
        if not self.grammar.useful or self.properness.ends < 1 - 1e-9:
            raise UsageError(f"{self.name} cannot be sampled by its weights. {self.properness.sentence}")
        return [from_core(self.grammar.core.sample(rng)) for _ in range(count)]

    def valid_next(self, prefix: Sequence[str]) -> Next:
        return self.strings.valid_next(prefix)

    def next_distribution(self, prefix: Sequence[str]) -> dict[str | None, float]:
        return self.prefixes.next_distribution(prefix)

    def probability(self, string: Sequence[str]) -> float:
        return 2.0 ** self.prefixes.log2_probability(string) if self.grammar.useful else 0.0

    def identity(self, *, weights: bool = True) -> dict[str, Any]:
        return self.grammar.identity(weights=weights)


READERS: dict[str, Callable[[str, str], RegularLanguage | ContextFreeLanguage]] = {
    ".regex": lambda text, file: RegularLanguage(parse_regex(text, file), file),
    ".automaton": lambda text, file: RegularLanguage(parse_automaton(text, file), file),
    ".grammar": lambda text, file: ContextFreeLanguage(parse_grammar(text, file), file),
}


def read(path: str | Path) -> RegularLanguage | ContextFreeLanguage:
    """Reads the language in a file; its extension determines the format."""
    ending = Path(path).suffix
    if ending not in READERS:
        near = difflib.get_close_matches(ending.lower(), READERS, n=1, cutoff=0.5)
        guess = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(
            f"{path} ends in {ending!r}, which is not the ending of a language's file.{guess} "
            "Name it .regex for a regular expression, .automaton for an automaton or .grammar for a grammar."
        )
    return READERS[ending](read_text(path), str(path))
