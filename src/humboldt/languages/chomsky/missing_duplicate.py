"""Missing Duplicate (context-sensitive)."""

from collections.abc import Sequence

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky._base import AbstractTransduction, Level

HIDDEN, FILL = 2, 3  # ids of `_` and `#`


@tasks.register("chomsky/missing_duplicate", version=1)
class MissingDuplicate(AbstractTransduction):
    """Which symbol of a string written twice is hidden?   01_010 -> 0

    Any of the symbols is hidden with equal probability. An odd length is filled with one final `#`, on which the paper
    is silent and which its released code does.
    """

    level = Level.CONTEXT_SENSITIVE
    shortest = 2
    input_alphabet = Alphabet(("0", "1", "_", "#"))
    output_alphabet = Alphabet(("0", "1"))
    chance = 0.5
    examples = (("0 1 _ 0 1 0", "0"), ("1 0 0 1 1 0 _ 1", "0"), ("1 0 1 1 _ 1 #", "0"), ("_ 1", "1"), ("1 _ #", "1"))

    def _sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        half = length // 2
        rows = np.arange(count)
        strings = np.full((count, length), FILL, np.int32)
        strings[:, : 2 * half] = np.tile(rng.integers(0, 2, (count, half), np.int32), 2)
        hidden = rng.integers(0, 2 * half, count)
        targets = strings[rows, hidden]
        strings[rows, hidden] = HIDDEN
        return Pairs.full(strings, targets[:, None])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Lays the two halves side by side: they differ at the hidden symbol, and there only."""
        half = len(symbols) // 2
        pairs = list(zip(symbols[:half], symbols[half : 2 * half], strict=True))
        different = [set(pair) for pair in pairs if pair[0] != pair[1]]
        filled_well = list(symbols[2 * half :]) == ["#"] * (len(symbols) % 2) and "#" not in symbols[: 2 * half]
        if not (filled_well and len(different) == 1 and "_" in different[0] and list(symbols).count("_") == 1):
            raise UsageError(
                f"{' '.join(symbols)!r} is not a string written twice with one symbol hidden by '_'. "
                "Write it like '0 1 _ 1', with one final '#' where the length is odd."
            )
        return list(different[0] - {"_"})
