"""Odds First (context-sensitive)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level, letters
from humboldt.settings import setting, settings


@tasks.register("chomsky/odds_first", version=1)
@settings
class OddsFirst(AbstractTransduction):
    """The symbols at odd places, then those at even places, counted from one.   aaabaa -> aaaaba

    **Arguments:**

    - `order`: `"paper"` as above; `"code"` puts the even places first, as in the paper's released code.
    """

    order: Literal["paper", "code"] = setting(
        "paper", "which places come first: the odd ones, or the even ones as in the released code"
    )

    num_symbols: int = setting(2, "size of the alphabet", "10 in Beck et al. 2024", least=2, most=26, added_later=True)

    level = Level.CONTEXT_SENSITIVE
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a a a b a a", "a a a a b a"), ("a b a b b", "a a b b b"), ("b a", "b a"), ("a", "a"))

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
        odd, even = strings[:, ::2], strings[:, 1::2]
        return Pairs.full(strings, np.hstack((odd, even) if self.order == "paper" else (even, odd)))

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Sorts the places by parity, with a stable sort."""
        first = 1 if self.order == "paper" else 0
        places = sorted(range(1, len(symbols) + 1), key=lambda place: place % 2 != first)
        return [symbols[place - 1] for place in places]
