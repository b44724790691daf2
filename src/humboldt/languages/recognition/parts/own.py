"""A language from a user's file as a task of `recognition`: is a string in the language?

Positives of a regular expression or an automaton are drawn as those of the built-in automata: a possible length, then a
string by the weights of the file, or by equal weights. Of a grammar: a possible length, then one of the derivations of
this length, all of them equally probable; so strings are equally probable if the grammar is unambiguous.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.continuations import Next
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.formal.sampling import WeightedSampler
from humboldt.languages.recognition.base import AbstractRecognition, AbstractRegular

LONGEST = 1_000  # of strings whose derivations are counted


def recognition_task(language: RegularLanguage | ContextFreeLanguage) -> type[AbstractRecognition]:
    """Makes the task of a language; raises a usage error if it has no symbols or no strings."""
    is_regular = isinstance(language, RegularLanguage)
    if language.automaton.is_empty if is_regular else not language.grammar.useful:
        raise UsageError(f"The language of {language.name} is empty: there are no strings to recognise.")
    if not language.alphabet:
        raise UsageError(f"The language of {language.name} has no symbols: there is nothing to tell apart.")
    body: dict[str, Any] = {
        "__doc__": f"Is a string in the language of {language.name}?",
        "__module__": __name__,
        "input_alphabet": Alphabet(language.alphabet),
        "examples": (),
        "language": language,
        "identity": language.identity(weights=is_regular),  # those of a grammar are not used
    }
    if is_regular:
        body["own_sampler"] = WeightedSampler(language.automaton)
        return type("OwnRegular", (OwnRegular,), body)
    return type("OwnContextFree", (OwnContextFree,), body)


class OwnRegular(AbstractRegular):
    """The language of a regular expression or an automaton from a file."""

    language: ClassVar[RegularLanguage]
    own_sampler: ClassVar[WeightedSampler]
    identity: ClassVar[dict[str, Any]]

    @classmethod
    def automaton(cls) -> Automaton:
        return cls.own_sampler.automaton

    @classmethod
    def sampler(cls) -> WeightedSampler:
        return cls.own_sampler

    def contains(self, symbols: Sequence[str]) -> bool:
        """Runs the automaton of the file."""
        return self.language.accepts(symbols)


class OwnContextFree(AbstractRecognition):
    """The language of a grammar from a file."""

    language: ClassVar[ContextFreeLanguage]
    identity: ClassVar[dict[str, Any]]

    def contains(self, symbols: Sequence[str]) -> bool:
        """Parses the string."""
        return self.language.accepts(symbols)

    def valid_next(self, prefix: Sequence[str]) -> Next:
        return self.language.valid_next(prefix)

    def next_sets(self, strings: Sequence[Sequence[int]]) -> list[list[int]]:
        """Follows the chart of the grammar symbol by symbol."""
        return [
            list(map(self.bits, self.language.strings.after_every_symbol(self.input_alphabet.decode(string))))
            for string in strings
        ]

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        if longest > LONGEST:
            raise UsageError(f"Length {longest:,} is above {LONGEST:,}, the limit for a grammar: use less.")
        derivations = self.language.derivations
        possible = [length for length in range(longest + 1) if derivations.count(length)]
        if not possible:
            raise UsageError(f"{self.language.name} has no string of at most {longest} symbols. Use longer strings.")
        lengths = rng.choice(possible, count)
        return [self.input_alphabet.encode(derivations.sample(int(n), rng)).tolist() for n in lengths]
