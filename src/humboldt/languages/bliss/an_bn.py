"""a^n b^n (context-free)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.bliss.parts.blocks import AbstractEqualBlocks, equal_blocks


@tasks.register("bliss/an_bn", version=1)
class AnBn(AbstractEqualBlocks):
    """As many `b` as `a`, at least one each: ab, aabb, aaabbb, ..."""

    input_alphabet = output_alphabet = Alphabet(("#", "a", "b"))
    chance = 1 / 3
    examples = (("# a a b b", "a a b b #"), ("# a b", "a b #"))
    letters = "ab"
    automaton = equal_blocks(2)
    rules = """
        S -> a X b
        X -> a X b [{q}] | [{p}]
    """
