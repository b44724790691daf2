"""The terminals of a category, and the distribution from which they are drawn."""

import enum
import math
from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np

from humboldt.errors import UsageError, unknown_name

MOST_TERMINALS = 100_000  # with ten categories a million symbols, the most that can be built in seconds
STEEPEST = 10.0  # beyond this the first terminal has all but a thousandth of the weight


class Distribution(enum.StrEnum):
    """The distribution of the terminals of one non-terminal."""

    ZIPF = "zipf"
    UNIFORM = "uniform"


class Terminals:
    """The terminals 0 to `terminals` - 1 of one category, the same for every category of a language.

    With `zipf`, terminal number r (from 0) has weight 1 / (r + 1) ** `zipf_exponent`; with `uniform`, all weights
    are equal.
    """

    def __init__(self, terminals: int, distribution: str, zipf_exponent: float) -> None:
        if isinstance(terminals, bool) or not isinstance(terminals, int) or not 1 <= terminals <= MOST_TERMINALS:
            raise UsageError(
                f"terminals={terminals!r} is not a number of terminals per non-terminal. "
                f"Use a whole number from 1 to {MOST_TERMINALS:,}; the paper has 2, 5, 10, 100, 1000 and 5000."
            )
        if distribution not in list(Distribution):
            raise unknown_name("distribution", str(distribution), [str(known) for known in Distribution])
        if isinstance(zipf_exponent, bool) or not isinstance(zipf_exponent, int | float):
            raise UsageError(f"zipf_exponent={zipf_exponent!r} is not a number. Use one from 0 to {STEEPEST:g}.")
        if not math.isfinite(zipf_exponent) or not 0 <= zipf_exponent <= STEEPEST:
            raise UsageError(f"zipf_exponent={zipf_exponent!r} is out of range. Use a number from 0 to {STEEPEST:g}.")
        if distribution == Distribution.UNIFORM and zipf_exponent != 1:
            raise UsageError(
                f"zipf_exponent={zipf_exponent!r} has no effect with distribution='uniform'. "
                "Leave it out, or use distribution='zipf'."
            )
        self.count = terminals
        self.distribution = Distribution(distribution)
        self.zipf_exponent = float(zipf_exponent)

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each terminal, shape `(count,)`."""
        return np.diff(self._bounds, prepend=0.0, append=1.0)

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Returns `count` random terminals, shape `(count,)`."""
        if self.distribution == Distribution.UNIFORM:
            return rng.integers(0, self.count, count)
        return np.searchsorted(self._bounds, rng.random(count), side="right")

    @property
    def _bounds(self) -> np.ndarray:
        exponent = self.zipf_exponent if self.distribution == Distribution.ZIPF else 0.0
        return _cumulative(self.count, exponent)


@lru_cache(maxsize=64)
def _cumulative(count: int, exponent: float) -> np.ndarray:
    """Returns cumulative probabilities without the last (which is 1), shape `(count - 1,)`.

    Decimal arithmetic is used because binary `power` differs in the last bit between processors, and one bit could
    change a string.
    """
    with localcontext() as context:
        context.prec = 30
        weights = [Decimal(rank) ** Decimal(-exponent) for rank in range(1, count + 1)]
        total = sum(weights)
        bounds = np.empty(count - 1)
        running = Decimal(0)
        for rank, weight in enumerate(weights[:-1]):
            running += weight
            bounds[rank] = float(running / total)
    bounds.setflags(write=False)
    return bounds
