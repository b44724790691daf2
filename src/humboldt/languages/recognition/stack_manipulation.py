"""Stack manipulation (deterministic context-free)."""

from collections.abc import Sequence

import numpy as np

from humboldt.languages import Alphabet, tasks
from humboldt.languages.formal.continuations import Next
from humboldt.languages.recognition.base import AbstractRecognition

BITS = ("0", "1")


@tasks.register("recognition/stack_manipulation", version=1)
class StackManipulation(AbstractRecognition):
    """A stack from the bottom up, operations, a mark, and the new stack from the top down.   1 PUSH 0 # 0 1 -> yes"""

    input_alphabet = Alphabet(("0", "1", "PUSH", "POP", "#"))
    examples = (("1 PUSH 0 # 0 1", "yes"), ("1 POP #", "yes"), ("POP #", "no"), ("#", "yes"), ("1 # 0", "no"))

    def contains(self, symbols: Sequence[str]) -> bool:
        """Carries out the operations one by one."""
        rest, stack = self._carried_out(symbols)
        return stack is not None and rest == ["#", *reversed(stack)]

    def valid_next(self, prefix: Sequence[str]) -> Next:
        """Returns `POP` only if the stack is not empty; after the mark, only the next symbol of the new stack."""
        rest, stack = self._carried_out(prefix)
        if stack is None:  # a push without its bit, or a mistake
            return Next(frozenset(BITS if rest == ["PUSH"] else ()), False)
        if rest:
            written, wanted = rest[1:], [*reversed(stack)]
            fits = rest[0] == "#" and written == wanted[: len(written)]
            return Next(frozenset(wanted[len(written) : len(written) + 1] if fits else ()), fits and written == wanted)
        bits = BITS if all(symbol in BITS for symbol in prefix) else ()
        return Next(frozenset((*bits, "PUSH", "#", *(["POP"] if stack else []))), False)

    @staticmethod
    def _carried_out(symbols: Sequence[str]) -> tuple[list[str], list[str] | None]:
        """Returns the symbols after the operations, and the new stack. If an operation is impossible or incomplete,
        returns the symbols from it on, and no stack."""
        rest, stack = list(symbols), []
        while rest and rest[0] in BITS:
            stack.append(rest.pop(0))
        while rest and rest[0] in ("PUSH", "POP"):
            if rest.pop(0) == "PUSH":
                if not rest or rest[0] not in BITS:
                    return ["PUSH", *rest], None
                stack.append(rest.pop(0))
            elif stack:
                stack.pop()
            else:
                return ["POP", *rest], None
        return rest, stack

    def draw(self, rng: np.random.Generator, count: int, longest: int) -> list[list[int]]:
        """Draws the height of the stack, then a number of pushes that leaves room for the new stack, then operations:
        pushes and, while the stack is not empty, pops, equally probable, until one push too many is drawn."""
        push, pop, mark = 2, 3, 4
        strings = []
        for _ in range(count):
            height = int(rng.integers(0, (longest - 1) // 2 + 1))
            pushes = int(rng.integers(0, (longest - 2 * height - 1) // 3 + 1))
            stack = rng.integers(0, 2, height).tolist()
            string = list(stack)
            while True:
                if stack and rng.integers(2):
                    stack.pop()
                    string.append(pop)
                elif pushes:
                    pushes -= 1
                    stack.append(int(rng.integers(2)))
                    string += [push, stack[-1]]
                else:
                    break
            strings.append([*string, mark, *reversed(stack)])
        return strings
