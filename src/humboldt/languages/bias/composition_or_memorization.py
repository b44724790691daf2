"""Composition-or-Memorization (section 3; appendix F with N = 1000)."""

from humboldt.languages import tasks
from humboldt.languages.bias._base import AbstractBiasTask, Pair, Rule, Symbols, whole_number

MOST = 100_000  # the paper has up to 1,000; a bound against slips


@tasks.register("bias/composition_or_memorization", version=1)
class CompositionOrMemorization(AbstractBiasTask):
    """After a_i -> b_i for all i and thrice a_i -> b_i b_i b_i for some, is thrice the same for the others?

    `comp` maps thrice a_i to b_i b_i b_i, and `mem` maps it to b_i unless the training set has it.

    **Arguments:**

    - `N`: primitives, a1 to aN. The paper has 40, and 1000 in appendix F.
    - `M`: how many of them the training set has with thrice: a1 to aM. The paper has 6, 24 and 36.
    """

    training_examples = (("a1", "b1"), ("a40", "b40"), ("thrice a36", "b36 b36 b36"))
    rule_examples = (
        ("comp", "thrice a37", "b37 b37 b37"),
        ("mem", "thrice a37", "b37"),
        ("mem", "thrice a36", "b36 b36 b36"),
    )

    def __init__(self, *, N: int = 40, M: int = 36) -> None:
        self.N = whole_number("N", N, 2, MOST, "the number of primitives")
        self.M = whole_number("M", M, 1, self.N - 1, "the training set has a part of the N with thrice")

    def training(self) -> list[Pair]:
        primitives = [((f"a{i}",), (f"b{i}",)) for i in range(1, self.N + 1)]
        return primitives + [(("thrice", f"a{i}"), (f"b{i}",) * 3) for i in range(1, self.M + 1)]

    def holdout(self) -> list[Symbols]:
        return [("thrice", f"a{i}") for i in range(self.M + 1, self.N + 1)]

    @property
    def rules(self) -> dict[str, Rule]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The two rules."""
        return {"comp": _compose, "mem": self._memorize}

    def _memorize(self, symbols: Symbols) -> Symbols:
        composed = _compose(symbols)
        return composed if int(symbols[-1][1:]) <= self.M else composed[:1]


def _compose(symbols: Symbols) -> Symbols:
    return (f"b{symbols[-1][1:]}",) * (3 if symbols[0] == "thrice" else 1)
