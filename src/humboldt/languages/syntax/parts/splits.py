"""The splits train, validation, test and long.

No string is in two splits. The split that owns a string is decided by a hash of the string alone: half of all strings
belong to train, a quarter to validation, a quarter to test. A split redraws every string that it does not own. So each
split can be drawn without the others, and a string that is tested under one seed is not trained on under any seed.
`long` shares no lengths with the others and owns every string of its lengths.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import Pairs
from humboldt.languages.syntax.base import AbstractPseudoLanguage, cells

NAMES = ("train", "validation", "test", "long")
OWNER_OF_QUARTER = ("train", "train", "validation", "test")
TRIES = 40  # draws of one string at one length before another length is drawn
HOPELESS = 2_000  # attempted pairs, none of them complete: the split owns no strings

Strings = tuple[np.ndarray, np.ndarray]  # tokens (count, time) and lengths (count,)


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """Sizes and length ranges; the defaults are those of section 2.2.1 of the paper.

    - `train`, `validation`, `test`, `long`: number of positives of each split; as many negatives are added.
    - `lengths`: shortest and longest string of the first three, both included; `long_lengths`: of the last.
    - `disjoint`: no string in two splits. With `False` every split is a plain random draw (the paper is not explicit).
    """

    train: int = 40_000
    validation: int = 5_000
    test: int = 2_500
    long: int = 2_500
    lengths: tuple[int, int] = (4, 30)
    long_lengths: tuple[int, int] = (31, 100)
    disjoint: bool = True

    def __post_init__(self) -> None:
        for name in NAMES:
            size = getattr(self, name)
            if isinstance(size, bool) or not isinstance(size, int) or size < 0:
                raise UsageError(f"{name}={size!r} is not a number of positives. Use a whole number, 0 or more.")
        for name in ("lengths", "long_lengths"):
            pair = getattr(self, name)
            if len(pair) != 2 or not all(isinstance(end, int) for end in pair) or not 2 <= pair[0] <= pair[1]:
                raise UsageError(
                    f"{name}={pair!r} is not a range of lengths. "
                    "Use (first, last), both included, with 2 <= first <= last: the shortest negative has two symbols."
                )
        if self.long_lengths[0] <= self.lengths[1]:
            raise UsageError(
                f"long_lengths {self.long_lengths} overlap or lie below lengths {self.lengths}. "
                "The long split must only hold lengths above those trained on. "
                f"Use long_lengths=({self.lengths[1] + 1}, {max(self.lengths[1] + 1, self.long_lengths[1])})."
            )

    def range_of(self, name: str) -> tuple[int, int]:
        """Returns the shortest and the longest length of a split."""
        return self.long_lengths if name == "long" else self.lengths


@dataclass(frozen=True, eq=False)
class Split:
    """Strings and labels. Rows alternate: a positive, then the negative that was made from it.

    - `tokens`: int32, shape `(count, longest length of the range)`, right-padded with id 0.
    - `lengths`: int32, shape `(count,)`.
    - `labels`: int32, shape `(count,)`, ids of the output alphabet: 1 is grammatical.
    - `origins`: int32, shape `(count,)`: the row of the positive that a negative was made from; a positive has its own.
    """

    tokens: np.ndarray
    lengths: np.ndarray
    labels: np.ndarray
    origins: np.ndarray

    def __len__(self) -> int:
        return len(self.tokens)

    def pairs(self) -> Pairs:
        """Returns the strings as inputs and the labels as one-symbol targets."""
        ones = np.ones(len(self), np.int32)
        return Pairs(self.tokens, self.lengths, self.labels[:, None], ones, ones)


def splits(task: AbstractPseudoLanguage, seed: int, settings: SplitSettings | None = None) -> dict[str, Split]:
    """Draws all four splits, by name."""
    return {name: draw_split(task, name, seed, settings) for name in NAMES}


def draw_split(task: AbstractPseudoLanguage, name: str, seed: int, settings: SplitSettings | None = None) -> Split:
    """Draws one split, which does not depend on the others.

    **Arguments:**

    - `task`: a pseudo-language with its settings.
    - `name`: `"train"`, `"validation"`, `"test"` or `"long"`.
    - `seed`: 0 or more, the only source of randomness.
    """
    settings = settings or SplitSettings()
    if name not in NAMES:
        raise unknown_name("split", name, NAMES)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"seed={seed!r} is not a seed. Use a whole number, 0 or more.")
    within = settings.range_of(name)
    task.check_range(within)
    rng = np.random.default_rng([int(seed), NAMES.index(name)])

    def owns(tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        if name == "long" or not settings.disjoint:
            return np.ones(len(tokens), bool)
        return np.isin(quarters(tokens, lengths), [i for i, owner in enumerate(OWNER_OF_QUARTER) if owner == name])

    tokens, lengths = _draw_pairs(task, rng, getattr(settings, name), within, owns, name)
    rows = np.arange(len(tokens), dtype=np.int32)
    return Split(tokens, lengths, labels=1 - rows % 2, origins=rows - rows % 2)


def quarters(tokens: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Returns the quarter of all strings that each string is in, 0 to 3, shape `(count,)`. Padding is ignored.

    Every cell is mixed with its position by the finaliser of SplitMix64; the sum is mixed once more.
    """
    inside = cells(np.asarray(lengths))
    positions = np.arange(1, inside.shape[1] + 1, dtype=np.uint64) << np.uint64(32)
    mixed = _mix(tokens[:, : inside.shape[1]].astype(np.uint64) + positions)
    return (_mix(np.where(inside, mixed, np.uint64(0)).sum(1, dtype=np.uint64)) >> np.uint64(62)).astype(np.int64)


