"""Data of the auxiliary tests: the difficulty of each function, and functions on longer strings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.corpus import Corpus, Examples, with_meanings
from humboldt.languages.pcfg_set.parts.interpret import num_functions
from humboldt.languages.pcfg_set.parts.splits import draw

DIFFICULTY_ITEMS = 5_000  # for each function, as in the released data
MOST_FUNCTIONS = {1: 8, 2: 6}  # of an item, by the arity of its outermost function, as in nearly all released items
LONGER_LENGTHS = (2, 20)  # of strings, as in the released data
LONGER_ITEMS = 53  # for each function and length, as in the released data


def function_difficulty(
    corpus: Corpus, *, count: int = DIFFICULTY_ITEMS, most_functions: Mapping[int, int] = MOST_FUNCTIONS
) -> dict[str, Examples]:
    """Returns, for each function, items in which it is applied to composed expressions (section 6.1.2).

    All unary functions are applied to the same base test items, and all binary ones to the same pairs of base test
    items, so that accuracies can be compared among functions of one arity (and not across). `most_functions` bounds the
    size of the items. If the base test set allows fewer than `count` items, all of them are used.
    """
    language = corpus.language
    rng = corpus.rng("function difficulty")
    sizes = [num_functions(source, language) for source in corpus.test.sources]
    singles = draw(rng, [i for i, size in enumerate(sizes) if size < most_functions[1]], count)
    arguments = {
        1: [corpus.test.sources[i] for i in singles],
        2: [
            f"{corpus.test.sources[i]} , {corpus.test.sources[j]}"
            for i, j in _draw_pairs(rng, sizes, most_functions[2] - 1, count)
        ],
    }
    return {
        function.name: with_meanings([f"{function.name} {text}" for text in arguments[function.arity]], language)
        for function in language.functions
    }


def _draw_pairs(rng: np.random.Generator, sizes: Sequence[int], most: int, count: int) -> list[tuple[int, int]]:
    """Draws distinct ordered pairs of different items with at most `most` functions together."""
    small = np.array([i for i, size in enumerate(sizes) if size < most], np.int64)
    widths = np.array(sizes)[small]
    by_size = {size: small[widths == size] for size in np.unique(widths).tolist()}
    ways = sum(
        len(firsts) * sum(len(by_size[size]) for size in by_size if size <= most - width)
        for width, firsts in by_size.items()
    ) - int((2 * widths <= most).sum())
    wanted = min(count, ways)
    pairs: dict[tuple[int, int], None] = {}  # in the order of drawing
    while len(pairs) < wanted:
        i, j = (int(k) for k in rng.choice(small, 2))
        if i != j and sizes[i] + sizes[j] <= most:
            pairs.setdefault((i, j))
    return list(pairs)


@dataclass(frozen=True)
class LongerStrings:
    """Single functions on strings of different lengths.

    - `functions`, `lengths`: of each item; `arguments`: the number (from 0) of the argument that has that length.
    """

    examples: Examples
    functions: tuple[str, ...]
    lengths: tuple[int, ...]
    arguments: tuple[int, ...]


def longer_strings(
    corpus: Corpus, *, lengths: tuple[int, int] = LONGER_LENGTHS, count: int = LONGER_ITEMS
) -> LongerStrings:
    """Returns each function alone on strings of each length in a range, ends included (section 6.5.2, Figure 10).

    A binary function gets `count` items in which its first argument has that length, and `count` in which its second
    has; the other argument has a length of the corpus. Letters are drawn uniformly.
    """
    if not 1 <= lengths[0] <= lengths[1]:
        raise UsageError(f"Lengths {lengths} are not a range of 1 or more, such as {LONGER_LENGTHS}.")
    language, usual = corpus.language, corpus.settings.productions.string_lengths
    rng = corpus.rng("longer strings")
    kinds = [
        (function, size, argument)
        for function in language.functions
        for argument in range(function.arity)
        for size in range(lengths[0], lengths[1] + 1)
        for _ in range(count)
    ]
    sources = []
    for function, size, argument in kinds:
        sizes = rng.choice(list(usual), function.arity, p=list(usual.values()))
        sizes[argument] = size
        strings = [" ".join(language.letters[k] for k in rng.integers(len(language.letters), size=n)) for n in sizes]
        sources.append(f"{function.name} {' , '.join(strings)}")
    return LongerStrings(
        with_meanings(sources, language),
        tuple(function.name for function, _, _ in kinds),
        tuple(size for _, size, _ in kinds),
        tuple(argument for _, _, argument in kinds),
    )
