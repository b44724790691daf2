"""The base class of the three arithmetic tasks: strings of one repeated symbol, determined by their length."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

from humboldt.errors import UsageError
from humboldt.languages.bias.base import AbstractBiasTask, Pair, Rule, Symbols

LONGEST = 1000  # the paper's longest string has 69 symbols; guards against typing errors such as l = 1000000


class AbstractUnaryTask(AbstractBiasTask):
    """One training example, a^l -> b^(factor x l); the hold-out inputs are a^m with m in [l - span, l + span].

    The training input itself is not a hold-out input.

    **Arguments:**

    - `l`: the length of the training input.
    - `span`: how far the hold-out lengths reach on either side, at most `l`.
    """

    l: int  # noqa: E741
    span: int
    factor: ClassVar[int]

    def check(self) -> None:
        """Raises an error unless `span` is at most `l`."""
        if self.span > self.l:
            raise UsageError(
                f"span={self.span} is more than l={self.l}. Hold-out inputs have l - span to l + span symbols: use a "
                f"span of at most {self.l}."
            )

    @abstractmethod
    def output_lengths(self) -> Mapping[str, Callable[[int], int]]:
        """Returns every rule as a function from the length m of the input to the length of the output."""

    def training(self) -> list[Pair]:
        return [(("a",) * self.l, ("b",) * (self.factor * self.l))]

    def holdout(self) -> list[Symbols]:
        return [("a",) * m for m in range(self.l - self.span, self.l + self.span + 1) if m != self.l]

    @property
    def rules(self) -> dict[str, Rule]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rules by name, as functions on strings."""
        return {name: _on_strings(length) for name, length in self.output_lengths().items()}


def _on_strings(length: Callable[[int], int]) -> Rule:
    return lambda symbols: ("b",) * length(len(symbols))
