"""A corpus: expressions with their meanings, split for training, validation and test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set._evaluation import encode, flatten, meanings
from humboldt.languages.pcfg_set._functions import PCFG_SET, Language
from humboldt.languages.pcfg_set._interpret import string_arguments
from humboldt.languages.pcfg_set._naturalise import Skeletons, skeletons
from humboldt.languages.pcfg_set._productions import (
    JointHistogram,
    Productions,
    released_histogram,
    released_productions,
)
from humboldt.languages.pcfg_set._strings import UniqueStrings

VERSION = 1  # grows when the same seed can give another corpus or other splits


@dataclass(frozen=True)
class Examples:
    """Expressions and what a model should say, as texts with single spaces."""

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
        """Some of them, in that order."""
        return Examples(tuple(self.sources[i] for i in indices), tuple(self.targets[i] for i in indices))


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """What a corpus is made of. The defaults are the paper's, with the sizes of the released data."""

    size: int = 97_203  # section 4.3.2: "around 100 thousand"; 82,622 + 4,860 + 9,721 are released
    validation: float = 0.05  # section 4.3.2
    test: float = 0.10  # section 4.3.2
    language: Language = PCFG_SET
    productions: Productions = field(default_factory=released_productions)
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
        """Of train, validation and test. What rounding leaves goes to the test set, as in the released data."""
        train = int(self.size * (1 - self.validation - self.test) + 1e-9)
        validation = int(self.size * self.validation + 1e-9)
        return train, validation, self.size - train - validation


@dataclass(frozen=True, eq=False)
class Corpus:
    """The base corpus. Tests are made from it: see `systematicity_splits`, `productivity_splits` and their like."""

    seed: int
    settings: CorpusSettings
    train: Examples
    validation: Examples
    test: Examples

    @property
    def language(self) -> Language:
        """The language of its expressions."""
        return self.settings.language

    @cached_property
    def string_arguments(self) -> frozenset[str]:
        """All string arguments of all splits."""
        splits = (self.train, self.validation, self.test)
        return frozenset(
            string for split in splits for source in split.sources for string in string_arguments(source, self.language)
        )

    def rng(self, purpose: str) -> np.random.Generator:
        """Randomness for one purpose: it depends on the corpus's seed and on nothing else."""
        return np.random.default_rng([self.seed, *purpose.encode()])


def fill(rng: np.random.Generator, trees: Skeletons, strings: UniqueStrings) -> Examples:
    """Expressions from skeletons: new strings in place of letters, with the meanings."""
    encoded = trees.encoded
    is_letter = trees.tokens > encoded.comma
    # Letters in a row are one string: every tree begins with a function, so no row reaches into the next tree.
    begins = np.flatnonzero(is_letter & ~np.concatenate([[False], is_letter[:-1]]))
    ends = np.flatnonzero(is_letter & ~np.concatenate([is_letter[1:], [False]])) + 1
    tokens = trees.tokens.copy()
    tokens[is_letter] = encoded.comma + 1 + strings.draw(rng, ends - begins)
    targets, target_offsets = meanings(encoded, tokens, trees.offsets)
    return Examples(encoded.texts(tokens, trees.offsets), encoded.texts(targets, target_offsets))


def with_meanings(sources: Sequence[str], language: Language = PCFG_SET) -> Examples:
    """Expressions in the language's own spelling, with their meanings. For many: `interpret` does the same for one."""
    encoded = encode(language)
    targets, offsets = meanings(encoded, *flatten(sources, encoded))
    return Examples(tuple(sources), encoded.texts(targets, offsets))


def corpus(seed: int, settings: CorpusSettings | None = None) -> Corpus:
    """The corpus of a seed: distinct expressions, no string argument twice, split at random.

    >>> small = corpus(0, CorpusSettings(size=200))
    >>> len(small.train), len(small.validation), len(small.test)
    (170, 10, 20)
    >>> small.test.sources[1], small.test.targets[1]
    ('append R4 K11 D20 , reverse M8 Y11 P4', 'R4 K11 D20 P4 Y11 M8')
    """
    settings = settings or CorpusSettings()
    rng = np.random.default_rng([seed, *b"corpus"])
    trees = skeletons(rng, settings.size, settings.productions, settings.histogram, settings.language)
    examples = fill(rng, trees, UniqueStrings(settings.language))
    order = rng.permutation(settings.size)
    train, validation, _ = settings.sizes
    parts = np.split(order, [train, train + validation])
    return Corpus(seed, settings, *(examples.take(part.tolist()) for part in parts))
