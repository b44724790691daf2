"""The base class of the paper's tests as tasks: a corpus of a given size and alphabet, and its splits."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Alphabet, ProblemKind
from humboldt.languages.pcfg_set.parts.corpus import Corpus, CorpusSettings, Examples, corpus
from humboldt.languages.pcfg_set.parts.functions import COMMA, PCFG_SET, SYNONYM, Language
from humboldt.languages.pcfg_set.parts.interpret import interpret
from humboldt.languages.pcfg_set.parts.naturalise import free_skeletons
from humboldt.languages.pcfg_set.parts.productions import (
    JointHistogram,
    authors_productions,
    released_histogram,
    released_productions,
)
from humboldt.languages.pcfg_set.parts.substitutivity import FUNCTIONS_WITH_SYNONYMS
from humboldt.settings import setting, settings

FREE_TREES = 20_000  # trees drawn to count sizes, if a corpus does not have those of the released data


class HasSplits(Protocol):
    """Examples for training, for model selection and for scoring."""

    @property
    def train(self) -> Examples: ...
    @property
    def validation(self) -> Examples: ...
    @property
    def test(self) -> Examples: ...


@settings
class AbstractTest(AbstractTask):
    """A test: a corpus and its splits. The defaults are the paper's, with the sizes of the released data."""

    size: int = setting(
        97_203, "expressions of the base corpus, all splits together", "section 4.3.2", least=20, most=10**6
    )
    letters: int = setting(520, "letters of the alphabet", "section 4.3.2", least=2, most=len(PCFG_SET.letters))
    deepest: int | None = setting(None, "deepest nesting of functions in the corpus", "section 4.3", least=1)
    naturalised: bool = setting(
        True, "whether lengths and depths are those of the released data, or those of the grammar", "appendix A"
    )
    clean_validation: bool = setting(
        False, "whether items of the held-out kind are removed from the validation set", "not in the released data"
    )

    problem: ClassVar[ProblemKind] = ProblemKind.SEQUENCE_TO_SEQUENCE
    chance: ClassVar[float] = (
        0.07  # the first string argument as an answer: 0.073 to 0.076 on the base test sets of seeds 0 to 2
    )
    examples: ClassVar[tuple[tuple[str, str], ...]] = (  # from section 4.1, where letters have no numbers
        ("append swap F1 G1 H1 , repeat I1 J1", "H1 G1 F1 I1 J1 I1 J1"),
        ("echo remove_first D1 K1 , E1 F1", "E1 F1 F1"),
    )

    @property
    def language(self) -> Language:
        """The language of the expressions."""
        return _language(self.letters)

    @property
    def input_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Functions, the comma, letters, synonyms. The same for all tests, so that one program trains on all."""
        functions = (function.name for function in self.language.functions)
        synonyms = (name + SYNONYM for name in FUNCTIONS_WITH_SYNONYMS)
        return Alphabet((*functions, COMMA, *self.language.letters, *synonyms))

    @property
    def output_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All letters."""
        return Alphabet(self.language.letters)

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        return interpret(" ".join(symbols)).split()

    def corpus(self, seed: int) -> Corpus:
        """Returns the base corpus, which all tests with the same settings share."""
        return _corpus(self.size, self.letters, self.deepest, self.naturalised, seed)

    def splits(self, seed: int) -> Any:
        """Returns the splits of the corpus: `train`, `validation`, `test`, and further data of the test."""
        return _splits(self, seed)

    @abstractmethod
    def split(self, corpus: Corpus) -> HasSplits:
        """Makes the splits of the test from its base corpus."""


@lru_cache(maxsize=8)
def _language(letters: int) -> Language:
    return PCFG_SET if letters == len(PCFG_SET.letters) else PCFG_SET.with_letters(PCFG_SET.letters[:letters])


@lru_cache(maxsize=2)
def _corpus(size: int, letters: int, deepest: int | None, naturalised: bool, seed: int) -> Corpus:
    # Sizes of the grammar itself need one set of productions: random productions are for resampled corpora.
    histogram = released_histogram() if naturalised else _free_histogram(seed)
    productions = authors_productions() if naturalised else released_productions()
    if deepest is not None:
        histogram = JointHistogram({(n, d): count for (n, d), count in histogram.counts.items() if d <= deepest})
    if not histogram.counts:
        raise UsageError(f"deepest={deepest}: no expression of the corpus is that shallow. Use a larger number.")
    settings = CorpusSettings(size=size, language=_language(letters), histogram=histogram, productions=productions)
    return corpus(seed, settings)


def _free_histogram(seed: int) -> JointHistogram:
    """Returns the sizes of trees drawn from the grammar, up to the longest of the released data."""
    longest = max(n for n, _ in released_histogram().counts)
    rng = np.random.default_rng([seed, *b"free sizes"])
    pairs = free_skeletons(rng, FREE_TREES, released_productions(), longest).pairs().tolist()
    return JointHistogram((n, d) for n, d in pairs)


@lru_cache(maxsize=4)
def _splits(test: AbstractTest, seed: int) -> HasSplits:
    return test.split(test.corpus(seed))
