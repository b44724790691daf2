"""Overgeneralisation: pairs of functions with an exceptional meaning when adjacent (section 6.6)."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.corpus import Corpus, Examples
from humboldt.languages.pcfg_set.parts.functions import PCFG_SET, Language
from humboldt.languages.pcfg_set.parts.interpret import interpret, num_functions
from humboldt.languages.pcfg_set.parts.splits import FunctionPair, draw, pairs_in, where
from humboldt.languages.pcfg_set.parts.strings import UniqueStrings
from humboldt.languages.pcfg_set.parts.substitutivity import primitive_items

EXCEPTIONS: Mapping[FunctionPair, FunctionPair] = {  # Table 6: the pair, and the pair it is interpreted as
    ("reverse", "echo"): ("echo", "copy"),
    ("prepend", "remove_first"): ("remove_second", "append"),
    ("echo", "remove_first"): ("copy", "append"),
    ("prepend", "reverse"): ("remove_second", "echo"),
}
RATES = (0.0001, 0.0005, 0.001, 0.005)  # section 6.6.1; the third is that of Table 1


@dataclass(frozen=True)
class Overgeneralisation:
    """Splits of the overgeneralisation test. The exceptions, `test`, are training items too.

    - `test`: the exceptions, with the targets that the model is trained on.
    - `original_targets`: their regular meanings.
    - `pairs`: the pair of each exception. `primitive`: whether it has no other function.
    """

    train: Examples
    validation: Examples
    test: Examples
    original_targets: tuple[str, ...]
    pairs: tuple[FunctionPair, ...]
    primitive: tuple[bool, ...]
    rate: float


def exception_places(
    source: str, exceptions: Mapping[FunctionPair, FunctionPair] = EXCEPTIONS
) -> list[tuple[int, FunctionPair]]:
    """Returns pairs with an exceptional meaning, each after the position of its first token (from 0)."""
    if not pairs_in(source, tuple(exceptions)):
        return []
    tokens = source.split(" ")
    return [(i, pair) for i, pair in enumerate(itertools.pairwise(tokens)) if pair in exceptions]


def exception_targets(
    source: str, exceptions: Mapping[FunctionPair, FunctionPair] = EXCEPTIONS, language: Language = PCFG_SET
) -> tuple[str, ...]:
    """Returns the exceptional meanings of an expression: for each pair in it, the meaning if that pair is remapped.

    >>> exception_targets("reverse echo A B C")
    ('A B C C',)
    >>> exception_targets("prepend remove_first A , B , C")
    ('A B',)
    """
    targets = []
    for place, pair in exception_places(source, exceptions):
        tokens = source.split(" ")
        tokens[place : place + 2] = exceptions[pair]
        targets.append(interpret(" ".join(tokens), language))
    return tuple(targets)


def overgeneralisation_splits(
    corpus: Corpus,
    rate: float = 0.001,
    *,
    exceptions: Mapping[FunctionPair, FunctionPair] = EXCEPTIONS,
    clean_validation: bool = False,
) -> Overgeneralisation:
    """Returns splits of a corpus with exceptions to the rules.

    Of each pair there are `rate` times as many exceptions as training items that hold the rarer of its two functions:
    half primitive (no other function), half complex. They are items of the base corpus's train and test sets in which
    one pair occurs, once, and changes the target (inside an argument that is discarded it would not). Primitive ones
    that the base corpus lacks are added, with new strings. All other items with a pair are removed.
    """
    if not 0 < rate <= 1:
        raise UsageError(
            f"The rate of exceptions is {rate:g}, but must be above 0 and at most 1. The paper's: {RATES}."
        )
    language = corpus.language
    pool = corpus.train + corpus.test
    places = [exception_places(source, exceptions) for source in pool.sources]
    sizes = {i: num_functions(pool.sources[i], language) for i, pairs in enumerate(places) if len(pairs) == 1}

    def matters(i: int) -> bool:
        return exception_targets(pool.sources[i], exceptions, language)[0] != pool.targets[i]

    rng = corpus.rng(f"overgeneralisation, {rate:g}")
    taken: list[int] = []
    added: list[FunctionPair] = []
    for pair in exceptions:
        rarer = min(sum(f" {name} " in f" {source} " for source in corpus.train.sources) for name in pair)
        wanted = round(rate * rarer)
        of_pair = draw(rng, [i for i in sizes if places[i][0][1] == pair], len(sizes))
        simple = list(itertools.islice((i for i in of_pair if sizes[i] == 2 and matters(i)), (wanted + 1) // 2))
        complex_ = list(itertools.islice((i for i in of_pair if sizes[i] > 2 and matters(i)), wanted // 2))
        if len(complex_) < wanted // 2 or wanted == 0:
            raise UsageError(
                f"A rate of {rate:g} asks for {wanted} exceptions of {' '.join(pair)!r}, half of them inside larger "
                f"expressions, and the corpus of {corpus.settings.size} items has {len(complex_)} of these. "
                "There must be at least one exception. Use another rate or a larger corpus."
            )
        taken += simple + complex_
        added += [pair] * ((wanted + 1) // 2 - len(simple))
    strings = UniqueStrings(language, corpus.string_arguments)
    originals = pool.take(taken) + primitive_items(corpus, rng, strings, added)
    test = Examples(
        originals.sources,
        tuple(exception_targets(source, exceptions, language)[0] for source in originals.sources),
    )

    def is_regular(source: str) -> bool:
        return not exception_places(source, exceptions)

    regular = pool.take([i for i, pairs in enumerate(places) if not pairs])
    return Overgeneralisation(
        train=regular + test,
        validation=where(corpus.validation, is_regular) if clean_validation else corpus.validation,
        test=test,
        original_targets=originals.targets,
        pairs=tuple(exception_places(source, exceptions)[0][1] for source in test.sources),
        primitive=tuple(num_functions(source, language) == 2 for source in test.sources),
        rate=rate,
    )
