"""a^n b^m c^(n+m) (context-free)."""

import numpy as np

from humboldt.languages import Alphabet, tasks
from humboldt.languages.bliss.parts.automaton import CounterAutomaton
from humboldt.languages.bliss.parts.blocks import AbstractBlocks
from humboldt.languages.bliss.parts.test_set import square


@tasks.register("bliss/an_bm_cn_plus_m", version=1)
class AnBmCnPlusM(AbstractBlocks):
    """Addition: as many `c` as `a` and `b` together, at least one of each of those: abcc, abbccc, aabccc, ...

    With l the longest block of `a` or `b` seen in training, the |T| test strings are the pairs (n, m) from the square
    l < n, m <= l + ceil(sqrt |T|), sorted by n + m. The paper's example implies this: with n = 18 and m = 20 seen,
    10,000 strings end at a^120 b^120 c^240, that is 100 x 100 pairs from 21 to 120.
    """

    input_alphabet = output_alphabet = Alphabet(("#", "a", "b", "c"))
    chance = 1 / 4
    examples = (("# a b b c c c", "a b b c c c #"), ("# a b c c", "a b c c #"))
    letters = "abc"
    free = 2
    automaton = CounterAutomaton([[1, 1]])
    rules = """
        S -> a X c
        X -> a X c [{q}] | Y [{p}]
        Y -> b Z c
        Z -> b Z c [{q}] | [{p}]
    """

    def test_lengths(self, after: int, count: int) -> np.ndarray:
        return square(after + 1, count)
