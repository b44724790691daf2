"""Count-or-Memorization (section 3)."""

from collections.abc import Callable

from humboldt.languages import tasks
from humboldt.languages.bias.parts.unary import LONGEST, AbstractUnaryTask
from humboldt.settings import setting, settings


@tasks.register("bias/count_or_memorization", version=1)
@settings
class CountOrMemorization(AbstractUnaryTask):
    """After a^l -> b^l, is a^m mapped to b^m (`count`) or to b^l (`mem`)?   l = 2: aaa -> bbb or bb

    The paper has l = 10, 20, 30 and 40. At l = 10 the empty input is among the hold-out inputs.
    """

    l: int = setting(40, "length of the training input", "section 3", least=1, most=LONGEST)  # noqa: E741
    span: int = setting(10, "how far hold-out lengths reach on either side of l", "section 3", least=1)

    sizes = ("l", (40, 30, 20, 10))
    factor = 1
    training_examples = ((" ".join("a" * 40), " ".join("b" * 40)),)
    rule_examples = (
        ("count", " ".join("a" * 30), " ".join("b" * 30)),
        ("count", " ".join("a" * 50), " ".join("b" * 50)),
        ("mem", " ".join("a" * 30), " ".join("b" * 40)),
        ("mem", " ".join("a" * 50), " ".join("b" * 40)),
    )

    def output_lengths(self) -> dict[str, Callable[[int], int]]:
        return {"count": lambda m: m, "mem": lambda m: self.l}
