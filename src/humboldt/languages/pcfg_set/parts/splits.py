"""Splits made by moving items of the base corpus: systematicity, productivity, localism."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.languages.pcfg_set.parts.corpus import Corpus, Examples
from humboldt.languages.pcfg_set.parts.interpret import num_functions

FunctionPair = tuple[str, str]

HELD_OUT_PAIRS: tuple[FunctionPair, ...] = (  # section 6.2.1
    ("swap", "repeat"),
    ("append", "remove_second"),
    ("repeat", "remove_second"),
    ("append", "swap"),
)
MOST_TRAINED_FUNCTIONS = 8  # section 6.3.1


@dataclass(frozen=True)
class Splits:
    """Examples for training, for model selection and for scoring."""

    train: Examples
    validation: Examples
    test: Examples


def pairs_in(source: str, pairs: Sequence[FunctionPair] = HELD_OUT_PAIRS) -> tuple[FunctionPair, ...]:
    """Returns the pairs that occur in an expression as neighbouring tokens.

    >>> pairs_in("append swap repeat A B , C D")
    (('swap', 'repeat'), ('append', 'swap'))
    """
    padded = f" {source} "
    return tuple(pair for pair in pairs if f" {pair[0]} {pair[1]} " in padded)


def where(examples: Examples, condition: Callable[[str], bool]) -> Examples:
    """Returns the examples whose source meets a condition, in order."""
    return examples.take([i for i, source in enumerate(examples.sources) if condition(source)])


def _validation(corpus: Corpus, clean: bool, condition: Callable[[str], bool]) -> Examples:
    """Returns the base validation set, as in the released data; if `clean`, only items that could be in `train`."""
    return where(corpus.validation, condition) if clean else corpus.validation


def systematicity_splits(
    corpus: Corpus, *, pairs: Sequence[FunctionPair] = HELD_OUT_PAIRS, clean_validation: bool = False
) -> Splits:
    """Splits by held-out pairs of neighbouring functions: in all test items, in no training item (section 6.2.1).

    Items of the base corpus's train and test sets are redistributed.
    """
    pool = corpus.train + corpus.test
    return Splits(
        train=where(pool, lambda source: not pairs_in(source, pairs)),
        validation=_validation(corpus, clean_validation, lambda source: not pairs_in(source, pairs)),
        test=where(pool, lambda source: bool(pairs_in(source, pairs))),
    )


def productivity_splits(
    corpus: Corpus, *, most_functions: int = MOST_TRAINED_FUNCTIONS, clean_validation: bool = False
) -> Splits:
    """Splits by size: training items have up to eight functions, test items nine and more (section 6.3.1).

    Items of the base corpus's train and test sets are redistributed.
    """

    def is_short(source: str) -> bool:
        return num_functions(source, corpus.language) <= most_functions

    pool = corpus.train + corpus.test
    return Splits(
        train=where(pool, is_short),
        validation=_validation(corpus, clean_validation, is_short),
        test=where(pool, lambda source: not is_short(source)),
    )


def localism_splits(corpus: Corpus) -> Splits:
    """Returns the base corpus with only the test items that can be unrolled: two functions or more.

    The released evaluation also leaves out single functions. They are consistent by definition: counting them would
    give 0.47 where the paper prints 0.46.
    """
    return Splits(
        train=corpus.train,
        validation=corpus.validation,
        test=where(corpus.test, lambda source: num_functions(source, corpus.language) > 1),
    )


def draw(rng: np.random.Generator, candidates: Sequence[int], count: int) -> list[int]:
    """Returns `count` distinct candidates, in random order."""
    return [int(i) for i in rng.permutation(np.asarray(candidates, np.int64))[:count]]
