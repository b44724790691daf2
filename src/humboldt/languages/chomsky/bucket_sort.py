"""Bucket Sort (context-sensitive)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level


@tasks.register("chomsky/bucket_sort", version=1)
class BucketSort(AbstractTransduction):
    """The symbols of a string in ascending order.   421302214 -> 011222344"""

    level = Level.CONTEXT_SENSITIVE
    input_alphabet = output_alphabet = Alphabet(("0", "1", "2", "3", "4"))
    chance = 0.2
    examples = (("4 2 1 3 0 2 2 1 4", "0 1 1 2 2 2 3 4 4"), ("4 0", "0 4"), ("3", "3"))

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = rng.integers(0, 5, (count, length), np.int8)  # one byte each: NumPy sorts these by counting
        return Pairs.full(strings, np.sort(strings, axis=1, kind="stable"))

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Counts each symbol, then repeats each as often as it was counted."""
        buckets = dict.fromkeys(self.input_alphabet.symbols, 0)
        for symbol in symbols:
            buckets[symbol] += 1
        return [symbol for symbol, times in buckets.items() for _ in range(times)]
