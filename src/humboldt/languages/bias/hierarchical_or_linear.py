"""Hierarchical-or-Linear (section 3)."""

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.bias.base import AbstractBiasTask, Pair, Rule, Symbols
from humboldt.settings import setting, settings

DEEPEST = 500  # the paper has 4; guards against typing errors such as d = 1000000


@tasks.register("bias/hierarchical_or_linear", version=1)
@settings
class HierarchicalOrLinear(AbstractBiasTask):
    """After x^d y x^d -> y, is the output the middle symbol (`hierar`) or the one at place d + 1 (`linear`)?

    x and y are a or b, so there are four training examples and four hold-out inputs at every other depth m in
    [d - span, d + span]. With d = 2, b^3 a b^3 is mapped to A or B. Output symbols are A and B, as the two alphabets
    are disjoint. The paper has d = 4.

    **Arguments:**

    - `d`: the depth of the training examples.
    - `span`: how far the hold-out depths reach on either side. They are at least d / 2, or `linear` is not defined.
    """

    d: int = setting(4, "depth of the training examples", "section 3", least=2, most=DEEPEST)
    span: int = setting(2, "how far hold-out depths reach on either side of d", "section 3", least=1)

    sizes = ("d", (4,))
    block_size = 4
    training_examples = (("a a a a b a a a a", "B"), ("b b b b b b b b b", "B"), ("b b b b a b b b b", "A"))
    rule_examples = (
        ("hierar", "a a b a a", "B"),
        ("linear", "a a b a a", "A"),
        ("hierar", "b b b b b a b b b b b", "A"),
        ("linear", "b b b b b a b b b b b", "B"),
    )

    def check(self) -> None:
        """Raises an error unless all hold-out depths are at least d / 2."""
        if 2 * self.span > self.d:
            raise UsageError(
                f"span={self.span} with d={self.d} asks for depths below d / 2, where `linear` is not defined. Use a "
                f"span of at most {self.d // 2}."
            )

    def training(self) -> list[Pair]:
        return [(_nested(x, y, self.d), (y.upper(),)) for y in "ab" for x in "ab"]

    def holdout(self) -> list[Symbols]:
        depths = [m for m in range(self.d - self.span, self.d + self.span + 1) if m != self.d]
        return [_nested(x, y, m) for m in depths for y in "ab" for x in "ab"]

    @property
    def rules(self) -> dict[str, Rule]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rules by name."""
        return {
            "hierar": lambda symbols: symbols[len(symbols) // 2].upper(),
            "linear": lambda symbols: symbols[self.d].upper(),
        }


def _nested(x: str, y: str, depth: int) -> Symbols:
    return (x,) * depth + (y,) + (x,) * depth
