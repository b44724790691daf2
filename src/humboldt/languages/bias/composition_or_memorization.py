"""Composition-or-Memorization (section 3; appendix F with N = 1000)."""

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.bias.base import AbstractBiasTask, Pair, Rule, Symbols
from humboldt.settings import setting, settings

MOST = 100_000  # the paper has up to 1,000; guards against typing errors


@tasks.register("bias/composition_or_memorization", version=1)
@settings
class CompositionOrMemorization(AbstractBiasTask):
    """After a_i -> b_i for all i and thrice a_i -> b_i b_i b_i for some, is thrice the same for the others?

    `comp` maps thrice a_i to b_i b_i b_i, and `mem` maps it to b_i unless the training set has it.

    **Arguments:**

    - `N`: the number of primitives, a1 to aN. The paper has 40, and 1000 in appendix F.
    - `M`: the number of primitives with thrice in the training set, a1 to aM. The paper has 6, 24 and 36.
    """

    N: int = setting(40, "primitives, a1 to aN", "section 3; 1000 in appendix F", least=2, most=MOST)
    M: int = setting(36, "of them with thrice in the training set: a1 to aM", "section 3", least=1, most=MOST)

    sizes = ("M", (36, 24, 6))
    training_examples = (("a1", "b1"), ("a40", "b40"), ("thrice a36", "b36 b36 b36"))
    rule_examples = (
        ("comp", "thrice a37", "b37 b37 b37"),
        ("mem", "thrice a37", "b37"),
        ("mem", "thrice a36", "b36 b36 b36"),
    )

    def check(self) -> None:
        """Raises an error unless M is less than N."""
        if self.M >= self.N:
            raise UsageError(f"M={self.M} leaves no hold-out input: use an M of less than N={self.N}.")

    def training(self) -> list[Pair]:
        primitives = [((f"a{i}",), (f"b{i}",)) for i in range(1, self.N + 1)]
        return primitives + [(("thrice", f"a{i}"), (f"b{i}",) * 3) for i in range(1, self.M + 1)]

    def holdout(self) -> list[Symbols]:
        return [("thrice", f"a{i}") for i in range(self.M + 1, self.N + 1)]

    @property
    def rules(self) -> dict[str, Rule]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rules by name."""
        return {"comp": _compose, "mem": self._memorize}

    def _memorize(self, symbols: Symbols) -> Symbols:
        composed = _compose(symbols)
        return composed if int(symbols[-1][1:]) <= self.M else composed[:1]


def _compose(symbols: Symbols) -> Symbols:
    return (f"b{symbols[-1][1:]}",) * (3 if symbols[0] == "thrice" else 1)
