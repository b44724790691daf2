"""Sequence accuracy: an output is right if all its symbols are (section 6.1)."""

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
    """Returns whether two outputs are the same sequence of symbols, ignoring spacing."""
    return first == second or first.split() == second.split()


def sequence_accuracy(
    targets: Sequence[str], predictions: Sequence[str], *, by: Mapping[str, Sequence[Hashable]] | None = None
) -> Score:
    """Returns the share of outputs that equal the target from the first symbol to the last.

    **Arguments:** `by` maps names of properties to the value of each item; an item with a `frozenset` counts under each
    element. The score is broken down by each property.

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
    """Returns depth, length and number of functions of each expression, as in the breakdowns of Figures 6 and 8."""
    return {
        "depth": [depth(source, language) for source in sources],
        "length": [length(source) for source in sources],
        "num_functions": [num_functions(source, language) for source in sources],
    }


def held_out_pairs_of(
    sources: Sequence[str], pairs: Sequence[tuple[str, str]] = HELD_OUT_PAIRS
) -> list[frozenset[str]]:
    """Returns the held-out pairs in each expression, such as `swap repeat`, for a breakdown of systematicity."""
    return [frozenset(" ".join(pair) for pair in pairs_in(to_paper_spelling(source), pairs)) for source in sources]


def stops_early(targets: Sequence[str], predictions: Sequence[str]) -> Share:
    """Returns the share of wrong outputs that are a contiguous part of the right one, or empty.

    >>> stops_early(["A B C", "A B C", "A B C", "A B C"], ["A B C", "B C", "A C", ""])
    Share(count=2, n=3)
    """
    check_lengths(targets=targets, predictions=predictions)
    wrong = [(t, p) for t, p in zip(targets, predictions, strict=True) if not same(t, p)]
    return Share.of(not p.split() or f" {' '.join(p.split())} " in f" {' '.join(t.split())} " for t, p in wrong)


def relative_drop(before: float, after: float) -> float:
    """Returns the relative drop of an accuracy: 0 if it is unchanged, 1 if it falls to 0; negative if it rises.

    >>> round(relative_drop(0.79, 0.30), 2)
    0.62
    """
    return (before - after) / before