def _mix(values: np.ndarray) -> np.ndarray:
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _draw_pairs(
    task: AbstractPseudoLanguage,
    rng: np.random.Generator,
    count: int,
    within: tuple[int, int],
    owns: Callable[[np.ndarray, np.ndarray], np.ndarray],
    name: str,
) -> Strings:
    """Draws `count` positives and their negatives in alternate rows, all of them owned by the split.

    If `TRIES` draws give no owned positive, or no owned negative of it, another length is drawn.
    """
    possible = task.lengths_between(*within)
    tokens = np.zeros((2 * count, within[1]), np.int32)
    lengths = np.zeros(2 * count, np.int32)
    pending = np.arange(count)
    begun = 0
    while pending.size:
        drawn = possible[rng.integers(0, len(possible), pending.size)]

        def positives(rows: np.ndarray, drawn: np.ndarray = drawn) -> Strings:
            return task.positives(rng, drawn[rows]), drawn[rows]

        good, good_lengths, succeeded = _draw_owned(positives, owns, pending.size, within[1])
        pending, left = pending[succeeded], pending[~succeeded]
        good, good_lengths = good[succeeded], good_lengths[succeeded]

        def negatives(rows: np.ndarray, good: np.ndarray = good, good_lengths: np.ndarray = good_lengths) -> Strings:
            return task.negatives(rng, good[rows], good_lengths[rows], within)

        bad, bad_lengths, succeeded = _draw_owned(negatives, owns, pending.size, within[1])
        rows = 2 * pending[succeeded]
        tokens[rows], lengths[rows] = good[succeeded], good_lengths[succeeded]
        tokens[rows + 1], lengths[rows + 1] = bad[succeeded], bad_lengths[succeeded]
        begun += pending.size + left.size
        pending = np.concatenate([left, pending[~succeeded]])
        if pending.size == count and begun >= HOPELESS:
            raise UsageError(
                f"The {name} split would be empty: with so few strings of lengths {within[0]} to {within[1]}, none "
                "could be kept for it alone. Use more terminals or a wider length range, or allow strings to be in "
                "several splits with disjoint=False."
            )
    return tokens, lengths


def _draw_owned(
    draw: Callable[[np.ndarray], Strings],
    owns: Callable[[np.ndarray, np.ndarray], np.ndarray],
    count: int,
    width: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calls `draw(rows)` until every row is owned, at most `TRIES` times. Returns tokens, lengths and a mask."""
    tokens = np.zeros((count, width), np.int32)
    lengths = np.zeros(count, np.int32)
    pending = np.arange(count)
    for _ in range(TRIES):
        if not pending.size:
            break
        new, new_lengths = draw(pending)
        owned = owns(new, new_lengths)
        rows = pending[owned]
        tokens[rows, : new.shape[1]] = new[owned]
        lengths[rows] = new_lengths[owned]
        pending = pending[~owned]
    succeeded = np.ones(count, bool)
    succeeded[pending] = False
    return tokens, lengths, succeeded
