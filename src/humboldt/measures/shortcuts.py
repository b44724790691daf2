"""Baselines without structure: simple classifiers, trained on one split and scored on others.

An accuracy of 75% means little if the length alone gives 75%. The audit trains classifiers that each use one
superficial property of a string. None of them uses the positions of symbols, except for neighbours and the two ends.

| classifier | input | method |
| --- | --- | --- |
| `length` | the length | the majority label of that length (an unseen length: of the nearest seen one) |
| `length_parity` | whether the length is odd | the majority label |
| `bag` | the count of each symbol | logistic regression on counts |
| `first_last` | the first symbol, the last, and the pair | logistic regression on indicators |
| `bigrams` | the count of each pair of neighbours | logistic regression on counts |
| `category_bag`, `category_first_last`, `category_bigrams` | the same of the symbols' categories | the same |
| `category_bag_quadratic` | counts of categories and their products | logistic regression |

The last four are given the categories, which a network must learn: they bound the accuracy of a bag or a window.
`category_bag_quadratic` can detect that two counts are equal, which a linear bag cannot.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from humboldt.errors import UsageError
from humboldt.measures._logistic import Counts, Features, classify, starts_of

MOST_CATEGORIES = 32  # products of counts grow with the square
SHORTCUT = 0.9  # the accuracy from which on a classifier without structure makes a test worthless
MOST_DENSE = 128  # features; larger matrices are sparse


class LabelledStrings(Protocol):
    """Right-padded integer tokens, shape `(count, time)`; lengths and labels, shape `(count,)`, all non-negative."""

    @property
    def tokens(self) -> np.ndarray: ...

    @property
    def lengths(self) -> np.ndarray: ...

    @property
    def labels(self) -> np.ndarray: ...


@dataclass(frozen=True)
class ShortcutAccuracy:
    """The accuracy, from 0 to 1, of one classifier on one split of `n` strings."""

    classifier: str
    split: str
    accuracy: float
    n: int


def shortcut_audit(
    train: LabelledStrings, scored: Mapping[str, LabelledStrings], *, categories: np.ndarray | None = None
) -> list[ShortcutAccuracy]:
    """Trains every classifier on `train` and scores it on each split of `scored`.

    **Arguments:**

    - `train`: the training set of the classifiers.
    - `scored`: the splits to score, by name. Including `train` shows the effect of memorisation.
    - `categories`: the category of every symbol id, shape `(symbols,)`, at most 32 categories. Without it the
      classifiers on categories are left out.

    **Returns:** a record for each classifier and split, classifiers in the order of the table above.
    """
    for name, strings in [("train", train), *scored.items()]:
        _check(name, strings, categories)
    classes, truth = np.unique(train.labels, return_inverse=True)
    lengths = [strings.lengths for strings in scored.values()]
    predictions = {
        "length": _majority(train.lengths, truth, lengths),
        "length_parity": _majority(train.lengths % 2, truth, [each % 2 for each in lengths]),
    }
    views = [("", [strings.tokens for strings in (train, *scored.values())])]
    if categories is not None:
        views.append(("category_", [categories[tokens] for tokens in views[0][1]]))
    for prefix, arrays in views:
        size = 1 + max(int(tokens.max(initial=0)) for tokens in arrays)
        for kind, features in (("bag", _bag), ("first_last", _first_last), ("bigrams", _bigrams)):
            counts = [features(t, n, size) for t, n in zip(arrays, [train.lengths, *lengths], strict=True)]
            predictions[prefix + kind] = classify(_number(counts), truth)
        if prefix:
            bags = [_bag(t, n, size).dense() for t, n in zip(arrays, [train.lengths, *lengths], strict=True)]
            predictions["category_bag_quadratic"] = classify([_with_products(bag) for bag in bags], truth)
    return [
        ShortcutAccuracy(classifier, name, float(np.mean(classes[predicted] == strings.labels)), len(strings.labels))
        for classifier, by_split in predictions.items()
        for (name, strings), predicted in zip(scored.items(), by_split, strict=True)
    ]


def shortcut_sentence(language: str, audit: Iterable[ShortcutAccuracy]) -> str | None:
    """Returns a warning if a classifier without structure solves the task; `None` if none does."""
    best = max(audit, key=lambda each: each.accuracy)
    if best.accuracy < SHORTCUT:
        return None
    return (
        f"{language}: the classifier `{best.classifier}` of the shortcut audit, which sees no structure, is right "
        f"about {best.accuracy:.0%} of the strings of the split {best.split}. A model need not know the language to "
        "succeed."
    )


def _check(name: str, strings: LabelledStrings, categories: np.ndarray | None) -> None:
    tokens, lengths, labels = strings.tokens, strings.lengths, strings.labels
    if tokens.ndim != 2 or lengths.shape != tokens.shape[:1] or labels.shape != tokens.shape[:1]:
        raise UsageError(
            f"The arrays of {name!r} do not fit together: tokens {tokens.shape}, lengths {lengths.shape}, labels "
            f"{labels.shape}. Give tokens of shape (count, time), lengths and labels of shape (count,)."
        )
    if not len(tokens):
        raise UsageError(f"The split {name!r} has no strings, so there is nothing to learn or score. Leave it out.")
    if lengths.min() < 0 or lengths.max() > tokens.shape[1] or tokens.min(initial=0) < 0:
        raise UsageError(
            f"The split {name!r} has a length outside 0 to {tokens.shape[1]} (the width of its tokens), or a negative "
            "token. Pad with any id of the alphabet and give the number of tokens without padding in `lengths`."
        )
    if categories is not None and tokens.max(initial=0) >= len(categories):
        raise UsageError(
            f"The split {name!r} has the symbol id {tokens.max()}, but `categories` names {len(categories)} symbols. "
            "Give a category for every id, padding included."
        )
    if categories is not None and not 0 <= categories.min() <= categories.max() < MOST_CATEGORIES:
        raise UsageError(
            f"`categories` has numbers from {categories.min()} to {categories.max()}; they must lie in 0 to "
            f"{MOST_CATEGORIES - 1}. Group the symbols more coarsely, or leave `categories` out."
        )


# Features ------------------------------------------------------------------------------------------------------------


def _counts(cells: np.ndarray, inside: np.ndarray, width: int) -> Counts:
    return Counts(starts_of(inside.sum(1)), cells[inside], width)


def _inside(tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return np.arange(tokens.shape[1]) < lengths[:, None]


def _bag(tokens: np.ndarray, lengths: np.ndarray, size: int) -> Counts:
    return _counts(tokens.astype(np.int64), _inside(tokens, lengths), size)


def _bigrams(tokens: np.ndarray, lengths: np.ndarray, size: int) -> Counts:
    wide = tokens.astype(np.int64)
    return _counts(wide[:, :-1] * size + wide[:, 1:], _inside(tokens, lengths)[:, 1:], size * size)


def _first_last(tokens: np.ndarray, lengths: np.ndarray, size: int) -> Counts:
    rows = np.arange(len(tokens))
    padded = np.pad(tokens.astype(np.int64), ((0, 0), (0, 1)))  # gives an array of empty strings a first column
    first, last = padded[:, 0], padded[rows, np.maximum(lengths - 1, 0)]
    cells = np.stack([first, size + last, 2 * size + first * size + last], axis=1)
    return _counts(cells, np.repeat(lengths[:, None] > 0, 3, axis=1), size * (size + 2))


def _number(parts: list[Counts]) -> list[Features]:
    """Restricts all parts to the features of the first, numbered from 0; returns dense arrays if these are few."""
    vocabulary = np.unique(parts[0].ids)
    numbered: list[Features] = []
    for part in parts:
        places = np.searchsorted(vocabulary, part.ids)
        known = np.append(vocabulary, -1)[places] == part.ids
        per_row = np.bincount(part.rows[known], minlength=len(part.starts) - 1)
        counts = Counts(starts_of(per_row), places[known], len(vocabulary))
        numbered.append(counts.dense() if len(vocabulary) <= MOST_DENSE else counts)
    return numbered


def _with_products(counts: np.ndarray) -> np.ndarray:
    left, right = np.triu_indices(counts.shape[1])
    return np.concatenate([counts, counts[:, left] * counts[:, right]], axis=1)


# Classifiers ---------------------------------------------------------------------------------------------------------


def _majority(keys: np.ndarray, truth: np.ndarray, scored: list[np.ndarray]) -> list[np.ndarray]:
    """Returns the most frequent label of each key; for an unseen key that of the nearest one (the smaller of two)."""
    seen, places = np.unique(keys, return_inverse=True)
    table = np.zeros((len(seen), truth.max() + 1), np.int64)
    np.add.at(table, (places, truth), 1)
    return [table[np.abs(each[:, None] - seen).argmin(1)].argmax(1) for each in scored]
