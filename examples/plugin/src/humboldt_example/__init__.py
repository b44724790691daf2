"""A task for the Chomsky suite and a model for every suite that it fits, in one file."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import humboldt
from humboldt.languages import Alphabet, Pairs, ProblemKind
from humboldt.languages.chomsky import AbstractTransduction, Level
from humboldt.settings import setting, settings


@humboldt.register("chomsky/last_symbol")
class LastSymbol(AbstractTransduction):
    """Which symbol came last?   aab -> b"""

    level = Level.REGULAR
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("a a b", "b"), ("a", "a"))

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = rng.integers(0, 2, (count, length), np.int32)
        return Pairs.full(strings, strings[:, -1:])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Returns the last symbol, in the slow and obvious way."""
        return [symbols[len(symbols) - 1]]


@humboldt.register("leaky_rnn")
@settings
class LeakyRNN:
    """A recurrent layer that keeps a part of its state."""

    title = "Leaky RNN"
    problems = (ProblemKind.TRANSDUCTION, ProblemKind.NEXT_SYMBOL)
    hidden_size: int = setting(64, "units", least=1)
    keep: float = setting(0.5, "the part of the state that is kept", least=0, most=1)

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: Any) -> Any:
        """Returns the network, freshly initialised. Only this needs JAX."""
        from .network import LeakyNetwork  # found beside this file, installed or not

        return LeakyNetwork(input_size, self.hidden_size, output_size, keep=self.keep, key=key)
