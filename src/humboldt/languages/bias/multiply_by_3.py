"""Multiplication by 3 (appendix A)."""

from collections.abc import Callable

from humboldt.languages import tasks
from humboldt.languages.bias.parts.unary import LONGEST, AbstractUnaryTask
from humboldt.settings import setting, settings


@tasks.register("bias/multiply_by_3", version=1)
@settings
class MultiplyBy3(AbstractUnaryTask):
    """After a^l -> b^3l, is a^m mapped to b^(2l+m) (`mul1`), b^(l+2m) (`mul2`), b^3m (`mul3`) or b^3l (`mem`)?

    With l = 2, aaa is mapped to 7, 8, 9 or 6 bs. The paper has l = 5, 10, 15 and 20.
    """

    l: int = setting(20, "length of the training input", "appendix A", least=1, most=LONGEST)  # noqa: E741
    span: int = setting(3, "how far hold-out lengths reach on either side of l", "appendix A", least=1)

    sizes = ("l", (20, 15, 10, 5))
    factor = 3
    training_examples = ((" ".join("a" * 20), " ".join("b" * 60)),)
    rule_examples = (
        ("mul1", " ".join("a" * 21), " ".join("b" * 61)),
        ("mul2", " ".join("a" * 21), " ".join("b" * 62)),
        ("mul3", " ".join("a" * 21), " ".join("b" * 63)),
        ("mem", " ".join("a" * 21), " ".join("b" * 60)),
    )

    def output_lengths(self) -> dict[str, Callable[[int], int]]:
        return {
            "mul1": lambda m: 2 * self.l + m,
            "mul2": lambda m: self.l + 2 * m,
            "mul3": lambda m: 3 * m,
            "mem": lambda m: 3 * self.l,
        }
