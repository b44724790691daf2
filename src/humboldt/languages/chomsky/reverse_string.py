"""Reverse String (deterministic context-free)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level, letters
from humboldt.settings import setting, settings


@tasks.register("chomsky/reverse_string", version=1)
@settings
class ReverseString(AbstractTransduction):
    """A string from its end to its beginning.   aabba -> abbaa"""

    num_symbols: int = setting(2, "size of the alphabet", "10 in Beck et al. 2024", least=2, most=26, added_later=True)

    level = Level.DETERMINISTIC_CONTEXT_FREE
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a a b b a", "a b b a a"), ("a b", "b a"), ("b", "b"))

    def check(self) -> None:
        """Sets the alphabet."""
        alphabet = letters(self.num_symbols)
        for name, value in (
            ("input_alphabet", alphabet),
            ("output_alphabet", alphabet),
            ("chance", 1 / self.num_symbols),
        ):
            object.__setattr__(self, name, value)

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = rng.integers(0, self.num_symbols, (count, length), np.int32)
        return Pairs.full(strings, strings[:, ::-1])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Pushes every symbol on a stack, then pops them."""
        stack = list(symbols)
        return [stack.pop() for _ in symbols]
