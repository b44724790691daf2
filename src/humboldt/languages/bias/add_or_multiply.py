"""Add-or-Multiply (section 3)."""

from collections.abc import Callable

from humboldt.languages import tasks
from humboldt.languages.bias.parts.unary import LONGEST, AbstractUnaryTask
from humboldt.settings import setting, settings


@tasks.register("bias/add_or_multiply", version=1)
@settings
class AddOrMultiply(AbstractUnaryTask):
    """After a^l -> b^2l, is a^m mapped to b^(m+l) (`add`), b^2m (`mul`) or b^2l (`mem`)?   l = 2: aaa -> 5, 6 or 4 bs

    The paper has l = 5, 10, 15 and 20.
    """

    l: int = setting(20, "length of the training input", "section 3", least=1, most=LONGEST)  # noqa: E741
    span: int = setting(3, "how far hold-out lengths reach on either side of l", "section 3", least=1)

    sizes = ("l", (20, 15, 10, 5))
    factor = 2
    training_examples = ((" ".join("a" * 20), " ".join("b" * 40)),)
    rule_examples = (
        ("add", " ".join("a" * 17), " ".join("b" * 37)),
        ("mul", " ".join("a" * 17), " ".join("b" * 34)),
        ("mem", " ".join("a" * 17), " ".join("b" * 40)),
    )

    def output_lengths(self) -> dict[str, Callable[[int], int]]:
        return {"add": lambda m: m + self.l, "mul": lambda m: 2 * m, "mem": lambda m: 2 * self.l}
