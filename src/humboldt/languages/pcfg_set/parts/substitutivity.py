"""Substitutivity: functions with synonyms, equally distributed or in primitive contexts only (section 6.4)."""

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.corpus import Corpus, Examples, with_meanings
from humboldt.languages.pcfg_set.parts.functions import SYNONYM
from humboldt.languages.pcfg_set.parts.splits import draw
from humboldt.languages.pcfg_set.parts.strings import UniqueStrings

FUNCTIONS_WITH_SYNONYMS = ("swap", "repeat", "append", "remove_second")  # section 6.4.1
PRIMITIVE_SHARE = 0.001  # section 6.4.1: of the training items, for each synonym
TEST_ITEMS = 2_500  # for each synonym, as in the released data


class Unit(enum.Enum):
    """The unit of which half is replaced by synonyms: occurrences of a function, or items with all occurrences."""

    OCCURRENCE = "occurrence"
    ITEM = "item"


@dataclass(frozen=True)
class Substitutivity:
    """Splits of a substitutivity test.

    - `test` and `synonyms` have the same targets, item by item; in `synonyms` one function of each item, that in
      `functions`, is replaced by its synonym wherever it occurs.
    """

    train: Examples
    validation: Examples
    test: Examples
    synonyms: Examples
    functions: tuple[str, ...]


def with_synonym(source: str, function: str) -> str:
    """Returns the expression with every occurrence of a function replaced by its synonym.

    >>> with_synonym("swap append swap A B , C D", "swap")
    'swap_syn append swap_syn A B , C D'
    """
    return " ".join(token + SYNONYM if token == function else token for token in source.split())


def equally_distributed(
    corpus: Corpus,
    *,
    functions: Sequence[str] = FUNCTIONS_WITH_SYNONYMS,
    test_items: int = TEST_ITEMS,
    unit: Unit = Unit.OCCURRENCE,
) -> Substitutivity:
    """Replaces a random half of the occurrences of each function in the training items by its synonym."""
    rng = corpus.rng("substitutivity, equally distributed")
    tokens = [source.split(" ") for source in corpus.train.sources]
    for function in functions:
        places = [(i, j) for i, row in enumerate(tokens) for j, token in enumerate(row) if token == function]
        if unit is Unit.ITEM:
            items = sorted({i for i, _ in places})
            replaced = set(draw(rng, items, len(items) // 2))
            places = [place for place in places if place[0] in replaced]
        else:
            places = [places[k] for k in draw(rng, range(len(places)), len(places) // 2)]
        for i, j in places:
            tokens[i][j] = function + SYNONYM
    train = Examples(tuple(" ".join(row) for row in tokens), corpus.train.targets)
    return Substitutivity(train, corpus.validation, *_test_items(corpus, functions, test_items))


def primitive(
    corpus: Corpus,
    *,
    functions: Sequence[str] = FUNCTIONS_WITH_SYNONYMS,
    test_items: int = TEST_ITEMS,
    share: float = PRIMITIVE_SHARE,
) -> Substitutivity:
    """Adds training items in which a synonym is the only function: 0.1% for each synonym."""
    rng = corpus.rng("substitutivity, primitive")
    strings = UniqueStrings(corpus.language, corpus.string_arguments)
    count = round(share * len(corpus.train))
    if count < 1:
        raise UsageError(
            f"A share of {share:g} of {len(corpus.train)} training items is less than one item for each synonym. "
            "Use a larger corpus or a larger share."
        )
    added = primitive_items(corpus, rng, strings, [(function,) for function in functions for _ in range(count)])
    names = [function for function in functions for _ in range(count)]
    spelt = Examples(tuple(map(with_synonym, added.sources, names)), added.targets)
    return Substitutivity(corpus.train + spelt, corpus.validation, *_test_items(corpus, functions, test_items))


def primitive_items(
    corpus: Corpus, rng: np.random.Generator, strings: UniqueStrings, functions: Sequence[Sequence[str]]
) -> Examples:
    """Makes one item with its meaning for each sequence of functions, the last of which is applied to new strings.

    The second argument of a binary function is a new string.
    """
    language, productions = corpus.language, corpus.settings.productions
    counts = [1 + sum(language.function(name).arity == 2 for name in names) for names in functions]
    lengths = rng.choice(list(productions.string_lengths), sum(counts), p=list(productions.string_lengths.values()))
    letters = iter(strings.draw(rng, lengths).tolist())
    texts = iter([" ".join(language.letters[k] for k in itertools.islice(letters, int(n))) for n in lengths])
    sources = [
        " ".join([*names, " , ".join(itertools.islice(texts, count))])
        for names, count in zip(functions, counts, strict=True)
    ]
    return with_meanings(sources, language)


def _test_items(corpus: Corpus, functions: Sequence[str], count: int) -> tuple[Examples, Examples, tuple[str, ...]]:
    """Returns test items, the same with synonyms, and the replaced functions. They are equal in both conditions.

    For each function there are `count` distinct base test items that contain it, or all if there are fewer.
    """
    rng = corpus.rng("substitutivity, test items")
    indices: list[int] = []
    names: list[str] = []
    for function in functions:
        candidates = [i for i, source in enumerate(corpus.test.sources) if f" {function} " in f" {source} "]
        taken = draw(rng, candidates, count)
        indices += taken
        names += [function] * len(taken)
    test = corpus.test.take(indices)
    synonyms = Examples(tuple(map(with_synonym, test.sources, names)), test.targets)
    return test, synonyms, tuple(names)
