"""Missing Duplicate (context-sensitive)."""

from collections.abc import Sequence

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level
from humboldt.settings import setting, settings


@tasks.register("chomsky/missing_duplicate", version=1)
@settings
class MissingDuplicate(AbstractTransduction):
    """Which symbol of a string written twice is hidden?   01_010 -> 0

    Every symbol is hidden with equal probability. An odd length is filled with one final `#`, as in the released code
    (the paper does not specify it).
    """

    num_symbols: int = setting(
        2, "number of symbols that strings are made of", "9 in Beck et al. 2024", least=2, most=10, added_later=True
    )

    level = Level.CONTEXT_SENSITIVE
    shortest = 2
    input_alphabet = Alphabet(("0", "1", "_", "#"))
    output_alphabet = Alphabet(("0", "1"))
    chance = 0.5
    examples = (("0 1 _ 0 1 0", "0"), ("1 0 0 1 1 0 _ 1", "0"), ("1 0 1 1 _ 1 #", "0"), ("_ 1", "1"), ("1 _ #", "1"))

    def check(self) -> None:
        """Sets the alphabets."""
        digits = tuple("0123456789"[: self.num_symbols])
        alphabets = {"input_alphabet": Alphabet((*digits, "_", "#")), "output_alphabet": Alphabet(digits)}
        for name, value in {**alphabets, "chance": 1 / self.num_symbols}.items():
            object.__setattr__(self, name, value)

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        hiding, fill = self.num_symbols, self.num_symbols + 1  # ids of `_` and `#`
        half = length // 2
        rows = np.arange(count)
        strings = np.full((count, length), fill, np.int32)
        strings[:, : 2 * half] = np.tile(rng.integers(0, self.num_symbols, (count, half), np.int32), 2)
        hidden = rng.integers(0, 2 * half, count)
        targets = strings[rows, hidden]
        strings[rows, hidden] = hiding
        return Pairs.full(strings, targets[:, None])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Compares the two halves: they differ only at the hidden symbol."""
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
