"""A corpus: expressions with their meanings, split for training, validation and test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.evaluation import encode, flatten, meanings
from humboldt.languages.pcfg_set.parts.functions import PCFG_SET, Language
from humboldt.languages.pcfg_set.parts.interpret import string_arguments
from humboldt.languages.pcfg_set.parts.naturalise import Skeletons, skeletons
from humboldt.languages.pcfg_set.parts.productions import (
    JointHistogram,
    Productions,
    RandomProductions,
    authors_productions,
    released_histogram,
)
from humboldt.languages.pcfg_set.parts.strings import UniqueStrings

VERSION = 2  # increases when a seed can give another corpus or other splits. 1: one set of productions for all trees


@dataclass(frozen=True)
class Examples:
    """Expressions and correct outputs, as texts with single spaces."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.sources) != len(self.targets):
            raise ValueError(f"{len(self.sources)} sources, {len(self.targets)} targets.")

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return zip(self.sources, self.targets, strict=True)

    def __add__(self, others: "Examples") -> "Examples":
        return Examples(self.sources + others.sources, self.targets + others.targets)

    def take(self, indices: Sequence[int] | np.ndarray) -> "Examples":
        """Returns the examples at these indices, in that order."""
        return Examples(tuple(self.sources[i] for i in indices), tuple(self.targets[i] for i in indices))


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """The settings of a corpus. The defaults are the paper's, with the sizes of the released data."""

    size: int = 97_203  # section 4.3.2: "around 100 thousand"; 82,622 + 4,860 + 9,721 are released
    validation: float = 0.05  # section 4.3.2
    test: float = 0.10  # section 4.3.2
    language: Language = PCFG_SET
    productions: Productions | RandomProductions = field(default_factory=authors_productions)
    histogram: JointHistogram = field(default_factory=released_histogram)

    def __post_init__(self) -> None:
        if not (self.validation >= 0 and self.test >= 0 and self.validation + self.test < 1):
            raise UsageError(
                f"The shares validation = {self.validation:g} and test = {self.test:g} must not be negative and must "
                "leave something to train on."
            )
        if min(self.sizes) < 1:
            raise UsageError(f"A corpus of {self.size} gives splits of {self.sizes} items. Use a larger size.")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The sizes of train, validation and test. The remainder of rounding goes to test, as in the released data."""
        train = int(self.size * (1 - self.validation - self.test) + 1e-9)
        validation = int(self.size * self.validation + 1e-9)
        return train, validation, self.size - train - validation


@dataclass(frozen=True, eq=False)
class Corpus:
    """The base corpus. Tests are made from it: see `systematicity_splits`, `productivity_splits` and others."""

    seed: int
    settings: CorpusSettings
    train: Examples
    validation: Examples
    test: Examples

    @property
    def language(self) -> Language:
        """The language of the expressions."""
        return self.settings.language

    @cached_property
    def string_arguments(self) -> frozenset[str]:
        """All string arguments of all splits."""
        splits = (self.train, self.validation, self.test)
        return frozenset(
            string for split in splits for source in split.sources for string in string_arguments(source, self.language)
        )

    def rng(self, purpose: str) -> np.random.Generator:
        """Returns a generator for one purpose; it depends on the purpose and the corpus's seed only."""
        return np.random.default_rng([self.seed, *purpose.encode()])


def fill(rng: np.random.Generator, trees: Skeletons, strings: UniqueStrings) -> Examples:
    """Makes expressions with their meanings from skeletons, whose letters are replaced by new strings."""
    encoded = trees.encoded
    is_letter = trees.tokens > encoded.comma
    # Consecutive letters are one string: every tree begins with a function, so no run extends into the next tree.
    begins = np.flatnonzero(is_letter & ~np.concatenate([[False], is_letter[:-1]]))
    ends = np.flatnonzero(is_letter & ~np.concatenate([is_letter[1:], [False]])) + 1
    tokens = trees.tokens.copy()
    tokens[is_letter] = encoded.comma + 1 + strings.draw(rng, ends - begins)
    targets, target_offsets = meanings(encoded, tokens, trees.offsets)
    return Examples(encoded.texts(tokens, trees.offsets), encoded.texts(targets, target_offsets))


def with_meanings(sources: Sequence[str], language: Language = PCFG_SET) -> Examples:
    """Returns many expressions, in the spelling of the language, with meanings; see `interpret` for a single one."""
    encoded = encode(language)
    targets, offsets = meanings(encoded, *flatten(sources, encoded))
    return Examples(tuple(sources), encoded.texts(targets, offsets))


def corpus(seed: int, settings: CorpusSettings | None = None) -> Corpus:
    """Returns the corpus of a seed: distinct expressions without repeated string arguments, split at random.

    >>> small = corpus(0, CorpusSettings(size=200))
    >>> len(small.train), len(small.validation), len(small.test)
    (170, 10, 20)
    >>> small.test.sources[2], small.test.targets[2]
    ('shift copy echo shift O3 X11 T18 B3 P12', 'T18 B3 P12 O3 O3 X11')
    """
    settings = settings or CorpusSettings()
    rng = np.random.default_rng([seed, *b"corpus"])
    trees = skeletons(rng, settings.size, settings.productions, settings.histogram, settings.language)
    examples = fill(rng, trees, UniqueStrings(settings.language))
    order = rng.permutation(settings.size)
    train, validation, _ = settings.sizes
    parts = np.split(order, [train, train + validation])
    return Corpus(seed, settings, *(examples.take(part.tolist()) for part in parts))
