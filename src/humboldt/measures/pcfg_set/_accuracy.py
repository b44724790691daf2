"""Sequence accuracy: an output is right if all of it is (section 6.1)."""

from collections.abc import Hashable, Mapping, Sequence

from humboldt.languages.pcfg_set import (
    HELD_OUT_PAIRS,
    PCFG_SET,
    Language,
    depth,
    length,
    num_functions,
    pairs_in,
    to_paper_spelling,
)
from humboldt.measures.pcfg_set._score import Score, Share, break_down, check_lengths


def same(first: str, second: str) -> bool:
    """Whether two outputs are the same sequence of symbols, however they are spaced."""
    return first == second or first.split() == second.split()


def sequence_accuracy(
    targets: Sequence[str], predictions: Sequence[str], *, by: Mapping[str, Sequence[Hashable]] | None = None
) -> Score:
    """The share of outputs that equal the target from the first symbol to the last.

    **Arguments:** `by` names properties of the items, with the value of each item; a `frozenset` counts an item under
    each of its members. The score is broken down by each property.

    >>> score = sequence_accuracy(["A B", "C"], ["A B", "C C"], by={"length": [2, 1]})
    >>> score.value, score.n, score.breakdowns["length"]
    (0.5, 2, {1: Share(count=0, n=1), 2: Share(count=1, n=1)})
    """
    check_lengths(targets=targets, predictions=predictions)
    flags = tuple(same(target, output) for target, output in zip(targets, predictions, strict=True))
    return Score(
        "sequence_accuracy",
        Share.of(flags),
        {"stops_early": stops_early(targets, predictions)},
        {name: break_down(flags, keys) for name, keys in (by or {}).items()},
        flags,
    )


def sizes_of(sources: Sequence[str], language: Language = PCFG_SET) -> dict[str, list[int]]:
    """Depth, length and number of functions of each expression: what Figures 6 and 8 break accuracy down by."""
    return {
        "depth": [depth(source, language) for source in sources],
        "length": [length(source) for source in sources],
        "num_functions": [num_functions(source, language) for source in sources],
    }


def held_out_pairs_of(
    sources: Sequence[str], pairs: Sequence[tuple[str, str]] = HELD_OUT_PAIRS
) -> list[frozenset[str]]:
    """The held-out pairs in each expression, as `swap repeat`: an item of the systematicity test counts under each."""
    return [frozenset(" ".join(pair) for pair in pairs_in(to_paper_spelling(source), pairs)) for source in sources]


def stops_early(targets: Sequence[str], predictions: Sequence[str]) -> Share:
    """Of the wrong outputs, those that are a piece of the right one: neighbouring symbols of it, or nothing at all.

    >>> stops_early(["A B C", "A B C", "A B C", "A B C"], ["A B C", "B C", "A C", ""])
    Share(count=2, n=3)
    """
    check_lengths(targets=targets, predictions=predictions)
    wrong = [(t, p) for t, p in zip(targets, predictions, strict=True) if not same(t, p)]
    return Share.of(not p.split() or f" {' '.join(p.split())} " in f" {' '.join(t.split())} " for t, p in wrong)


def relative_drop(before: float, after: float) -> float:
    """By what part of itself an accuracy falls: 0 if not at all, 1 if to nothing; negative if it rises.

    >>> round(relative_drop(0.79, 0.30), 2)
    0.62
    """
    return (before - after) / before
