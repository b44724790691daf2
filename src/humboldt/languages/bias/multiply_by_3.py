"""Multiplication by 3 (appendix A)."""

from collections.abc import Callable

from humboldt.languages import tasks
from humboldt.languages.bias._unary import AbstractUnaryTask


@tasks.register("bias/multiply_by_3", version=1)
class MultiplyBy3(AbstractUnaryTask):
    """After a^l -> b^3l, is a^m mapped to b^(2l+m) (`mul1`), b^(l+2m) (`mul2`), b^3m (`mul3`) or b^3l (`mem`)?

    With l = 2, aaa is mapped to 7, 8, 9 or 6 bs. The paper has l = 5, 10, 15 and 20.
    """

    factor = 3
    training_examples = ((" ".join("a" * 20), " ".join("b" * 60)),)
    rule_examples = (
        ("mul1", " ".join("a" * 21), " ".join("b" * 61)),
        ("mul2", " ".join("a" * 21), " ".join("b" * 62)),
        ("mul3", " ".join("a" * 21), " ".join("b" * 63)),
        ("mem", " ".join("a" * 21), " ".join("b" * 60)),
    )

    def __init__(self, *, l: int = 20, span: int = 3) -> None:  # noqa: E741
        super().__init__(l=l, span=span)

    def output_lengths(self) -> dict[str, Callable[[int], int]]:
        return {
            "mul1": lambda m: 2 * self.l + m,
            "mul2": lambda m: self.l + 2 * m,
            "mul3": lambda m: 3 * m,
            "mem": lambda m: 3 * self.l,
        }
