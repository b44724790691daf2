"""Results of measures: a value, the number of items, and the same for subsets of the items."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from humboldt.errors import UsageError

VERSION = 1  # increases when the same predictions can get another score


@dataclass(frozen=True)
class Share:
    """`count` of `n` items. `value` is the fraction, or `None` if there are no items."""

    count: int
    n: int

    @property
    def value(self) -> float | None:
        """The fraction `count / n`."""
        return self.count / self.n if self.n else None

    @classmethod
    def of(cls, flags: Iterable[bool]) -> "Share":
        """Returns the share of true flags."""
        values = list(flags)
        return cls(sum(values), len(values))


Breakdown = Mapping[Hashable, Share]


@dataclass(frozen=True)
class Score:
    """One measure on one set of items.

    - `share`: the items that count as right, of all items.
    - `parts`: other shares that belong to the measure, by name.
    - `breakdowns`: for each property of items, the share at each of its values.
    - `flags`: for each item, whether it counts as right.
    """

    measure: str
    share: Share
    parts: Mapping[str, Share] = field(default_factory=dict)
    breakdowns: Mapping[str, Breakdown] = field(default_factory=dict)
    flags: tuple[bool, ...] = field(default=(), repr=False)

    @property
    def value(self) -> float | None:
        """The fraction of items that count as right."""
        return self.share.value

    @property
    def n(self) -> int:
        """The number of items."""
        return self.share.n

    def to_json(self) -> dict[str, Any]:
        """Returns plain data: `n`, the measure's value under its name, parts and breakdowns."""
        return {
            "n": self.n,
            self.measure: self.value,
            **{name: {"value": part.value, "n": part.n} for name, part in self.parts.items()},
            "breakdowns": {
                name: {str(key): {"value": share.value, "n": share.n} for key, share in breakdown.items()}
                for name, breakdown in self.breakdowns.items()
            },
        }


def check_lengths(**columns: Sequence[Any]) -> None:
    """Raises an error if columns have different lengths."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{n} {name}" for name, n in lengths.items())
        raise UsageError(f"The columns have different lengths: {listing}. Every item needs one entry in each.")


def break_down(flags: Sequence[bool], keys: Sequence[Hashable | frozenset[Hashable]]) -> Breakdown:
    """Returns the share of true flags for each key, sorted by type, then by key.

    An item with a `frozenset` of keys counts under each of its elements.

    >>> break_down([True, False, True], [2, 1, 2])
    {1: Share(count=0, n=1), 2: Share(count=2, n=2)}
    """
    check_lengths(flags=flags, keys=keys)
    counts: Counter[Hashable] = Counter()
    totals: Counter[Hashable] = Counter()
    for flag, key in zip(flags, keys, strict=True):
        for name in key if isinstance(key, frozenset) else (key,):
            totals[name] += 1
            counts[name] += flag
    return {key: Share(counts[key], totals[key]) for key in sorted(totals, key=lambda key: (str(type(key)), key))}
