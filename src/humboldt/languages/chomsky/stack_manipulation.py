"""Stack Manipulation (deterministic context-free)."""

from collections.abc import Sequence

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet, Pairs, tasks
from humboldt.languages.chomsky.base import AbstractTransduction, Level

POP, PUSH_A, PUSH_B = 2, 3, 4  # ids of the actions
BS = (1, PUSH_B)  # ids that put a `b` on the stack: the symbol and the action
TERMINATOR = 2  # id of `#` in the output


@tasks.register("chomsky/stack_manipulation", version=1)
class StackManipulation(AbstractTransduction):
    """What is left on a stack after some actions, top first?   abbaa POP PUSH_a POP -> abba#

    The stack is given bottom to top. POP on an empty stack does nothing. After `#` nothing is scored; a model
    outputs one symbol more than the input has. The paper does not specify how many of the symbols are actions; as in
    its released code, all numbers from one to all but one are equally likely (none at length 1), and so are the
    actions.
    """

    level = Level.DETERMINISTIC_CONTEXT_FREE
    input_alphabet = Alphabet(("a", "b", "POP", "PUSH_a", "PUSH_b"))
    output_alphabet = Alphabet(("a", "b", "#"))
    chance = 0.5
    examples = (
        ("a b b a a POP PUSH_a POP", "a b b a #"),
        ("a b POP PUSH_b PUSH_a", "a b a #"),
        ("b POP POP PUSH_a", "a #"),
        ("a POP", "#"),
        ("b", "b #"),
    )

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        sizes = rng.integers(1, max(length, 2), (count, 1))
        symbols = rng.integers(0, 2, (count, length), np.int8)
        actions = rng.integers(POP, PUSH_B + 1, (count, length), np.int8)
        inputs = np.where(np.arange(length) < sizes, symbols, actions)
        return Pairs.full(inputs, *final_stacks(inputs))

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Carries out the actions one by one."""
        stack: list[str] = []
        acted = False
        for position, symbol in enumerate(symbols):
            if symbol in ("a", "b"):
                if acted:
                    raise UsageError(
                        f"Symbol {symbol!r} at position {position} follows an action. "
                        "First comes the stack, bottom to top, then the actions: 'a b POP PUSH_a'."
                    )
                stack.append(symbol)
                continue
            acted = True
            if symbol == "PUSH_a":
                stack.append("a")
            elif symbol == "PUSH_b":
                stack.append("b")
            elif stack:
                stack.pop()
        return [*reversed(stack), "#"]


def final_stacks(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns targets, shape `(count, length + 1)`, and their lengths, shape `(count,)`, without simulating the stack.

    The height after every step is a sum of +1 and -1 that is raised to zero whenever it falls below. A symbol pushed
    to some height stays if and only if the stack never falls below that height afterwards.
    """
    count, length = inputs.shape
    pushes = inputs != POP
    levels = np.cumsum(np.where(pushes, 1, -1), axis=1, dtype=np.int32)
    heights = levels - np.minimum(np.minimum.accumulate(levels, axis=1), 0)
    lowest_from_here = np.minimum.accumulate(heights[:, ::-1], axis=1)[:, ::-1]
    row, time = np.nonzero(pushes & (lowest_from_here == heights))
    final = heights[:, -1]
    targets = np.zeros((count, length + 1), np.int32)
    targets[row, final[row] - heights[row, time]] = np.isin(inputs[row, time], BS)
    targets[np.arange(count), final] = TERMINATOR
    return targets, final + 1
